package incast

import (
	"math"
	"slices"
	"sync"
	"testing"

	"calib/bench"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/netspec"
	"calib/internal/units"
	"calib/transport/sim"
)

// Arrivals are as far apart as the port takes for a message, however much faster the senders are.
func TestArrivalsAreThePort(t *testing.T) {
	s := incastSpec(5)
	for _, m := range []int64{1, 100, 1000} {
		for _, senders := range []int64{2, 4} {
			n := sim.New(s, sim.Options{ClockOffset: units.Second})
			lines := incastLines(t, Gather, n, bench.Point{names.FactorBytes: m, names.FactorSenders: senders,
				names.FactorStream: 1}, 0.2, names.PhaseArrivals, nil)
			if len(lines) != 1 || len(lines[0].Flags) > 0 {
				t.Fatalf("%d B from %d: %+v", m, senders, lines)
			}
			line, want := lines[0], s.Service(s.Medium, int(m))*1e9
			if got := line.Aux[names.AuxWindow] / line.Aux[names.AuxWindowMessages]; math.Abs(got-want) > 0.01 {
				t.Errorf("%d B from %d senders: g_r is %.3f ns, the port takes %.3f", m, senders, got, want)
			}
			for _, ns := range line.NS {
				if math.Abs(float64(ns)-want) > 1 {
					t.Errorf("%d B from %d senders: an interval of %d ns, the port takes %.3f", m, senders, ns, want)
				}
			}
			if got := float64(line.TCP.DataSegsOut) - line.Aux[names.AuxMessages]; got != 0 || line.TCP.Retrans != 0 {
				t.Errorf("%d B from %d senders: %g segments too many, %d lost", m, senders, got, line.TCP.Retrans)
			}
			if len(line.NS) < 20 || len(line.Ranks) != int(senders)+1 ||
				line.Aux[names.AuxMessages] < line.Aux[names.AuxWindowMessages] {
				t.Errorf("%d B from %d senders: %+v", m, senders, line)
			}
		}
	}
}

// One sender does not saturate the port: then its own gap is what arrives.
func TestArrivalsOfOneSender(t *testing.T) {
	s := incastSpec(2)
	s.Host, s.Medium = s.Medium, s.Host
	line := incastLines(t, Gather, sim.New(s, sim.Options{}),
		bench.Point{names.FactorBytes: 500, names.FactorSenders: 1, names.FactorStream: 1}, 0.2, names.PhaseArrivals, nil)[0]
	if got, want := line.Aux[names.AuxWindow]/line.Aux[names.AuxWindowMessages],
		s.Service(s.Host, 500)*1e9; math.Abs(got-want) > 0.01 {
		t.Errorf("g_r is %.3f ns, the only sender takes %.3f", got, want)
	}
}

// A gather without a loss takes what the packets of all senders take through the blocks, one after the other.
func TestGatherIsExact(t *testing.T) {
	const senders = 3
	s := incastSpec(senders + 1)
	for _, packets := range []int{1, 4, 20} {
		bytes := 1000 * packets
		var port []float64
		for i := range packets {
			for range senders {
				port = append(port, float64(i+1)*s.Service(s.Host, 1000))
			}
		}
		in := queue(&s, s.Medium, port, 1000, 0)
		for i := range in {
			in[i] += s.L
		}
		out := queue(&s, *s.Receive, in, 1000, 0)
		want := out[len(out)-1] * 1e9
		p := bench.Point{names.FactorBytes: int64(bytes), names.FactorSenders: senders, names.FactorWindow: senders}
		line := incastLines(t, Gather, sim.New(s, sim.Options{}), p, 1, names.PhaseGather, nil)[0]
		if len(line.NS) < 2 || line.TCP.DataSegsOut != int64(senders*packets*len(line.NS)) {
			t.Errorf("%d packets each: %+v", packets, line)
		}
		for _, ns := range line.NS {
			if math.Abs(float64(ns)-want) > 1 {
				t.Errorf("%d packets each: %d ns, want %.1f", packets, ns, want)
			}
		}
	}
}

// witness notes when each sender's messages to the root begin and end.
type witness struct {
	bench.Group
	bytes int
	seen  *sendings
}

type sendings struct {
	mu   sync.Mutex
	over map[units.Nanos]int // change in the number of those that send
}

func (w *witness) Send(to int, b []byte) error {
	if to != 0 || len(b) != w.bytes {
		return w.Group.Send(to, b)
	}
	begun := w.Now()
	err := w.Group.Send(to, b)
	w.seen.mu.Lock()
	defer w.seen.mu.Unlock()
	w.seen.over[begun]++
	w.seen.over[w.Now()]--
	return err
}

// Algorithm 1 lets no more than w send at a time, and so many whenever there are.
func TestGatherWindow(t *testing.T) {
	const senders, bytes = 5, 20_000
	for window := 1; window <= senders; window++ {
		seen := &sendings{over: map[units.Nanos]int{}}
		n := sim.New(incastSpec(senders+1), sim.Options{SendBuffer: 1000})
		p := bench.Point{names.FactorBytes: bytes, names.FactorSenders: senders, names.FactorWindow: int64(window)}
		line := incastLines(t, Gather, n, p, 0.5, names.PhaseGather,
			func(g bench.Group) bench.Group { return &witness{g, bytes, seen} })[0]
		if len(line.Flags) > 0 {
			t.Errorf("window %d: %+v", window, line)
		}
		var times []units.Nanos
		for at := range seen.over {
			times = append(times, at)
		}
		slices.Sort(times)
		now, most := 0, 0
		for _, at := range times {
			now += seen.over[at]
			most = max(most, now)
		}
		if most != window {
			t.Errorf("window %d: %d sent at a time", window, most)
		}
	}
}

// Where the port's buffer is small, all at once lose packets and wait for them, while the coordinated lose none.
func TestGatherContention(t *testing.T) {
	const senders = 4
	s := incastSpec(senders + 1)
	s.Medium, s.Host = s.Host, s.Medium // one sender does not fill the port
	s.Buffer = 6
	run := func(window int64) dataset.Sample {
		n := sim.New(s, sim.Options{SendBuffer: 1000, RTO: 5 * units.Millisecond})
		return incastLines(t, Gather, n, bench.Point{names.FactorBytes: 60_000, names.FactorSenders: senders,
			names.FactorWindow: window}, 1, names.PhaseGather, nil)[0]
	}
	together, alone := run(senders), run(1)
	if together.TCP.Retrans == 0 || !together.Has(dataset.FlagRetrans) {
		t.Errorf("all at once: %+v", together)
	}
	if alone.TCP.Retrans != 0 || len(alone.Flags) > 0 {
		t.Errorf("one at a time: %+v", alone)
	}
}

// A gather that would take longer than its limit is not begun: the line says how long it would have been.
func TestGatherIsSkipped(t *testing.T) {
	s := incastSpec(3)
	s.Medium = netspec.Block{A: 8e-3, B: 8e-6}
	p := bench.Point{names.FactorBytes: 1 << 20, names.FactorSenders: 2, names.FactorWindow: 2}
	lines := incastLines(t, Gather, sim.New(s, sim.Options{}), p, 1, names.PhaseSkipped, nil)
	if want := 2 * 1049 * 8e6; len(lines) != 1 || math.Abs(float64(lines[0].NS[0])-want) > 0.05*want {
		t.Errorf("%+v, want about %g ns", lines, want)
	}
}

func TestGatherDesign(t *testing.T) {
	windows := func(points []bench.Point, senders, bytes int64) (out []int64) {
		for _, p := range points {
			if p[names.FactorSenders] == senders && p[names.FactorBytes] == bytes && p[names.FactorStream] == 0 {
				out = append(out, p[names.FactorWindow])
			}
		}
		return out
	}
	all := Gather.Design(bench.Limits{Hosts: 9})
	for _, c := range []struct {
		senders, bytes int64
		want           []int64
	}{
		{8, 1, []int64{8}}, {8, 1 << 20, []int64{1, 2, 3, 4, 5, 7, 8}}, {3, 1024, []int64{1, 2, 3}}, {5, 1024, []int64{5}},
		{1, 65536, []int64{1}}, {9, 1024, nil},
	} {
		if got := windows(all, c.senders, c.bytes); !slices.Equal(got, c.want) {
			t.Errorf("%d senders of %d B: windows %v, want %v", c.senders, c.bytes, got, c.want)
		}
	}
	for _, p := range Gather.Design(bench.Limits{Hosts: 300}) {
		if p[names.FactorBytes]*p[names.FactorSenders] > int64(maxBytes) || p[names.FactorStream] != 0 &&
			p[names.FactorBytes] > int64(bench.EthernetSegment) {
			t.Errorf("%v gathers too much", p)
		}
	}
	if got := Gather.Design(bench.Limits{Hosts: 1}); got != nil {
		t.Errorf("one host: %v", got)
	}
	for _, p := range Gather.Design(bench.Limits{Hosts: 3, Sizes: []units.Bytes{7, 9000}}) {
		if p[names.FactorBytes] != 7 && (p[names.FactorBytes] != 9000 || p[names.FactorStream] != 0) {
			t.Errorf("with sizes 7 and 9000: %v", p)
		}
	}
}
