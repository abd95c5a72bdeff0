package review

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"calib/internal/units"
	"calib/params"
)

// overT is by how much a time per byte may exceed that of the largest message, which holds the fixed time too. It
// allows for the noise of the largest size.
const overT = 1.1

// signed are the parameters that may be negative: differences and shares. Times, times per byte, rates, bytes and
// packets may not, nor may any other number.
var signed = []string{"fragment_gain_", "nagle_cost_"}

// listed reports whether a list holds a name, or a beginning of it that ends in "_".
func listed(list []string, name string) bool {
	return slices.ContainsFunc(list,
		func(s string) bool { return name == s || strings.HasSuffix(s, "_") && strings.HasPrefix(name, s) })
}

// possible withholds what cannot be: negative numbers, and times per byte that the measured times rule out.
func (r *review) possible() {
	r.eachParameter(func(name string, q params.Parameter) {
		less := name == "after_idle_awake" && q.CI95 != nil && q.CI95[1] < 0 // CPUs kept awake may save time
		if !listed(signed, name) && !less {
			r.notNegative(name, q)
		}
	})
	r.eachFunction(r.notNegativeFunction)
	r.eachFunction(r.fallsWithHosts)
	r.withinT()
}

// follow withholds what is made of a number that is withheld: the rate 1/b', the functions of which a parameter is
// the value at one byte, and LogGP's L, which is what o_s and o_r leave of half a round trip.
func (r *review) follow() {
	if b, rate := r.Parameters["b_prime_limits"], r.Parameters["r_inf"]; b.Estimate != nil && rate.Value != nil {
		var bound *params.Bound
		if b.Status == params.StatusBound && b.Bound != nil && b.Bound[1] > 0 {
			bound = &params.Bound{1 / b.Bound[1], math.Inf(1)}
		}
		r.withhold("r_inf", b.Status, "it is 1/b_prime_limits, which is withheld: "+b.Why, bound)
	}
	for _, name := range []string{"o_s", "o_r"} {
		q, f := r.Parameters[name], r.Functions[name]
		if q.Estimate != nil && q.Status == params.StatusInconsistent && f.Model == q.Model && f.Usable() {
			r.mark(name, q.Status, q.Why)
		}
		if q.Status == params.StatusInconsistent && r.Parameters["L"].Value != nil {
			r.withhold("L", q.Status, "it is what o_s and o_r leave of half a round trip, and "+name+" is withheld", nil)
		}
	}
}

// notNegative decides on a number that must not be negative, by its interval:
//
//   - so close to zero that it does not matter: a positive one stays, with an interval from zero on, and of a negative
//     one the bound stays;
//   - the interval holds zero: bound, at most the upper end;
//   - all of it is below zero, or there is none and the number is: inconsistent.
func (r *review) notNegative(name string, q params.Parameter) {
	v, lo, hi, _ := q.Ends()
	if lo > 0 {
		return
	}
	ref := r.reference(q.Unit)
	small := math.Max(math.Abs(lo), math.Abs(hi)) <= params.Material*ref
	switch {
	case small && v >= 0:
		if q.CI95 != nil {
			q.CI95 = &[2]float64{0, hi}
			r.Parameters[name] = q
		}
	case small:
		r.withhold(name, params.StatusBound, fmt.Sprintf("the estimate is negative, by less than %g%% of %s: take it as zero",
			100*params.Material, units.Format(ref, q.Unit)), &params.Bound{0, math.Max(hi, -lo)})
		r.zero = append(r.zero, name)
	case hi > 0:
		why := fmt.Sprintf("may be zero: its interval is [%s, %s]", units.Format(lo, q.Unit), units.Format(hi, q.Unit))
		r.withhold(name, params.StatusBound, why, &params.Bound{0, hi})
		r.zero = append(r.zero, name)
	default:
		why := fmt.Sprintf("%s is %s, which is impossible: %s is not negative", name, number(v, q.CI95, q.Unit), what(q.Unit))
		r.withhold(name, params.StatusInconsistent, why, nil)
		r.add(params.Warnf(params.Impossible, "%s", why).Of(name).With("estimate", v))
	}
}

// what names the quantity of a unit.
func what(unit string) string {
	return cmp.Or(map[string]string{"s": "a time", "s/B": "a time per byte", "B/s": "a rate", "B": "a number of bytes",
		"packets": "a number of packets"}[unit], "such a number")
}

// notNegativeFunction decides on a cost function by its value at the smallest arguments it was fitted on, where a cost
// is least, and at the largest, where a cost that falls may become negative. The interval there is made of those of the
// coefficients as if they were independent, and so is never too narrow for coefficients that move against each other.
func (r *review) notNegativeFunction(name string, f params.Function) {
	for side := range 2 {
		at, ok := r.corner(f, side)
		if !ok {
			continue
		}
		ref := r.reference(f.Unit)
		v, half := at.value, at.half
		small := math.Abs(v)+half <= params.Material*ref
		switch {
		case v-half > 0 || v >= 0 && (half == 0 || small || side == 1):
			continue
		case small:
			r.provisionalFunction(name, fmt.Sprintf("the estimate is negative, by less than %g%% of %s: take it as zero",
				100*params.Material, units.Format(ref, f.Unit)))
		case v+half > 0:
			r.mark(name, params.StatusBound, fmt.Sprintf("%s(%s) is %s ± %s: it may be zero", name, at.where,
				units.Format(v, f.Unit), units.Format(half, f.Unit)))
			r.zero = append(r.zero, name+"()")
		default:
			why := fmt.Sprintf("%s(%s) is %s, which is impossible: %s is not negative",
				name, at.where, units.Format(v, f.Unit), what(f.Unit))
			r.mark(name, params.StatusInconsistent, why)
			r.add(params.Warnf(params.Impossible, "%s", why).Of(name).With("estimate", v))
		}
		return
	}
}

// fallsWithHosts decides on a time in the network that falls as more hosts communicate, by its whole interval and by
// more than does not matter over the hosts that it holds for. No network does that: CPUs that are kept awake by more
// messages do.
func (r *review) fallsWithHosts(name string, f params.Function) {
	l1, ci := f.Coeff["l1"], f.CI95["l1"]
	hosts := f.Domain["p"]
	if ci[1] >= 0 || -l1*(hosts[1]-hosts[0]) <= params.Material*r.reference(f.Unit) {
		return
	}
	why := fmt.Sprintf("%s falls by %s with every further host: no network does that, but CPUs that wake faster "+
		"under load", name, units.Format(-l1, f.Unit))
	r.provisionalFunction(name, why)
	r.add(params.Warnf("falls-with-hosts", "%s", why).Of(name).With("l1", l1))
}

// cornerValue is a function at an end of its domain, with half the width of its interval.
type cornerValue struct {
	value, half float64
	where       string
}

// corner evaluates f at the lower (0) or upper (1) end of its domain. Functions in pieces have one at neither end:
// their times were measured, and falling pieces are refused when they are fitted.
func (r *review) corner(f params.Function, side int) (cornerValue, bool) {
	m, known := f.Domain["m"]
	if !known || f.Form == params.Pieces {
		return cornerValue{}, false
	}
	p, hosts := f.Domain["p"]
	v, err := f.At(m[side], p[side], r.Functions)
	if err != nil {
		return cornerValue{}, false
	}
	c := cornerValue{value: v, where: fmt.Sprintf("%g B", m[side])}
	if hosts {
		c.where += fmt.Sprintf(", %g hosts", p[side])
	}
	c.half, _ = f.HalfWidthAt(m[side], p[side])
	return c, true
}

// reference is what a number of a unit is held against to see whether it matters: the time of the smallest message, or
// the time per byte of the largest one, as measured. 0 where there is none: then everything matters.
func (r *review) reference(unit string) float64 {
	small, large, ok := r.ends()
	switch {
	case !ok:
	case unit == "s":
		return small.Measured
	case unit == "s/B":
		return large.Measured / large.X
	}
	return 0
}

// ends are the points of the smallest and of the largest message that were measured: by ping-pong, or else by bursts of
// one pair, or by round trips of LogGP.
func (r *review) ends() (small, large params.Residual, ok bool) {
	for _, q := range []params.Quantity{params.Time, params.BurstTime, params.HalfRoundTrip} {
		for _, f := range r.Fits {
			for _, s := range f.Of(q) {
				for _, at := range s.Points {
					if !(at.Measured > 0) || !(at.X > 0) {
						continue
					}
					if !ok || at.X < small.X {
						small = at
					}
					if !ok || at.X > large.X {
						large = at
					}
					ok = true
				}
				if ok {
					return small, large, true
				}
			}
		}
	}
	return small, large, false
}

// withinT withholds times per byte of one message alone that exceed T(x)/x of the largest message measured: T(x) holds
// the fixed time and x times the time per byte.
func (r *review) withinT() {
	_, large, ok := r.ends()
	if !ok {
		return
	}
	most := large.Measured / large.X
	top := math.Max(large.Hi, large.Measured) / large.X
	for _, name := range []string{"b_prime_limits", "beta"} {
		q, known := r.Parameters[name]
		v, lo, _, valued := q.Ends()
		if !known || !valued || v <= overT*most || lo <= top {
			continue
		}
		why := fmt.Sprintf("%s is %s, but a message of %g B takes %s a byte with its fixed time: a part cannot be more "+
			"than the whole", name, number(v, q.CI95, q.Unit), large.X, units.Format(most, q.Unit))
		r.withhold(name, params.StatusInconsistent, why, nil)
		r.add(params.Warnf(params.Impossible, "%s", why).Of(name).With("estimate", v))
	}
}
