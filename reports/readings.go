package reports

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"calib/internal/dataset"
	"calib/internal/units"
	"calib/params"
)

type reading struct {
	what string
	name string // in params.json; "" is none
	params.Parameter
	minor bool // the verdict does not need it
}

// Words for statuses, on screens and in reports.
const (
	Good          = "good"
	Rough         = "rough"
	LimitOnly     = "limit only"
	NotMeasurable = "not measurable"
	NotUsable     = "not usable"
)

var qualities = map[string]string{
	params.StatusOK: Good, params.StatusProvisional: Rough, params.StatusBound: LimitOnly,
	params.StatusUnidentifiable: NotMeasurable, params.StatusInconsistent: NotUsable,
}

func (q reading) cells() []string {
	value, interval := "–", ""
	if q.Value != nil {
		f := Format(*q.Value, q.CI95, q.Unit)
		value, interval = f.Value+" "+f.Unit, strings.ReplaceAll(strings.Trim(f.CI, "[]"), ", ", " .. ")
	} else if q.Bound != nil {
		value = FormatBound(*q.Bound, q.Unit)
	}
	return []string{q.what, Clean(value), Clean(interval), quality(q.Status, value)}
}

// quality is the word for a status, on screens and in reports. Where a limit is wanted, what is known is one, or "–".
func quality(status, known string) string {
	if status == params.StatusBound && known == "–" {
		return NotMeasurable
	}
	return cmp.Or(qualities[cmp.Or(status, params.StatusOK)], Clean(status))
}

// measured is a reading of what was measured, without a model.
func measured(what, unit string, v, lo, hi float64) reading {
	q := params.Parameter{Value: &v, CI95: interval(lo, hi), Unit: unit, Status: params.StatusOK}
	if q.CI95 == nil || !(hi-lo <= 2*params.Useful*v) {
		q.Status, q.Why = params.StatusProvisional, fmt.Sprintf("no interval within ± %.0f%%", 100*params.Useful)
	}
	return reading{what: what, Parameter: q}
}

// interval is from lo to hi; nil where it has no width, as after one round.
func interval(lo, hi float64) *[2]float64 {
	if !(hi > lo) {
		return nil
	}
	return &[2]float64{lo, hi}
}

// readings are the numbers of the summary: what everybody asks for, the hyperbolic model's, and, of those that a longer
// plan measures, the cluster model's and LogGP's.
func readings(p *params.Params) (out []reading) {
	named := func(what, name string, minor bool) {
		if q, ok := p.Parameters[name]; ok {
			out = append(out, reading{what, name, q, minor})
		}
	}
	if times := p.Times(); len(times) > 0 {
		t := slices.MinFunc(times, func(a, b params.Residual) int { return cmp.Compare(a.X, b.X) })
		out = append(out, measured("latency, "+units.Plural(int64(t.X), "byte"), "s", t.Measured, t.Lo, t.Hi))
	}
	named("slowest 1% (p99)", "p99", true)
	for _, points := range streams(p) {
		r := points[0]
		out = append(out, measured("one stream", "bit/s", 8/r.Measured, 8/r.Hi, 8/r.Lo))
	}
	_, paired := p.Run.Sampled["paired"]
	few := len(p.Run.Hosts) < 4 // which cannot tell the hosts' part from the network's
	if few || !paired {
		named("alpha  T(x), start", "alpha", paired)
		named("beta   T(x), byte", "beta", paired)
	}
	if few {
		named("a'   2a + a_c", "a_prime", false)
		named("b'   max(b, b_c)", "b_prime", false)
	} else {
		named("a    host, message", "a", false)
		named("b    host, byte", "b", false)
		named("a_c  net, message", "a_c", false)
		named("b_c  net, byte", "b_c", false)
	}
	for _, name := range []string{"g_s", "g_r"} {
		if f, ok := p.Functions[name]; ok {
			what, m := "packet", f.Domain["m"][1]
			if full, err := strconv.ParseFloat(p.Environment.Common[dataset.FactSegment], 64); err == nil && m < full {
				what = units.Bytes(m).String() // of the user's sizes
			}
			out = append(out, reading{name + "  gap, " + what, name, atPacket(f), true})
		}
	}
	named("o_s  send, LogGP", "o_s", true)
	named("L    net, LogGP", "L", true)
	named("B_L  port buffer", "B_L", true)
	return out
}

// atPacket is a cost function at the largest size that it holds for.
func atPacket(f params.Function) params.Parameter {
	q := params.Parameter{Unit: f.Unit, Status: cmp.Or(f.Status, params.StatusOK), Why: f.Why}
	if !f.Usable() {
		return q
	}
	m := f.Domain["m"][1]
	v, err := f.At(m, 0, nil)
	if err != nil {
		return q
	}
	q.Value = &v
	if half, whole := f.HalfWidthAt(m, 0); whole && half > 0 {
		q.CI95 = &[2]float64{v * math.Exp(-half/v), v + half} // below on the log scale: no time is negative
	}
	return q
}
