package params

import (
	"reflect"
	"testing"
)

// Every numeric field that the codec treats as nullable exists under that name.
func TestShadowedNames(t *testing.T) {
	for shadow, of := range map[reflect.Type]reflect.Type{
		reflect.TypeFor[jsonResidual]():  reflect.TypeFor[Residual](),
		reflect.TypeFor[jsonQuality]():   reflect.TypeFor[Quality](),
		reflect.TypeFor[jsonParameter](): reflect.TypeFor[Parameter](),
	} {
		for i := 1; i < shadow.NumField(); i++ {
			f := shadow.Field(i)
			if g, ok := of.FieldByName(f.Name); !ok || g.Tag.Get("json") != f.Tag.Get("json") {
				t.Errorf("%s.%s: tag %q does not match %q", of, f.Name, f.Tag, g.Tag)
			}
		}
	}
	for i := range reflect.TypeFor[Residual]().NumField() {
		f := reflect.TypeFor[Residual]().Field(i)
		if _, ok := reflect.TypeFor[jsonResidual]().FieldByName(f.Name); f.Type.Kind() == reflect.Float64 && !ok {
			t.Errorf("Residual.%s could carry NaN into JSON", f.Name)
		}
	}
}
