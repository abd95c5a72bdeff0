package params

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"

	"calib/internal/units"
)

// JSON has no NaN and no infinity. A number that is not finite is written as null, with a finding. Where null could be
// taken for zero on reading, it is read as NaN again. In a bound, null is no limit on that side.

// jsonNum writes a float64 that is not finite as null, and reads null as NaN.
type jsonNum float64

func (n jsonNum) MarshalJSON() ([]byte, error) {
	if !finite(float64(n)) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(n))
}

func (n *jsonNum) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*n = jsonNum(math.NaN())
		return nil
	}
	return json.Unmarshal(b, (*float64)(n))
}

func finitePair(p *[2]float64) bool { return p == nil || finite(p[0]) && finite(p[1]) }

type plainParameter Parameter

type jsonParameter struct {
	*plainParameter
	Bound *[2]jsonNum `json:"bound,omitempty"`
}

// MarshalJSON writes an open side of Bound as null.
func (p Parameter) MarshalJSON() ([]byte, error) {
	j := jsonParameter{plainParameter: (*plainParameter)(&p)}
	if p.Bound != nil {
		j.Bound = &[2]jsonNum{jsonNum(p.Bound[0]), jsonNum(p.Bound[1])}
	}
	return json.Marshal(j)
}

// UnmarshalJSON reads a null side of bound as the infinity on that side.
func (p *Parameter) UnmarshalJSON(b []byte) error {
	j := jsonParameter{plainParameter: (*plainParameter)(p)}
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	p.Bound = nil
	if j.Bound != nil {
		p.Bound = &[2]float64{orInf(j.Bound[0], -1), orInf(j.Bound[1], 1)}
	}
	return nil
}

func orInf(n jsonNum, sign int) float64 {
	if math.IsNaN(float64(n)) {
		return math.Inf(sign)
	}
	return float64(n)
}

type plainResidual Residual

type jsonResidual struct {
	*plainResidual
	X        jsonNum `json:"x"`
	Measured jsonNum `json:"measured"`
	Lo       jsonNum `json:"lo"`
	Hi       jsonNum `json:"hi"`
	Fitted   jsonNum `json:"fitted"`
}

// MarshalJSON writes numbers that are not finite as null.
func (r Residual) MarshalJSON() ([]byte, error) {
	return json.Marshal(jsonResidual{(*plainResidual)(&r), jsonNum(r.X), jsonNum(r.Measured), jsonNum(r.Lo), jsonNum(r.Hi), jsonNum(r.Fitted)})
}

// UnmarshalJSON reads null as NaN.
func (r *Residual) UnmarshalJSON(b []byte) error {
	j := jsonResidual{plainResidual: (*plainResidual)(r)}
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	r.X, r.Measured, r.Fitted = float64(j.X), float64(j.Measured), float64(j.Fitted)
	r.Lo, r.Hi = float64(j.Lo), float64(j.Hi)
	return nil
}

type plainQuality Quality

type jsonQuality struct {
	*plainQuality
	MeanError jsonNum `json:"mean_error"`
	MaxError  jsonNum `json:"max_error"`
}

// MarshalJSON writes numbers that are not finite as null.
func (q Quality) MarshalJSON() ([]byte, error) {
	return json.Marshal(jsonQuality{(*plainQuality)(&q), jsonNum(q.MeanError), jsonNum(q.MaxError)})
}

// UnmarshalJSON reads null as NaN.
func (q *Quality) UnmarshalJSON(b []byte) error {
	j := jsonQuality{plainQuality: (*plainQuality)(q)}
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	q.MeanError, q.MaxError = float64(j.MeanError), float64(j.MaxError)
	return nil
}

// cleaner copies Params without the numbers that JSON cannot hold, and keeps a finding for each.
type cleaner struct{ found []Finding }

func (c *cleaner) warn(format string, args ...any) {
	c.found = append(c.found, Warnf(NotFinite, format, args...))
}

// pointer returns v, or nil with a warning where it is not finite.
func (c *cleaner) pointer(what string, v *float64) *float64 {
	if v == nil || finite(*v) {
		return v
	}
	c.warn("%s is %v: written as null", what, *v)
	return nil
}

func (c *cleaner) interval(what string, v *[2]float64) *[2]float64 {
	if finitePair(v) {
		return v
	}
	c.warn("%s is [%v, %v]: left out", what, v[0], v[1])
	return nil
}

func (c *cleaner) intervals(what string, m map[string][2]float64) map[string][2]float64 {
	out := maps.Clone(m)
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if v := m[k]; c.interval(what+" of "+k, &v) == nil {
			delete(out, k)
		}
	}
	return out
}

func (c *cleaner) parameters(in map[string]Parameter) map[string]Parameter {
	out := make(map[string]Parameter, len(in))
	for _, name := range slices.Sorted(maps.Keys(in)) {
		p := in[name]
		if p.Value != nil && !finite(*p.Value) {
			p.Why = fmt.Sprintf("the fit gave %v, not a number", *p.Value)
			p.Status = StatusUnidentifiable
		}
		p.Value = c.pointer("parameter "+name, p.Value)
		p.CI95 = c.interval("ci95 of parameter "+name, p.CI95)
		out[name] = p
	}
	return out
}

// functions drops a function with a coefficient that is not finite: it cannot be evaluated.
func (c *cleaner) functions(in map[string]Function) map[string]Function {
	out := make(map[string]Function, len(in))
	for _, name := range slices.Sorted(maps.Keys(in)) {
		f, whole := in[name], true
		for _, k := range slices.Sorted(maps.Keys(f.Coeff)) {
			if !finite(f.Coeff[k]) {
				c.warn("function %s: %s is %v: the function is left out", name, k, f.Coeff[k])
				whole = false
			}
		}
		if !whole {
			continue
		}
		f.CI95 = c.intervals("function "+name+": ci95", f.CI95)
		f.Domain = c.intervals("function "+name+": domain", f.Domain)
		out[name] = f
	}
	return out
}

// fit copies f; numbers of series and quality become null when they are encoded.
func (c *cleaner) fit(f *Fit) *Fit {
	out, where := *f, f.Model+": "
	out.Domain = c.intervals(where+"domain", f.Domain)
	out.Plots = c.plots(f.Plots, where)
	out.Findings = c.findings(f.Findings)
	if q := f.Quality; q != nil {
		clean := *q
		clean.R2 = c.pointer(where+"R²", q.R2)
		clean.LeaveOneOut = c.pointer(where+"leave-one-out error", q.LeaveOneOut)
		clean.Condition = c.pointer(where+"condition number", q.Condition)
		if !finite(q.MeanError) || !finite(q.MaxError) {
			c.warn("%serrors are %v (mean) and %v (largest): written as null", where, q.MeanError, q.MaxError)
		}
		out.Quality = &clean
	}
	out.Series = slices.Clone(f.Series)
	for i, s := range f.Series {
		out.Series[i].Points = emptySlice(s.Points)
		for _, r := range s.Points {
			if !finite(r.X) || !finite(r.Measured) || !finite(r.Lo) || !finite(r.Hi) || !finite(r.Fitted) {
				c.warn("%spoint of %s at %s = %v has numbers that are not finite: written as null", where, s.Name, s.XName, r.X)
			}
		}
	}
	return &out
}

// findings drops values that are not finite: the message still has them.
func (c *cleaner) findings(in []Finding) []Finding {
	out := slices.Clone(in)
	for i, f := range out {
		out[i].Values = maps.Clone(f.Values)
		maps.DeleteFunc(out[i].Values, func(_ string, v float64) bool { return !finite(v) })
	}
	return out
}

func (c *cleaner) pairs(in []Pair) []Pair {
	out := slices.Clone(in)
	for i := range out {
		p := &out[i]
		name := "pair " + p.From + " → " + p.To + ": "
		p.Latency = c.pointer(name+"latency", p.Latency)
		p.Rate = c.pointer(name+"rate", p.Rate)
		p.LatencyCI = c.interval(name+"latency_ci95", p.LatencyCI)
		p.RateCI = c.interval(name+"rate_ci95", p.RateCI)
	}
	return out
}

// validation drops a row without finite prediction and measurement.
func (c *cleaner) validation(in []Validation) []Validation {
	out := make([]Validation, 0, len(in))
	for _, v := range in {
		if !finite(v.Predicted) || !finite(v.Measured) || !finite(v.Error) {
			c.warn("validation %s, %d hosts, %d B is not finite: left out", v.Pattern, v.Hosts, v.Bytes)
			continue
		}
		v.CI95 = c.interval("ci95 of validation "+v.Pattern, v.CI95)
		out = append(out, v)
	}
	return out
}

// plots drops the points of curves and the marks that are not finite, and bands that do not fit their curve: a plot is
// a picture of numbers that stand elsewhere, and is left out of rather than filled with null.
func (c *cleaner) plots(in []Plot, where string) []Plot {
	var out []Plot
	for _, p := range in {
		dropped := 0
		p.Curves, dropped = cleanCurves(p.Curves)
		var marks []Mark
		for _, m := range p.Marks {
			switch {
			case !finite(m.X):
				dropped++
				continue
			case !finite(m.Lo) || !finite(m.Hi):
				dropped++
				m.Lo, m.Hi = 0, 0
			}
			marks = append(marks, m)
		}
		p.Marks = marks
		if dropped > 0 {
			c.warn("%splot %s: %s not finite: left out", where, p.ID, units.Plural(int64(dropped), "number"))
		}
		out = append(out, p)
	}
	return out
}

// cleanCurves returns the finite points of curves, and how many others there were.
func cleanCurves(in []Curve) (out []Curve, dropped int) {
	for _, q := range in {
		n := min(len(q.X), len(q.Y))
		banded := n > 0 && len(q.Lo) == n && len(q.Hi) == n
		clean := Curve{Name: q.Name}
		for i := range n {
			whole := finite(q.X[i]) && finite(q.Y[i])
			if !whole || banded && !(finite(q.Lo[i]) && finite(q.Hi[i])) {
				dropped++
				continue
			}
			clean.X, clean.Y = append(clean.X, q.X[i]), append(clean.Y, q.Y[i])
			if banded {
				clean.Lo, clean.Hi = append(clean.Lo, q.Lo[i]), append(clean.Hi, q.Hi[i])
			}
		}
		if len(clean.X) > 0 {
			out = append(out, clean)
		}
	}
	return out, dropped
}
