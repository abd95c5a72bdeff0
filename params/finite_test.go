package params

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
)

// Every number of a point is written as null where it is not finite, and read as NaN.
func TestNullNumbers(t *testing.T) {
	for _, v := range []any{&Residual{}} {
		s := reflect.ValueOf(v).Elem()
		for i := range s.NumField() {
			if s.Field(i).Kind() == reflect.Float64 {
				s.Field(i).SetFloat(math.NaN())
			}
		}
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		back := reflect.New(s.Type())
		if err := json.Unmarshal(b, back.Interface()); err != nil {
			t.Fatal(err)
		}
		for i := range s.NumField() {
			name, _, _ := strings.Cut(s.Type().Field(i).Tag.Get("json"), ",")
			if s.Field(i).Kind() != reflect.Float64 {
				continue
			}
			if !strings.Contains(string(b), `"`+name+`":null`) || !math.IsNaN(back.Elem().Field(i).Float()) {
				t.Errorf("%s of %s: %s, read as %v", name, s.Type(), b, back.Elem().Field(i))
			}
		}
	}
}
