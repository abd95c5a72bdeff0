package spend

import (
	"slices"

	"calib/bench"
	"calib/fit"
	"calib/fit/params"
	"calib/internal/dataset/names"
)

// family is parameters that one model reads from the same points.
type family struct {
	parameters []string // a coefficient of a function is "g_s.c0"
	model      string
	exps       []string
	// informs reports whether a point of these experiments bears on the parameters.
	informs func(bench.Point) bool
	// derive gives the influence of points on the parameters as the model estimates them. It is nil where that cannot be told, and leaves
	// out a parameter of which it is not known yet.
	derive func(*view) map[string]influence
}

// families is the table of what may be aimed at. docs/MEASURING.md repeats it in words.
var families = []family{
	{[]string{"a", "a_c", "a_prime"}, "hyperbolic-network", []string{names.Paired}, isBurst, (*view).fixedTimes},
	{[]string{"b", "b_c", "b_prime"}, "hyperbolic-network", []string{names.Paired}, isStream, (*view).mediumTimes},
	{[]string{"alpha", "beta", "r_inf"}, "hockney", []string{names.Pingpong}, every, (*view).oneMessage},
	{[]string{"g", "G", "L", "o_s", "o_r"}, "loggp", []string{names.PRTT}, every, (*view).trains},
	{[]string{"g_s.c0", "g_s.c1"}, "cluster-gap", []string{names.Gap}, isOwnSegment, (*view).sendGaps},
	{[]string{"g_r.c0", "g_r.c1"}, "cluster-gather", []string{names.Gather}, isArrivals, (*view).receiveGaps},
	// What follows is made of several tables, or by more than lines: all its points are kept.
	{[]string{"a_prime_limits", "b_prime_limits", "a_prime_joint", "b_prime_joint"}, "hyperbola", []string{names.Pingpong}, every, nil},
	{[]string{"O_s.c0", "O_s.c1", "U_r.c0", "U_r.c1", "O_r.c0", "O_r.c1"}, "cluster-overhead", []string{names.Overhead}, every, nil},
	{[]string{"L.l0", "L.l1", "L.tau"}, "cluster", []string{names.Overhead, names.Load}, every, nil},
	{[]string{"wakeup"}, "wakeup", []string{names.Wakeup}, every, nil},
	{[]string{"B_L"}, "cluster-buffer", []string{names.Flood}, every, nil},
}

func every(bench.Point) bool { return true }

// isBurst: bursts of one message a pair. Streams give nothing of a'(n).
func isBurst(p bench.Point) bool { return p[names.FactorStream] == 0 }

// isStream: streams of bytes over one connection a pair. Messages back to back and more connections are curves of their own.
func isStream(p bench.Point) bool {
	return p[names.FactorStream] != 0 && p[names.FactorBytes] == 0 && p[names.FactorConnections] <= 1
}

// isOwnSegment: messages that the kernel may not merge.
func isOwnSegment(p bench.Point) bool { return p[names.FactorMerge] == 0 }

// isArrivals: streams to one root. The totals of gathers only add notes.
func isArrivals(p bench.Point) bool { return p[names.FactorStream] != 0 }

// has reports whether a point of an experiment bears on the family.
func (f *family) has(exp string, p bench.Point) bool {
	return slices.Contains(f.exps, exp) && f.informs(p)
}

// familyOf finds the family of a parameter; nil where there is none.
func familyOf(parameter string) *family {
	i := slices.IndexFunc(families, func(f family) bool { return slices.Contains(f.parameters, parameter) })
	if i < 0 {
		return nil
	}
	return &families[i]
}

// view is one look at a run: its samples, and what was fitted to them.
type view struct {
	data *fit.Prepared
	fits *params.Params
}
