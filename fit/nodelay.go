package fit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"calib/internal/dataset"
	"calib/internal/stats"
	"calib/internal/units"
)

// Nodelay is what Nagle's algorithm costs, by message size and by how many writes a message is sent in:
//
//	cost(x, writes) = T with Nagle/T without − 1,  T half the round trip of x bytes.
//
// The settings whose cost is above 20% with its whole interval become parameters nagle_cost_<x>_<writes>w [1], such as
// nagle_cost_1449B_2w; nagle_costly counts them. Messages that Nagle's algorithm holds back until the peer's delayed
// acknowledgement are recognised by how long: 40 ms on Linux, 200 ms elsewhere, or half of it where one message of a round
// trip is held. Source: Nagle 1984, RFC 896; Strumpen 1994, section 3.1 (TCP_NODELAY).
type Nodelay struct{}

// Name implements Model.
func (Nodelay) Name() string { return "nodelay" }

// Needs implements Model.
func (Nodelay) Needs() []string { return []string{"nodelay"} }

const (
	// costly is the cost above which Nagle's algorithm is worth a warning.
	costly = 0.2
	// manyStalls is the share of messages from which a stall is named.
	manyStalls = 0.05
)

// stalls are the times a delayed acknowledgement holds a message back, with what it means for half a round trip [s].
var stalls = [...]struct {
	lo, hi float64
	name   string
}{
	{35e-3, 45e-3, "40 ms, every message"},
	{17.5e-3, 22.5e-3, "40 ms, one message of a round trip"},
	{180e-3, 220e-3, "200 ms, every message"},
	{90e-3, 110e-3, "200 ms, one message of a round trip"},
}

type nagleKey struct{ bytes, writes, nagle int64 }

// Fit implements Model. It returns ErrNeeds where no setting was measured both with and without.
func (m Nodelay) Fit(d *dataset.Dataset, s Settings) (*Fit, error) {
	f := newFit(m.Name(), "nodelay", "RFC 896; Strumpen 1994, section 3.1")
	slow := findSlow(d)
	f.Warnings = append(f.Warnings, slow.said...)
	lines := f.linesOf(d, "nodelay", "", slow)
	g, raw := &grid[nagleKey]{}, map[nagleKey][]float64{}
	for i := range lines {
		if k, ok := nagleKeyOf(lines[i].lines[0]); ok {
			g.addLine(k, &lines[i])
			raw[k] = append(raw[k], seconds(lines[i].lines[0].NS)...)
		}
	}
	var with []nagleKey
	for k := range g.index {
		if _, both := g.index[k.without()]; both && k.nagle == 1 {
			with = append(with, k)
		}
	}
	if len(with) == 0 {
		return nil, needs(m.Name(), "no message measured with Nagle's algorithm and without it, both without loss")
	}
	f.account(d, lines)
	t, err := g.resample(s.replicates(), s.seed(d, m.Name()))
	if err != nil {
		return nil, err
	}
	f.sayRounds(t.rounds)
	slices.SortFunc(with, func(a, b nagleKey) int {
		return cmp.Or(cmp.Compare(a.writes, b.writes), cmp.Compare(a.bytes, b.bytes))
	})
	f.nagle(t, g, with)
	f.noteStalls(t, g, with, raw)
	f.judgeTable()
	return f, nil
}

// nagleKeyOf reads the setting of a line: its size is aux "bytes", or the point's.
func nagleKeyOf(l *dataset.Sample) (nagleKey, bool) {
	k := nagleKey{l.Point["bytes"], max(1, l.Point["writes"]), l.Point["nagle"]}
	if b := l.Aux["bytes"]; b > 0 {
		k.bytes = int64(b)
	}
	return k, k.bytes > 0
}

func (k nagleKey) without() nagleKey { return nagleKey{k.bytes, k.writes, 0} }

func (k nagleKey) String() string {
	return fmt.Sprintf("%s in %s", sizeWords(k.bytes), units.Plural(k.writes, "write"))
}

// nagle records the costs.
func (f *Fit) nagle(t *sampled, g *grid[nagleKey], with []nagleKey) {
	var at []string
	for _, k := range with {
		on, off := g.index[k], g.index[k.without()]
		cost := func(v []float64) ([]float64, error) { return []float64{v[on]/v[off] - 1}, nil }
		v, _ := cost(t.values)
		ci := t.interval(v[0], t.apply(cost), 0)
		writes := units.Plural(k.writes, "write")
		f.tabulated(t, "T(x), "+writes+", Nagle", float64(k.bytes), on)
		f.tabulated(t, "T(x), "+writes+", no delay", float64(k.bytes), off)
		f.widenDomain("bytes", float64(k.bytes))
		f.widenDomain("writes", float64(k.writes))
		if ci[0] > costly {
			f.found(fmt.Sprintf("nagle_cost_%s_%dw", sizeName(k.bytes), k.writes), "1",
				"how much longer "+k.String()+" takes with Nagle's algorithm", v[0], ci)
			at = append(at, fmt.Sprintf("%s (%+.0f%%)", k, 100*v[0]))
		}
	}
	n := float64(len(at))
	f.found("nagle_costly", "1", "settings measured at which Nagle's algorithm costs more than 20%", n, [2]float64{n, n})
	p := f.Parameters["nagle_costly"]
	p.Why = "no interval: a count of settings"
	f.Parameters["nagle_costly"] = p
	if len(at) == 0 {
		f.note("Nagle's algorithm costs more than 20%% at none of the %d settings measured", len(with))
		return
	}
	f.note("Nagle's algorithm costs more than 20%% at %d of %d settings: %s", len(at), len(with), strings.Join(at, ", "))
}

// noteStalls names the delayed acknowledgements among the timings with Nagle's algorithm.
func (f *Fit) noteStalls(t *sampled, g *grid[nagleKey], with []nagleKey, raw map[nagleKey][]float64) {
	for _, stall := range stalls {
		var at []string
		for _, k := range with {
			usual, n := t.values[g.index[k.without()]], 0
			for _, v := range raw[k] {
				if held := v - usual; held >= stall.lo && held <= stall.hi {
					n++
				}
			}
			if share := float64(n) / float64(len(raw[k])); share >= manyStalls {
				at = append(at, fmt.Sprintf("%s (%.0f%% of them, median %s)", k, 100*share, millis(stats.Median(raw[k]))))
			}
		}
		if len(at) > 0 {
			f.note("delayed acknowledgement (%s): %s", stall.name, strings.Join(at, ", "))
		}
	}
}

func millis(s float64) string { return fmt.Sprintf("%.3g ms", s*1e3) }
