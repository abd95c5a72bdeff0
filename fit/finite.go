package fit

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
)

// JSON has no NaN and no infinity. A number that is not finite is written as null and said in a warning; where null
// could be taken for zero on reading, it reads as NaN again. In a bound, null is legitimate: no limit on that side.

// jsonNum writes a float64 that is not finite as null, and reads null as NaN.
type jsonNum float64

func (n jsonNum) MarshalJSON() ([]byte, error) {
	if !holdable(float64(n)) {
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

func holdable(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

func holdablePair(p *[2]float64) bool { return p == nil || holdable(p[0]) && holdable(p[1]) }

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

// cleaner copies Params without the numbers that JSON cannot hold, and says of each what it was.
type cleaner struct{ warnings []string }

func (c *cleaner) say(format string, args ...any) {
	c.warnings = append(c.warnings, fmt.Sprintf(format, args...))
}

// pointer returns v, or nil with a warning where it is not finite.
func (c *cleaner) pointer(what string, v *float64) *float64 {
	if v == nil || holdable(*v) {
		return v
	}
	c.say("%s is %v: written as null", what, *v)
	return nil
}

func (c *cleaner) interval(what string, v *[2]float64) *[2]float64 {
	if holdablePair(v) {
		return v
	}
	c.say("%s is [%v, %v]: left out", what, v[0], v[1])
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

func (c *cleaner) parameters(in map[string]Parameter, where string) map[string]Parameter {
	out := make(map[string]Parameter, len(in))
	for _, name := range slices.Sorted(maps.Keys(in)) {
		p := in[name]
		if p.Value != nil && !holdable(*p.Value) {
			p.Why = fmt.Sprintf("the fit gave %v, not a number", *p.Value)
			p.Status = StatusUnidentifiable
		}
		p.Value = c.pointer(where+"parameter "+name, p.Value)
		p.CI95 = c.interval(where+"ci95 of parameter "+name, p.CI95)
		out[name] = p
	}
	return out
}

// functions drops a function with a coefficient that is not finite: it cannot be evaluated.
func (c *cleaner) functions(in map[string]Function, where string) map[string]Function {
	out := make(map[string]Function, len(in))
	for _, name := range slices.Sorted(maps.Keys(in)) {
		f, whole := in[name], true
		for _, k := range slices.Sorted(maps.Keys(f.Coeff)) {
			if !holdable(f.Coeff[k]) {
				c.say("%sfunction %s: %s is %v: the function is left out", where, name, k, f.Coeff[k])
				whole = false
			}
		}
		if !whole {
			continue
		}
		f.CI95 = c.intervals(where+"function "+name+": ci95", f.CI95)
		f.Domain = c.intervals(where+"function "+name+": domain", f.Domain)
		out[name] = f
	}
	return out
}

// fit copies f; numbers of residuals and quality become null when they are encoded.
func (c *cleaner) fit(f *Fit) *Fit {
	out, where := *f, f.Model+": "
	out.Parameters = c.parameters(f.Parameters, where)
	out.Functions = c.functions(f.Functions, where)
	out.Domain = c.intervals(where+"domain", f.Domain)
	out.Plots = c.plots(f.Plots, where)
	if q := f.Quality; q != nil {
		clean := *q
		clean.R2 = c.pointer(where+"R²", q.R2)
		clean.LeaveOneOut = c.pointer(where+"leave-one-out error", q.LeaveOneOut)
		clean.Condition = c.pointer(where+"condition number", q.Condition)
		if !holdable(q.MeanError) || !holdable(q.MaxError) {
			c.say("%serrors are %v (mean) and %v (largest): written as null", where, q.MeanError, q.MaxError)
		}
		out.Quality = &clean
	}
	for _, r := range f.Residuals {
		if !holdable(r.X) || !holdable(r.Measured) || !holdable(r.Lo) || !holdable(r.Hi) || !holdable(r.Fitted) {
			c.say("%sresidual of %s at %s = %v has numbers that are not finite: written as null", where, r.Series, r.XName, r.X)
		}
	}
	return &out
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
		if !holdable(v.Predicted) || !holdable(v.Measured) || !holdable(v.Error) {
			c.say("validation %s, %d hosts, %d bytes is not finite: left out", v.Pattern, v.Hosts, v.Bytes)
			continue
		}
		v.CI95 = c.interval("ci95 of validation "+v.Pattern, v.CI95)
		out = append(out, v)
	}
	return out
}
