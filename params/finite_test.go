package params

import (
	"bytes"
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

// What Encode writes can be read, though a function was left out of which a correlation has a coefficient, or a
// correlation itself is no number.
func TestCorrelationsOfLostNumbers(t *testing.T) {
	p := &Params{Functions: map[string]Function{
		"g_s": {Form: Line, Coeff: map[string]float64{"c0": math.NaN(), "c1": 1}, Unit: "s", Model: "m"},
		"O_s": {Form: Line, Coeff: map[string]float64{"c0": 1, "c1": 1}, Unit: "s", Model: "m"},
	}}
	for _, c := range []struct {
		names []string
		r     float64
	}{
		{[]string{"g_s.c1", "O_s.c1"}, 0.5}, {[]string{"O_s.c0", "O_s.c1"}, math.NaN()},
		{[]string{"O_s.c0", "O_s.c1"}, 0.5},
	} {
		p.Correlations = append(p.Correlations, Correlation{Names: c.names, Rows: [][]float64{{}, {c.r}}})
	}
	var file bytes.Buffer
	if err := Encode(&file, p); err != nil {
		t.Fatal(err)
	}
	got, err := Decode(&file)
	if err != nil || len(got.Correlations) != 1 || got.Correlation("O_s.c0", "O_s.c1") != 0.5 {
		t.Errorf("%v, %v", got, err)
	}
}
