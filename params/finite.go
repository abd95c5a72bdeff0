package params

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"calib/internal/lists"
)

// JSON has no NaN and no infinity. Points of series have null in the place of such a number, which is read as NaN
// again; in a bound, null is no limit on that side. Elsewhere what is not finite is left out.

// OrNull is a number, nil where it is not finite.
func OrNull(v float64) *float64 {
	if !finite(v) {
		return nil
	}
	return &v
}

func finitePair(p *[2]float64) bool { return p == nil || finite(p[0]) && finite(p[1]) }

// MarshalJSON writes an open side as null.
func (b Bound) MarshalJSON() ([]byte, error) {
	return json.Marshal([]*float64{OrNull(b[0]), OrNull(b[1])})
}

// UnmarshalJSON reads a null side as the infinity on that side.
func (b *Bound) UnmarshalJSON(text []byte) error {
	*b = Bound{math.Inf(-1), math.Inf(1)}
	return json.Unmarshal(text, (*[2]float64)(b)) // null changes nothing
}

// MarshalJSON writes numbers that are not finite as null.
func (r Residual) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		N        int      `json:"n"`
		X        *float64 `json:"x"`
		Measured *float64 `json:"measured"`
		Lo       *float64 `json:"lo"`
		Hi       *float64 `json:"hi"`
		Fitted   *float64 `json:"fitted"`
	}{r.N, OrNull(r.X), OrNull(r.Measured), OrNull(r.Lo), OrNull(r.Hi), OrNull(r.Fitted)})
}

// UnmarshalJSON reads null as NaN.
func (r *Residual) UnmarshalJSON(b []byte) error {
	type plain Residual
	nan := math.NaN()
	*r = Residual{X: nan, Measured: nan, Lo: nan, Hi: nan, Fitted: nan}
	return json.Unmarshal(b, (*plain)(r))
}

// finite returns a copy of p that JSON can hold, with a finding of how many numbers it cannot, and with arrays and maps
// present where the schema wants them.
func (p *Params) finite() *Params {
	c, with := &cleaner{}, *p
	with.Measured, with.Fits = p.Streams(), nil
	if times := p.Times(); times != nil {
		with.Measured = append(with.Measured, Series{Name: "T(x)", Quantity: Time, XName: "bytes", Points: times})
	}
	for _, f := range p.Fits {
		own := *f
		if own.Series = nil; slices.Equal(f.Hosts, p.Run.Hosts) {
			own.Hosts = nil
		}
		with.Fits = append(with.Fits, &own)
	}
	v, _ := c.clean(reflect.ValueOf(with), "")
	out := v.Interface().(Params)
	out.Schema = Schema
	was := p.classes()
	for i, class := range out.classes() {
		for name, q := range class.Parameters {
			if was := was[i].Parameters[name].Value; was != nil && q.Value == nil {
				q.Status, q.Why = StatusUnidentifiable, fmt.Sprintf("the fit gave %v, not a number", *was)
				class.Parameters[name] = q
			}
		}
		for name, f := range class.Functions { // one without a coefficient cannot be evaluated
			if len(f.Coeff) < len(was[i].Functions[name].Coeff) {
				delete(class.Functions, name)
			} else {
				class.Functions[name] = f.parted()
			}
		}
	}
	if len(c.lost) > 0 { // Decode refuses correlations that name what is gone, or that have lost a row
		out.Correlations = lists.Where(out.Correlations, func(c Correlation) bool { return c.check(&out) == nil })
	}
	said := func(f Finding) bool { return f.Code == "not-finite" }
	if n := len(c.lost); n > 0 && !slices.ContainsFunc(out.Findings, said) {
		out.Findings = append(out.Findings, Warnf("not-finite", "numbers that are not finite are left out, or null in "+
			"points: %d, the first %s", n, c.lost[0][1:]))
	}
	return &out
}

// cleaner copies values without the numbers that JSON cannot hold, and keeps where these stood.
type cleaner struct{ lost []string }

// clean returns a copy of v, which stands at a place, and whether it can stand there: a number, a pair or a list of
// numbers that is not finite cannot, nor a struct that holds one. What cannot is left out of the pointer, map or list
// that holds it.
func (c *cleaner) clean(v reflect.Value, at string) (out reflect.Value, stands bool) {
	switch v.Kind() {
	case reflect.Float64:
		if stands = finite(v.Float()); !stands {
			c.lost = append(c.lost, at)
		}
		return v, stands
	case reflect.Pointer:
		if v.IsNil() {
			return v, true
		}
		e, ok := c.clean(v.Elem(), at)
		if !ok {
			return reflect.Zero(v.Type()), true
		}
		out = reflect.New(e.Type())
		out.Elem().Set(e)
		return out, true
	case reflect.Map:
		out = reflect.MakeMap(v.Type())
		byName := func(a, b reflect.Value) int { return cmp.Compare(a.String(), b.String()) }
		for _, k := range slices.SortedFunc(slices.Values(v.MapKeys()), byName) {
			if e, ok := c.clean(v.MapIndex(k), at+"."+k.String()); ok {
				out.SetMapIndex(k, e)
			}
		}
		return out, true
	case reflect.Array, reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Float64 {
			for i := range v.Len() {
				if _, ok := c.clean(v.Index(i), at); !ok {
					return v, false
				}
			}
			return v, true
		}
		out = reflect.MakeSlice(v.Type(), 0, v.Len())
		for i := range v.Len() {
			if e, ok := c.clean(v.Index(i), fmt.Sprintf("%s[%d]", at, i)); ok {
				out = reflect.Append(out, e)
			}
		}
		return out, true
	case reflect.Struct:
		out, stands = reflect.New(v.Type()).Elem(), true
		out.Set(v)
		for i := range v.NumField() {
			name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
			if name == "-" || name == "bound" {
				continue
			}
			e, ok := c.clean(v.Field(i), at+"."+name)
			out.Field(i).Set(e)
			stands = stands && ok
		}
		_, null := v.Interface().(Residual)
		return out, stands || null
	}
	return v, true
}
