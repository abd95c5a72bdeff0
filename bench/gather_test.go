package bench

import (
	"math"
	"slices"
	"sync"
	"testing"

	"calib/internal/dataset"
	"calib/internal/netspec"
	"calib/internal/units"
	"calib/transport/sim"
)

// funnelSpec is a switch whose port is half as slow again as a host, so that two senders saturate it.
func funnelSpec(hosts int) netspec.Spec {
	fast := netspec.Block{A: us, B: 0.001 * us}
	return netspec.Spec{
		Name: "funnel", Hosts: hosts, Mode: netspec.Switched, MSS: 1000, L: 40 * us,
		Host: netspec.Block{A: 20 * us, B: 0.06 * us}, Medium: netspec.Block{A: 30 * us, B: 0.09 * us}, Receive: &fast,
	}
}

func senderTeam(senders int) []int {
	team := make([]int, senders+1)
	for i := range team {
		team[i] = i
	}
	return team
}

// linesOf runs one point and returns the lines of a phase.
func linesOf(t *testing.T, n *sim.Net, exp string, p Point, effort float64, phase string, wrap func(Group) Group) []dataset.Sample {
	t.Helper()
	slot := Slot{Exp: exp, Teams: [][]int{senderTeam(int(p["senders"]))}, Points: []Point{p}}
	var out []dataset.Sample
	for _, line := range mustPerform(t, n, slot, effort, wrap)[0] {
		if line.Phase == phase {
			out = append(out, line)
		}
	}
	return out
}

// queue passes packets of m bytes that reach a server at the given times through it, and returns when they leave. room is that
// of its buffer, the packet in service included; 0 is unlimited. Packets without room are lost.
func queue(s *netspec.Spec, b netspec.Block, at []float64, m, room int) []float64 {
	var left []float64
	free := 0.0
	for _, t := range at {
		inside := 0
		for _, l := range left {
			if l > t+1e-12 {
				inside++
			}
		}
		if room > 0 && inside >= room {
			continue
		}
		free = max(free, t) + s.Service(b, m)
		left = append(left, free)
	}
	return left
}

// Arrivals are as far apart as the port takes for a message, however much faster the senders are.
func TestArrivalsAreThePort(t *testing.T) {
	s := funnelSpec(5)
	for _, m := range []int64{1, 100, 1000} {
		for _, senders := range []int64{2, 4} {
			n := sim.New(s, sim.Options{ClockOffset: units.Second})
			lines := linesOf(t, n, "gather", Point{"bytes": m, "senders": senders, "stream": 1}, 0.2, "arrivals", nil)
			if len(lines) != 1 || len(lines[0].Flags) > 0 {
				t.Fatalf("%d B from %d: %+v", m, senders, lines)
			}
			line, want := lines[0], s.Service(s.Medium, int(m))*1e9
			if got := line.Aux["window_ns"] / line.Aux["window_messages"]; math.Abs(got-want) > 0.01 {
				t.Errorf("%d B from %d senders: g_r is %.3f ns, the port takes %.3f", m, senders, got, want)
			}
			for _, ns := range line.NS {
				if math.Abs(float64(ns)-want) > 1 {
					t.Errorf("%d B from %d senders: an interval of %d ns, the port takes %.3f", m, senders, ns, want)
				}
			}
			if got := float64(line.TCP.DataSegsOut) - line.Aux["messages"]; got != 0 || line.TCP.Retrans != 0 {
				t.Errorf("%d B from %d senders: %g segments too many, %d lost", m, senders, got, line.TCP.Retrans)
			}
			if len(line.NS) < 20 || len(line.Ranks) != int(senders)+1 || line.Aux["messages"] < line.Aux["window_messages"] {
				t.Errorf("%d B from %d senders: %+v", m, senders, line)
			}
		}
	}
}

// One sender does not saturate the port: then its own gap is what arrives.
func TestArrivalsOfOneSender(t *testing.T) {
	s := funnelSpec(2)
	s.Host, s.Medium = s.Medium, s.Host
	line := linesOf(t, sim.New(s, sim.Options{}), "gather", Point{"bytes": 500, "senders": 1, "stream": 1}, 0.2, "arrivals", nil)[0]
	if got, want := line.Aux["window_ns"]/line.Aux["window_messages"], s.Service(s.Host, 500)*1e9; math.Abs(got-want) > 0.01 {
		t.Errorf("g_r is %.3f ns, the only sender takes %.3f", got, want)
	}
}

// A gather without a loss takes what the packets of all senders take through the blocks, one after the other.
func TestGatherIsExact(t *testing.T) {
	const senders = 3
	s := funnelSpec(senders + 1)
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
		p := Point{"bytes": int64(bytes), "senders": senders, "window": senders}
		line := linesOf(t, sim.New(s, sim.Options{}), "gather", p, 1, "gather", nil)[0]
		if len(line.NS) < 2 || line.Aux["reps"] != float64(len(line.NS)) || line.TCP.DataSegsOut != int64(senders*packets*len(line.NS)) {
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
	Group
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
		n := sim.New(funnelSpec(senders+1), sim.Options{SendBuffer: 1000})
		p := Point{"bytes": bytes, "senders": senders, "window": int64(window)}
		line := linesOf(t, n, "gather", p, 0.5, "gather", func(g Group) Group { return &witness{g, bytes, seen} })[0]
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
	s := funnelSpec(senders + 1)
	s.Medium, s.Host = s.Host, s.Medium // one sender does not fill the port
	s.Buffer = 6
	run := func(window int64) dataset.Sample {
		n := sim.New(s, sim.Options{SendBuffer: 1000, RTO: 5 * units.Millisecond})
		return linesOf(t, n, "gather", Point{"bytes": 60_000, "senders": senders, "window": window}, 1, "gather", nil)[0]
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
	s := funnelSpec(3)
	s.Medium = netspec.Block{A: 8e-3, B: 8e-6}
	p := Point{"bytes": 1 << 20, "senders": 2, "window": 2}
	lines := linesOf(t, sim.New(s, sim.Options{}), "gather", p, 1, phaseSkipped, nil)
	if want := 2 * 1049 * 8e6; len(lines) != 1 || math.Abs(float64(lines[0].NS[0])-want) > 0.05*want {
		t.Errorf("%+v, want about %g ns", lines, want)
	}
	if (Gather{}).Steers(phaseSkipped) || !(Gather{}).Steers("gather") {
		t.Error("what was skipped decides when the point stops, or what was measured does not")
	}
}

func TestGatherDesign(t *testing.T) {
	windows := func(points []Point, senders, bytes int64) (out []int64) {
		for _, p := range points {
			if p["senders"] == senders && p["bytes"] == bytes && p["stream"] == 0 {
				out = append(out, p["window"])
			}
		}
		return out
	}
	all := Gather{}.Design(Limits{Hosts: 9})
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
	for _, p := range (Gather{}).Design(Limits{Hosts: 300}) {
		if p["bytes"]*p["senders"] > int64(gatherMost) || p["stream"] != 0 && p["bytes"] > segmentMost {
			t.Errorf("%v gathers too much", p)
		}
	}
	if got := (Gather{}).Design(Limits{Hosts: 1}); got != nil {
		t.Errorf("one host: %v", got)
	}
	for _, p := range (Gather{}).Design(Limits{Hosts: 3, Sizes: []units.Bytes{7, 9000}}) {
		if p["bytes"] != 7 && (p["bytes"] != 9000 || p["stream"] != 0) {
			t.Errorf("with sizes 7 and 9000: %v", p)
		}
	}
}

func TestUpTo(t *testing.T) {
	for _, c := range []struct {
		most, count int
		want        []int
	}{
		{0, 8, nil}, {1, 8, []int{1}}, {5, 8, []int{1, 2, 3, 4, 5}}, {7, 6, []int{1, 2, 3, 4, 5, 7}},
		{15, 8, []int{1, 2, 3, 4, 5, 7, 10, 15}}, {255, 8, []int{1, 2, 5, 11, 24, 52, 116, 255}},
	} {
		if got := upTo(c.most, c.count); !slices.Equal(got, c.want) {
			t.Errorf("up to %d in %d: %v, want %v", c.most, c.count, got, c.want)
		}
	}
}

// Ranks that are read one after the other have stamps that do not ascend. What came when does not depend on that.
func TestInflowOrder(t *testing.T) {
	const base = -5 * units.Second // a clock may read anything
	s := start{At: base, Period: 1000 * units.Microsecond}
	fill := func(order []int) *Batch {
		in := newInflow(s, 2, 10, 10)
		msg := make([]byte, 10)
		for _, i := range order {
			rank := 1 + i%2
			msg[9] = 0
			if i >= 198 {
				msg[9] = 1
			}
			in.take(rank, msg, base+units.Nanos(i+1)*5500)
		}
		b := &Batch{Aux: map[string]float64{}}
		in.into(b, in.ended)
		if in.open != 0 || in.interval() != 5500 {
			t.Errorf("%d streams are open, a message every %v", in.open, in.interval())
		}
		return b
	}
	var turns, behind []int
	for i := range 200 {
		turns = append(turns, i)
	}
	for block := 0; block < 200; block += 20 { // one rank's ten, then the other's
		for rank := range 2 {
			for i := range 10 {
				behind = append(behind, block+2*i+rank)
			}
		}
	}
	a, b := fill(turns), fill(behind)
	if !slices.Equal(a.NS, b.NS) || a.Aux["window_ns"] != b.Aux["window_ns"] || len(a.Flags) > 0 {
		t.Errorf("%+v\n%+v", a, b)
	}
	if got := a.Aux["window_ns"] / a.Aux["window_messages"]; got != 5500 {
		t.Errorf("a message every %g ns, want 5500", got)
	}
	if got := a.Aux["averaged"] * float64(len(a.NS)); math.Abs(got-a.Aux["window_messages"]) > 1e-9 {
		t.Errorf("%d intervals of %g messages are not %g", len(a.NS), a.Aux["averaged"], a.Aux["window_messages"])
	}
}
