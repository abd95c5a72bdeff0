package harness

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"calib/fit/cluster"
	"calib/internal/units"
	"calib/params"
)

// clusterPaper rebuilds Tam, Wang 2000.
func clusterPaper(m stored) paper {
	p := paper{key: "hku", figures: 5, tables: 1, rows: slices.Concat(treeRows(), tableRows(m["hku-table"]),
		gatherRows(m["hku-gather4"], m["hku-gather8"], m["hku-gather16"]))}
	if flood := m["hku-flood"]; flood.measured() {
		r := flood.row("Table 1, B_L", "units in the switch", "B_L", "1935 packets")
		p.rows = append(p.rows, r.because(scatter))
	} else {
		p.missing = "| Table 1, B_L | 1935 units in the switch | run hku-flood is not stored yet (make accuracy-table) |\n"
	}
	return p
}

// scatter is the cause of small differences of what the lab was told.
const scatter = "scatter of the medians of a few rounds: the lab was told the paper's value"

// treeRows are the broadcasts of figures 1 and 3, in units of the gap g_s of a packet.
func treeRows() []row {
	const postalBy, by = "Cluster.BroadcastPostal", "Cluster.Broadcast"
	postal := cluster.Cluster{Gs: params.Cost{C0: 1}, L: params.Transfer{L0: 3}, MTU: 1}
	own := postal
	own.Os, own.L, own.Or, own.Ur = params.Cost{C0: 0.4}, params.Transfer{L0: 1.3}, params.Cost{C0: 0.6},
		params.Cost{C0: 0.7}
	return []row{
		{"Figure 1, eq. 1: p = 16, L = 3, g_s = 1", "one packet", "log₂p L = 12",
			is(must(postal.BroadcastPostal(16, 1))), postalBy, ""},
		{"", "k = 4 packets", "log₂p (k g_s + L − g_s) = 24", is(must(postal.BroadcastPostal(16, 4))), postalBy,
			""},
		{"Figure 3, eq. 2: O_s = 0.4, L = 1.3, O_r = 0.6, U_r = 0.7", "one packet, one step", "O_s + L + O_r + U_r = 3",
			is(must(own.Broadcast(2, 1))), by, ""},
		{"", "p = 16, k = 4 packets", "(k − 1) (3 g_s + O_r + U_r) + 4 · 3 = 24.9", is(must(own.Broadcast(16, 4))),
			by, ""},
	}
}

// tableRows are those of table 1 that belong to the network. The terms of L(m, p) share what they explain, so that
// their sum is compared where it was measured, too.
func tableRows(m measurement) []row {
	const (
		whole  = "1.556 p + 16.684 + 0.0826 m max(1, p m/(90 g_s(m))) = "
		lifted = "one line through a network with a least frame (6.73 µs), which lifts the time of small packets and " +
			"so l0"
		limit = "8 hosts reach the limit of 90 B/µs by 9% only: it is not found, and the line has no max(1, …)"
	)
	gs := params.Cost{C0: 3.027e-6, C1: 0.0796e-6}
	onPaper := params.Transfer{L0: 16.684e-6, L1: 1.556e-6, Tau: 0.0826e-6, N: 90e6, Gs: gs}
	fn, ok := m.Functions["L_cluster"]
	if !ok {
		panic(m.lacks("function L_cluster"))
	}
	shape := must(fn.Shape(m.Functions))
	at := func(size, hosts float64, paper, cause string) row {
		what := fmt.Sprintf("L(%s, %g)", digitsOf(size, 5), hosts)
		return row{"", what, paper, is(shape.At(size, hosts) / m.Slowdown), m.by("the function"), ""}.because(cause)
	}
	return []row{
		m.row("Table 1, g_s", "m ≤ 40", "g_s.floor", "6.73 µs").because(scatter),
		m.row("", "m > 40, fixed", "g_s.c0", "3.027 µs").because(scatter),
		m.row("", "m > 40, a byte", "g_s.c1", "0.0796 µs/B").because(scatter),
		m.row("Table 1, g_r", "m ≤ 40", "g_r.floor", "6.73 µs").because(scatter),
		m.row("", "m > 40, fixed", "g_r.c0", "4.986 µs").because(scatter),
		m.row("", "m > 40, a byte", "g_r.c1", "0.0788 µs/B").because(scatter),
		{"Table 1, L(m, p)", "L(1500, 16)", whole + "311.455 µs", is(onPaper.At(1500, 16)), "form.Transfer", ""},
		m.row("", "l0", "L_cluster.l0", "16.684 µs").because(lifted),
		m.row("", "l1, a host", "L_cluster.l1", "1.556 µs").because(lifted),
		m.row("", "tau, a byte", "L_cluster.tau", "0.0826 µs/B").because(lifted),
		at(100, 2, "1.556 p + 16.684 + 0.0826 m = 28.056 µs", lifted),
		at(700, 4, "1.556 p + … = 80.728 µs", lifted),
		at(1400, 2, "1.556 p + … = 135.436 µs", lifted),
		at(1400, 8, "1.556 p + 16.684 + 0.0826 m p m/(90 g_s(m)) = 154.852 µs", limit),
	}
}

// gatherRows are figure 4: eq. 8 against measured gathers of 1 KiB and more from each of p − 1 senders. Everything fits
// in the port's buffer, so that the paper's algorithm lets all send at once.
func gatherRows(all ...measurement) []row {
	var points, small []params.Residual // small: p = 4, 1 KiB
	var names []string
	for _, m := range all {
		if m.measured() {
			names = append(names, m.Name)
		}
		for _, s := range m.Gathers {
			n := s.Factors["senders"]
			if s.Factors["window"] != n || n != 3 && n != 7 && n != 15 {
				continue
			}
			for _, r := range s.Points {
				if r.X >= 1024 {
					points = append(points, r)
				}
				if r.X == 1024 && n == 3 {
					small = append(small, r)
				}
			}
		}
	}
	if len(small) == 0 {
		panic(all[0].lacks("gathers of 1 KiB from 3 senders"))
	}
	largest := slices.MaxFunc(points, func(a, b params.Residual) int { return cmp.Compare(a.X, b.X) }).X
	mean, worst, n := params.Misfit(params.Series{Points: points})
	by := "measured, " + strings.Join(names, ", ") + ": Cluster.GatherTime of each run's own functions"
	return []row{
		{"Figure 4, eq. 8: p = 4, 8, 16", "mean error of the predicted time", "at most 8 %",
			got{value: mean, note: fmt.Sprintf("%d gathers of 1KiB to %s", n, units.Bytes(largest))}, by, ""},
		{"", "largest error", "at most 35 %", is(worst), by, ""},
		{"", "error at p = 4, 1 KB", "at most 35 %", is(math.Abs(small[0].Relative())), by, ""},
	}
}
