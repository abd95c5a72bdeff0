package harness

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"calib/internal/lists"
	"calib/internal/netspec"
	"calib/internal/selfcheck"
	"calib/internal/stats"
	"calib/internal/units"
	"calib/params"
)

// allowed is what a number may be off, in its unit.
func allowed(name string, truth float64) float64 {
	truth = math.Abs(truth)
	_, coefficient, _ := strings.Cut(name, ".")
	switch {
	case name == "b" || name == "b_c" || name == "G" || coefficient == "c1": // slopes
		return 0.01 * truth
	case name == "a_c":
		return 0.02*truth + 5e-6
	case name == "B_L":
		return max(1, 0.02*truth) // a packet
	case name == "B_L_tcp":
		return 0.10 * truth
	}
	return 0.02*truth + 30e-6
}

// estimate is a number of params.json, whether it may be used or not.
type estimate struct {
	value float64
	has   bool
	ci    *[2]float64
	unit  string
	why   string // it has none
}

// estimateOf is a number by its name: a parameter's, or a function's coefficient's, such as g_s.c1.
func estimateOf(p *params.Params, name string) estimate {
	function, coefficient, ok := strings.Cut(name, ".")
	if !ok {
		q := p.Parameters[name]
		v, has := q.Raw()
		return estimate{v, has, q.CI95, q.Unit, "no value: " + q.Why}
	}
	f := p.Functions[function]
	v, has := f.Coeff[coefficient]
	e := estimate{v, has, nil, "s", "no such coefficient: " + f.Form}
	if coefficient == "c1" {
		e.unit = "s/B"
	}
	if ci, there := f.CI95[coefficient]; there {
		e.ci = &ci
	}
	return e
}

const numberHeader = "number | truth | measured | 95% interval | error | allowed"

// beside is a number beside the truth.
func beside(name string, truth float64, e estimate, allowed float64) line {
	cells := []string{name, units.Format(truth, e.unit), "–", "", e.why, "± " + units.Format(allowed, e.unit)}
	if !e.has {
		return line{cells: cells, verdict: outside}
	}
	d := e.value - truth
	cells[2], cells[4] = units.Format(e.value, e.unit), units.Format(d, e.unit)
	if truth != 0 {
		cells[4] = fmt.Sprintf("%+.2f%%", 100*d/truth)
	}
	within := math.Abs(d) <= allowed
	if e.ci != nil {
		cells[3] = fmt.Sprintf("%s to %s", units.Format(e.ci[0], e.unit), units.Format(e.ci[1], e.unit))
		if truth == 0 && (e.ci[0] > 0 || e.ci[1] < 0) {
			within, cells[4] = false, cells[4]+", zero is outside the interval"
		}
	}
	if !within {
		return line{cells: cells, verdict: outside}
	}
	return line{cells: cells, verdict: good}
}

// all are several expectations, one after the other.
func all(list ...expectation) expectation {
	return func(t *testing.T, r run) (out []line) {
		for _, e := range list {
			out = append(out, e(t, r)...)
		}
		return out
	}
}

// known are the true numbers of a network.
func known(s *netspec.Spec) map[string]float64 {
	out := s.TrueParameters()
	maps.Copy(out, s.TrueFunctions())
	return out
}

// numbers expects these numbers of params.json. One that the network does not have is left out, but b and b_c must be
// not identifiable then.
func numbers(names string) expectation {
	return func(_ *testing.T, r run) (out []line) {
		truths := known(r.network.spec)
		for _, name := range strings.Fields(names) {
			v, there := truths[name]
			switch {
			case there:
				out = append(out, beside(name, v, estimateOf(r.p, name), allowed(name, v)))
			case name == "b" || name == "b_c":
				out = append(out, notIdentifiable(r.p, name))
			}
		}
		return out
	}
}

// notIdentifiable expects that a number has no value, and the status of one that the data cannot determine.
func notIdentifiable(p *params.Params, name string) line {
	q, there := p.Parameters[name]
	l := line{cells: []string{name, "not identifiable", "–", "", q.Status, ""}, verdict: good}
	if q.Bound != nil {
		l.cells[3] = fmt.Sprintf("bound %s to %s", units.Format(q.Bound[0], q.Unit), units.Format(q.Bound[1], q.Unit))
	}
	if !there || q.Value != nil || q.Status != params.StatusUnidentifiable {
		l.verdict = outside
	}
	return l
}

// slowHosts expects that every host with a block of its own is named.
func slowHosts(_ *testing.T, r run) (out []line) {
	for i := range r.network.spec.Overrides {
		l := line{cells: []string{fmt.Sprintf("slow host %d", i), "slow", "not named", "", "", ""}, verdict: outside}
		for _, f := range r.p.Findings {
			if f.Code == params.SlowHost && len(f.Hosts) == 1 && strings.HasSuffix(f.Hosts[0], fmt.Sprintf("h%d", i)) {
				l.cells[2], l.verdict = "named", good
			}
		}
		out = append(out, l)
	}
	return out
}

// latency expects L_cluster(m, p) over its range and says the worst place. Where frames have a least size, the smallest
// packets are left out: the function has no floor.
func latency(_ *testing.T, r run) []line {
	s := r.network.spec
	f, there := r.p.Functions["L_cluster"]
	if !there {
		return []line{{cells: []string{"L_cluster", "", "no function L_cluster", "", "", ""}, verdict: outside}}
	}
	small, worst, most := 1, line{}, -1.0
	if s.Host.Min > 0 {
		small = 100
	}
	for _, m := range []int{small, 200, 700, 1000, 1400} {
		for n := 2; n <= s.Hosts; n += 2 {
			want := s.Way(0, 1, m, n)
			v, err := f.At(float64(m), float64(n), r.p.Functions)
			if err != nil {
				return []line{{cells: []string{"L_cluster", "", "", "", err.Error(), ""}, verdict: outside}}
			}
			allowed := 0.03*want + 30e-6
			if share := math.Abs(v-want) / allowed; share > most {
				e := estimate{value: v, has: true, unit: "s"}
				most, worst = share, beside(fmt.Sprintf("L_cluster(%d, %d), the worst", m, n), want, e, allowed)
			}
		}
	}
	return []line{worst}
}

// gathers expects the predictions of eq. 8 to be near the gathers of 1 KiB and more that were measured.
func gathers(_ *testing.T, r run) []line {
	const mean, worst = 0.08, 0.35
	var errs []float64
	at := ""
	for _, f := range r.p.Fits {
		for _, s := range f.Of(params.GatherTime) {
			for _, point := range s.Points {
				if point.X < 1024 {
					continue
				}
				e := math.Abs(point.Relative())
				if len(errs) == 0 || e > slices.Max(errs) {
					at = fmt.Sprintf("worst: %s at %s", s.Name, units.Bytes(point.X))
				}
				errs = append(errs, e)
			}
		}
	}
	l := line{cells: []string{"gather, eq. 8", "mean ≤ 8%, worst ≤ 35%", "no gather", "", "", ""}, verdict: outside}
	if len(errs) == 0 {
		return []line{l}
	}
	l.cells[2] = fmt.Sprintf("mean %.1f%%, worst %.1f%%", 100*stats.Mean(errs), 100*slices.Max(errs))
	l.cells[3], l.cells[4] = fmt.Sprintf("%d gathers", len(errs)), at
	if stats.Mean(errs) <= mean && slices.Max(errs) <= worst {
		l.verdict = good
	}
	return []line{l}
}

// longer is by how many times a run is longer that stands for the truth where nobody knows it.
const longer = 20

// longRuns are the numbers of such runs, by network.
var longRuns = map[string]map[string]float64{}

// truthOf is what is known of the network of a run of a minute, or what a run of twenty minutes says of it.
func truthOf(t *testing.T, r run) map[string]float64 {
	t.Helper()
	if r.network.spec != nil {
		return r.network.spec.TrueParameters()
	}
	if longRuns[r.network.name] == nil {
		flags := slices.Clone(r.flags)
		flags[slices.Index(flags, "1m")] = fmt.Sprintf("%dm", longer)
		long := calibrate(t, r.calib, r.network, place(t, "long-"+r.network.name), false, flags...)
		found := map[string]float64{}
		for _, name := range append(slices.Clone(record), "a_prime", "b_prime") {
			if q := long.p.Parameters[name]; q.Value != nil {
				found[name] = *q.Value
			}
		}
		longRuns[r.network.name] = found
	}
	return longRuns[r.network.name]
}

// withHosts is a truth in the interval with what hosts add to it, and not without.
const withHosts = "in, with what hosts add"

// covered says of each parameter that has a value whether its interval holds the truth, give or take what the lab's
// hosts add to the network. shares judges them.
func covered(t *testing.T, r run) (out []line) {
	truths := truthOf(t, r)
	for _, name := range slices.Sorted(maps.Keys(truths)) {
		if q, there := r.p.Parameters[name]; !there || q.Value == nil {
			continue
		}
		e := estimateOf(r.p, name)
		l := beside(name, truths[name], e, math.NaN())
		add := selfcheck.HostsAdd(name)
		if r.network.spec == nil {
			add = 0
		}
		if l.value = e.value; e.ci != nil {
			l.half = (e.ci[1] - e.ci[0]) / 2
		}
		switch l.cells[5] = "± " + units.Format(add, e.unit); {
		case e.ci == nil:
			l.verdict = "no interval"
		case e.ci[0] <= truths[name] && truths[name] <= e.ci[1]:
			l.verdict = "in"
		case e.ci[0]-add <= truths[name] && truths[name] <= e.ci[1]+add:
			l.verdict = withHosts
		default:
			l.verdict = "out"
		}
		out = append(out, l)
	}
	return out
}

// shares counts by network and parameter how often the interval of a run held the truth, and fails where that is below
// 90%, or where the intervals are wider than twice the scatter of the runs.
func shares(t *testing.T, lines []line) string {
	const enough, widest = 0.9, 2
	var keys []string
	counts := map[string]map[string]int{} // verdicts
	values, halves := map[string][]float64{}, map[string][]float64{}
	for _, l := range lines {
		key := fmt.Sprintf("%s | %s | %s", l.network, l.cells[0], l.cells[1])
		if counts[key] == nil {
			counts[key], keys = map[string]int{}, append(keys, key)
		}
		counts[key][l.verdict]++
		values[key], halves[key] = append(values[key], l.value), append(halves[key], l.half)
	}
	text := tableHead("network | parameter | truth | in the 95% interval | without what hosts add | no interval | " +
		"half-width | runs scatter | ")
	for _, key := range keys {
		n, verdict := counts[key], good
		in, all := n["in"]+n[withHosts], n["in"]+n[withHosts]+n["out"]
		half, scatter := stats.Median(halves[key])/stats.Median(values[key]), scattering(values[key])
		if half > widest*scatter {
			verdict = "**wide**"
			t.Errorf("%s: ± %.2g%%, and runs scatter by %.2g%%", key, 100*half, 100*scatter)
		}
		if float64(in) < enough*float64(all) {
			verdict = "**below**"
			t.Errorf("%s: %d of %d intervals hold the truth", key, in, all)
		}
		text += fmt.Sprintf("| %s | %d of %d | %d of %d | %d | ± %.2g%% | ± %.2g%% | %s |\n", key, in, all, n["in"], all,
			n["no interval"], 100*half, 100*scatter, verdict)
	}
	return text
}

const predictedHeader = "pattern | model | times | mean | worst | in the interval"

// predicted says how far each model is from the patterns of a run. The simulation must be near.
func predicted(_ *testing.T, r run) (out []line) {
	const mean, worst = 0.05, 0.10
	var patterns []string
	for _, v := range r.p.Validation {
		if !slices.Contains(patterns, v.Pattern) {
			patterns = append(patterns, v.Pattern)
		}
	}
	simulated := lists.Where(r.p.Validation, func(v params.Validation) bool {
		return strings.HasPrefix(v.Model, params.SimWarm)
	})
	best, _ := params.BestOf(simulated)
	for _, name := range append(patterns, "all") {
		rows := lists.Where(r.p.Validation, func(v params.Validation) bool { return name == "all" || v.Pattern == name })
		for _, m := range params.ModelsOf(r.p.Validation) {
			g, ok := params.GradeOf(rows, m, "")
			if !ok {
				continue
			}
			l := line{cells: []string{name, m, strconv.Itoa(g.N), percent(g.Mean), percent(g.Worst),
				fmt.Sprintf("%d of %d", g.Covered, g.N)}}
			if name == "all" && m == best.Model {
				if l.verdict = good; g.Mean > mean || g.Worst > worst {
					l.verdict = outside
				}
			}
			out = append(out, l)
		}
	}
	if best.N == 0 {
		out = append(out, line{cells: []string{"all", "sim", "0", "", "", "nothing was predicted"}, verdict: outside})
	}
	return out
}

func percent(v float64) string { return fmt.Sprintf("%.1f%%", 100*v) }

// The true numbers of networks are expected, and intervals that miss are counted.
func TestExpectations(t *testing.T) {
	shared, switched := find(t, "sparc1994:8", false), find(t, "switch:8", false)
	number := func(v, lo, hi float64) params.Parameter {
		return params.Parameter{Value: &v, CI95: &[2]float64{lo, hi}, Unit: "s", Status: params.StatusOK}
	}
	none := params.Parameter{Status: params.StatusUnidentifiable, Unit: "s/B"}
	numbersOf := func(a, b, ac, bc params.Parameter) map[string]params.Parameter {
		return map[string]params.Parameter{"a": a, "b": b, "a_c": ac, "b_c": bc, "alpha": number(1, 1, 2)}
	}
	verdicts := func(lines []line) (out string) {
		for _, l := range lines {
			out += l.cells[0] + " " + l.verdict + ", "
		}
		return out
	}
	measured := numbersOf(number(862e-6, 855e-6, 870e-6), none, number(345e-6, 344e-6, 345.5e-6),
		number(0.93e-6, 0.9e-6, 1e-6))
	for _, c := range []struct {
		n          network
		parameters map[string]params.Parameter
		want       string
	}{
		{shared, measured, "a ok, b **outside**, a_c ok, b_c **outside**, "},
		{switched, numbersOf(number(529e-6, 1, 2), number(0.6e-6, 0, 1), number(4e-6, -1e-6, 9e-6), none),
			"a ok, b ok, a_c ok, b_c ok, "},
		{switched, numbersOf(number(541e-6, 1, 2), none, number(4e-6, 1e-6, 9e-6), number(1, 0, 1)),
			"a **outside**, b **outside**, a_c **outside**, b_c **outside**, "},
	} {
		r := run{network: c.n, p: &params.Params{Parameters: c.parameters}}
		if got := verdicts(numbers("a b a_c b_c B_L")(t, r)); got != c.want {
			t.Errorf("%s: %s, want %s", c.n.name, got, c.want)
		}
	}
	r := run{network: shared, p: &params.Params{Parameters: measured}}
	lines := covered(t, r)
	if got, want := verdicts(lines), "a in, a_c out, b_c in, "; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if text := shares(t, lines[:1]); !strings.Contains(text, "| a | 859.5 µs | 1 of 1 | 1 of 1 | 0 | ± 0.87% |") {
		t.Error(text)
	}
}
