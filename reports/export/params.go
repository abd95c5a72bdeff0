package export

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"calib/fit"
)

// givenBy names the experiment that measures a parameter, and what it is for people who have not measured it.
func givenBy(name string) (experiment, label string) {
	switch name {
	case "L", "o_s", "o_r", "g", "G":
		return "prtt", map[string]string{"L": "latency", "o_s": "send overhead", "o_r": "receive overhead", "g": "gap between messages",
			"G": "gap per byte"}[name]
	case "packet":
		return "load", "payload of one packet"
	case "beta":
		return "pingpong", "time per byte"
	}
	return "pingpong", "latency of a message"
}

// found returns a parameter that the run has determined.
func found(p *fit.Params, name string) (float64, bool) {
	q, ok := p.Parameters[name]
	if !ok || q.Status != fit.StatusOK || q.Value == nil || math.IsNaN(*q.Value) || math.IsInf(*q.Value, 0) {
		return 0, false
	}
	return *q.Value, true
}

// need returns a parameter, or an error of class ErrMissing that says which experiment gives it.
func need(p *fit.Params, name string) (float64, error) {
	if v, ok := found(p, name); ok {
		return v, nil
	}
	exp, label := givenBy(name)
	why := ""
	if q, ok := p.Parameters[name]; ok && q.Why != "" {
		why = " (" + oneLine(q.Why) + ")"
	}
	return 0, fmt.Errorf("parameter %s, %s: %w%s; experiment %s gives it: measure with calib run --only %s …",
		name, label, ErrMissing, why, exp, exp)
}

// needs returns several parameters, in order.
func needs(p *fit.Params, names ...string) ([]float64, error) {
	out := make([]float64, len(names))
	for i, name := range names {
		v, err := need(p, name)
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

// affine is the time of a message of x bytes on an idle network, α + β·x, from handing it over to having it.
type affine struct {
	alpha, beta float64 // s, s/B
	from        []string
}

// at returns the time [s] of x bytes.
func (a affine) at(x float64) float64 { return a.alpha + a.beta*x }

// affineOf takes α and β of Hockney's model of T(x); without it LogGP's L + o_s + o_r + (x−1)·G, which is that form too.
func affineOf(p *fit.Params) (affine, error) {
	a := affine{from: []string{"alpha", "beta"}}
	v, err := needs(p, a.from...)
	if err == nil {
		a.alpha, a.beta = v[0], v[1]
		return a, a.check()
	}
	names := []string{"L", "o_s", "o_r", "G"}
	w, other := needs(p, names...)
	if other != nil {
		return affine{}, err // ping-pong is the shorter way to mend it
	}
	a = affine{alpha: w[0] + w[1] + w[2] - w[3], beta: w[3], from: names}
	return a, a.check()
}

func (a affine) check() error {
	if a.alpha < 0 || !(a.beta > 0) {
		return fmt.Errorf("a message takes %g s + %g s/B by %s: %w: it must not be negative, and must grow with the size",
			a.alpha, a.beta, strings.Join(a.from, ", "), ErrLimit)
	}
	return nil
}

// hosts is the number of hosts of the target's system.
func (o Options) hosts(p *fit.Params) (int, error) {
	n := o.Hosts
	if n == 0 {
		n = len(p.Run.Hosts)
	}
	if n < 2 || n > maxHosts {
		return 0, fmt.Errorf("a system of %d hosts: %w; choose 2 to %d with --hosts", n, ErrOption, maxHosts)
	}
	return n, nil
}

// maxHosts bounds what an export builds; no target is meant for more.
const maxHosts = 1 << 20

// uniform warns that a target has one network for all pairs where the run found pairs that stand out.
func uniform(p *fit.Params) []string {
	slow, first := 0, ""
	for _, q := range p.Pairs {
		if q.Slow != "" {
			if slow++; slow == 1 {
				first = oneLine(q.From + " to " + q.To + ": " + q.Slow)
			}
		}
	}
	if slow == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d of %d pairs stand out (%s), but the file has one network for all pairs", slow, len(p.Pairs), first)}
}

// missed is the largest relative error of a model by which its users must be warned.
const missed = 0.1

// against holds a model's times against the measured T(x), of which it is the form that a target has: as a note, or as a
// warning where it is off by more than a tenth somewhere.
func against(p *fit.Params, what string, at func(bytes float64) float64) (notes, warnings []string) {
	sum, worst, where, n := 0.0, 0.0, 0.0, 0
	for _, q := range pointsOf(p) {
		e := at(q.bytes)/q.seconds - 1
		if sum += math.Abs(e); math.Abs(e) > math.Abs(worst) {
			worst, where = e, q.bytes
		}
		n++
	}
	if n == 0 {
		return nil, nil
	}
	said := []string{fmt.Sprintf("against the measured T(x), %s is off by %.1f%% on average, and by %+.1f%% at most, at %.0f bytes", what,
		100*sum/float64(n), 100*worst, where)}
	if math.Abs(worst) > missed {
		return nil, said
	}
	return said, nil
}

// number writes v so that it reads back as the same float64.
func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// decimal writes v without exponent, with so many digits after the point at most.
func decimal(v float64, digits int) string { return strconv.FormatFloat(v, 'f', digits, 64) }

// within reports whether got is want to a tolerance, and to the rounding of float64 in any case.
func within(got, want, tolerance float64) bool {
	return math.Abs(got-want) <= tolerance+1e-12*math.Abs(want)
}

// mismatch is an error of class ErrMismatch.
func mismatch(what string, got, want float64, unit string) error {
	return fmt.Errorf("%s is %s %s in the file and %s %s in the fit: %w", what, number(got), unit, number(want), unit, ErrMismatch)
}

// syntax is an error of class ErrSyntax.
func syntax(format string, args ...any) error {
	return fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), ErrSyntax)
}
