package harness

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"

	"calib/internal/stats"
	"calib/internal/units"
	"calib/params"
)

const pathsHeader = "path | number | calib, median of runs | half-width of its intervals, median | calib's runs " +
	"scatter | " +
	"the other | it scatters | allowed half-width | width | median"

// allowedWidth is the half-width that a number may have, by the budget.
var allowedWidth = map[string]float64{"30s": 0.08, "2m": 0.04}

// besides are the programs that say the same as a number of calib's.
var besides = []struct{ number, unit, other string }{
	{"alpha", "s", "NPtcp"}, {"T(1 B)", "s", "NPtcp"}, {"T(1024 B)", "s", "NPtcp"}, {"T(65536 B)", "s", "NPtcp"},
	{"b_prime", "s/B", "iperf3"}, {"p50", "s", "sockperf"}, {"p99", "s", "sockperf"},
}

// halfWidth names the half-width of the interval of a number, relative.
func halfWidth(number string) string { return "± " + number }

// pathNumbers are calib's numbers of a run on a path of two hosts, with their half-widths.
func pathNumbers(p *params.Params) map[string]float64 {
	out := map[string]float64{}
	set := func(name string, v float64, ci *[2]float64) {
		half := math.Inf(1)
		if ci != nil && v > 0 {
			half = (ci[1] - ci[0]) / 2 / v
		}
		out[name], out[halfWidth(name)] = v, half
	}
	for _, name := range []string{"alpha", "b_prime", "p99"} {
		if e := estimateOf(p, name); e.has {
			set(name, e.value, e.ci)
		}
	}
	for _, r := range p.Times() {
		set(fmt.Sprintf("T(%.0f B)", r.X), r.Measured, &[2]float64{r.Lo, r.Hi})
	}
	out["p50"], out[halfWidth("p50")] = out["T(1 B)"], out[halfWidth("T(1 B)")]
	return out
}

// path calibrates the path of c.
func (c *contest) path(ctx context.Context, seed int) (map[string]float64, error) {
	p, err := c.calibrated(ctx, seed)
	if err != nil {
		return nil, err
	}
	return pathNumbers(p), nil
}

// others measures the path of c by the other programs, within the same minute.
func (c *contest) others(ctx context.Context, control string) (map[string]float64, error) {
	out, err := inIperf3(ctx, c, control)
	if err != nil {
		return nil, err
	}
	np, err := importNPtcp(ctx, c)
	if err != nil {
		return nil, err
	}
	for name, v := range np {
		if name != "b_prime" {
			out[name] = v
		}
	}
	file, err := c.sockperf(ctx, strconv.Itoa(sockperfLeast), "2")
	if err != nil {
		return nil, err
	}
	times, err := halfTrips(file)
	if err != nil {
		return nil, err
	}
	slices.Sort(times)
	out["p50"], out["p99"] = stats.SortedQuantile(times, 0.5), stats.SortedQuantile(times, 0.99)
	return out, nil
}

// scattering is half of the range that holds 95% of runs like some, relative to their median: of the normal
// distribution with their standard deviation.
func scattering(v []float64) float64 {
	return 1.96 * stat.StdDev(v, nil) / stats.Median(v)
}

// pathRows compares the runs on a path with those of the others. A width fails that is above what is allowed and above
// twice the others' scatter; a median that is further from theirs than both scatter.
func pathRows(t *testing.T, p *table, path, budget string, turns [][2]map[string]float64) {
	t.Helper()
	for _, b := range besides {
		var values, halves, other []float64
		for _, n := range turns {
			if v := n[0][b.number]; v > 0 {
				values, halves = append(values, v), append(halves, n[0][halfWidth(b.number)])
			}
			if v := n[1][b.number]; v > 0 {
				other = append(other, v)
			}
		}
		if len(values) == 0 || len(other) == 0 {
			p.add(t, fmt.Sprintf("| %s | %s | – | – | – | – | – | – | %s | %s |", path, b.number, outside, outside))
			t.Errorf("%s: no %s", path, b.number)
			continue
		}
		half, own, its := stats.Median(halves), scattering(values), scattering(other)
		most := max(allowedWidth[budget], 2*its)
		width, median := good, good
		if half > most {
			width = "**wide**"
		}
		within := math.Max(most, own+its)
		ratio := stats.Median(values) / stats.Median(other)
		if math.Abs(ratio-1) > within {
			median = "**off**"
		}
		if width != good || median != good {
			t.Errorf("%s, %s: ± %s, ratio %.3f", path, b.number, percent(half), ratio)
		}
		p.add(t, fmt.Sprintf("| %s | %s | %s | ± %s | ± %s | %s %s | ± %s | %s | %s | %.3f %s |", path, b.number,
			units.Format(stats.Median(values), b.unit), percent(half), percent(own), b.other,
			units.Format(stats.Median(other), b.unit), percent(its), percent(most), width, ratio, median))
	}
}

// A wide interval and a median that is off fail, unless the others scatter as much.
func TestPathRows(t *testing.T) {
	var turns [][2]map[string]float64
	for i := range 3 {
		v := 1e-6 * (1 + 0.01*float64(i))
		n, o := map[string]float64{}, map[string]float64{}
		for _, b := range besides {
			n[b.number], n[halfWidth(b.number)], o[b.number] = v, 0.03, v
		}
		turns = append(turns, [2]map[string]float64{n, o})
	}
	p := &table{}
	pathRows(t, p, "here", "30s", turns)
	if len(p.rows) != len(besides) || !strings.HasSuffix(p.rows[0], "| 8.0% | ok | 1.000 ok |") {
		t.Errorf("%q", p.rows)
	}
}
