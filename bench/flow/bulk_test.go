package flow

import (
	"math"
	stdslices "slices"
	"sync"
	"testing"

	"calib/bench"
	"calib/bench/benchtest"
	"calib/internal/dataset"
	"calib/internal/netspec"
	"calib/internal/plane"
	"calib/internal/units"
	"calib/transport/sim"
)

// runner is an experiment on n pairs that calls a function with each rank's role in direction 0.
func runner(n int, run func(Role)) *bench.Experiment {
	return &bench.Experiment{
		Clocks: true, Size: func(bench.Point) int { return 2 * n }, Run: func(x bench.Team) { run(inPairs(x, 0)) },
	}
}

// countBulk runs a stream of n pairs over k connections each on spec, and returns what receivers saw, by rank. wrap,
// which may be nil, replaces a rank's group.
func countBulk(t *testing.T, spec netspec.Spec, pairs, k int, wrap func(bench.Group) bench.Group) map[int]*counted {
	t.Helper()
	n := benchtest.Net(spec)
	out := map[int]*counted{}
	var mu sync.Mutex
	err := n.Run(bench.FirstHosts(2 * pairs)[0][0], func(rank int, sg *sim.Group) error {
		var g bench.Group = sg
		if wrap != nil {
			g = wrap(g)
		}
		e := runner(pairs, func(x Role) {
			c := bulk{x, k}.run()
			mu.Lock()
			defer mu.Unlock()
			if !x.Sends() {
				out[rank] = c
			}
		})
		_, err := bench.Perform(t.Context(), e, g, bench.Task{Team: bench.FirstHosts(2 * pairs)[0][0], Rank: rank,
			Points: []bench.Point{{}}}, nil)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// perByte is n over the sum of the rates [s/B].
func perByte(all map[int]*counted) float64 {
	rate := 0.0
	for _, c := range all {
		first, second := c.halves()
		rate += (first + second) / c.window.Seconds()
	}
	return float64(len(all)) / rate
}

// The bytes in the window are those that the slowest part of the path carries, within 0.2%, whatever the speed and
// however many pairs and connections share it.
func TestBulkRate(t *testing.T) {
	slow := netspec.Spec{Name: "slow", Hosts: 8, Mode: netspec.Shared, MSS: 1448, L: 100e-6,
		Host: netspec.Block{A: 800e-6, B: 1.42e-6}, Medium: netspec.Block{A: 345e-6, B: 0.92e-6}}
	for _, c := range []struct {
		name     string
		spec     netspec.Spec
		pairs, k int
		want     float64
	}{
		{"fast", benchtest.Spec(2), 1, 1, benchtest.Spec(2).Host.B},
		{"fast, two connections", benchtest.Spec(2), 1, 2, benchtest.Spec(2).Host.B},
		{"fast, four connections", benchtest.Spec(2), 1, 4, benchtest.Spec(2).Host.B},
		{"slow host", slow, 1, 1, 1.42e-6},
		{"slow medium", slow, 3, 1, 3 * 0.92e-6},
		{"slow medium, two connections", slow, 2, 2, 2 * 0.92e-6},
		{"fast, eight connections", benchtest.Spec(2), 1, 8, benchtest.Spec(2).Host.B},
		{"slow host, four connections", slow, 1, 4, 1.42e-6},
		{"slow host, eight connections", slow, 1, 8, 1.42e-6},
		{"slow medium, four connections", slow, 2, 4, 2 * 0.92e-6},
		{"slow medium, eight connections", slow, 2, 8, 2 * 0.92e-6},
	} {
		t.Run(c.name, func(t *testing.T) {
			all := countBulk(t, c.spec, c.pairs, c.k, nil)
			if got := perByte(all); len(all) != c.pairs || math.Abs(got/c.want-1) > 0.002 {
				t.Errorf("%d receivers, %.6g s/B, want %.6g", len(all), got, c.want)
			}
			for rank, s := range all {
				if len(s.flags) > 0 || s.window < bench.BulkWindow || s.write%1448 != 0 && s.write != int64(writeSize) ||
					len(s.perWrite()) != slices || s.tcp.DataSegsOut == 0 {
					t.Errorf("rank %d: %+v", rank, s)
				}
				if float64(s.write)*c.want*1e9 > 1.2*writeShare*float64(s.window)*float64(c.k) && s.write > 1448 {
					t.Errorf("rank %d: a write of %d bytes takes %g of the window", rank, s.write,
						float64(s.write)*c.want*1e9/float64(s.window))
				}
				if c.spec.Name == "test" && (s.sendCPU <= 0 || s.recvCPU <= 0) {
					t.Errorf("rank %d: CPU times %d and %d", rank, s.sendCPU, s.recvCPU)
				}
			}
		})
	}
}

// A network with queues for megabytes gets no more than it delivers in a part of the window: a stream ends soon after
// it. The rate is the same.
func TestBulkLeavesLittleToDeliver(t *testing.T) {
	const pairs = 3
	slow := netspec.Spec{Name: "slow", Hosts: 8, Mode: netspec.Shared, MSS: 1448, L: 100e-6,
		Host: netspec.Block{A: 100e-6, B: 0.1e-6}, Medium: netspec.Block{A: 345e-6, B: 0.92e-6}}
	n := sim.New(slow, sim.Options{Seed: 11, SendBuffer: 8 * units.MiB, Window: 8 * units.MiB})
	team := bench.FirstHosts(2 * pairs)[0][0]
	rates := map[int]*counted{}
	var mu sync.Mutex
	err := n.Run(team, func(rank int, g *sim.Group) error {
		e := runner(pairs, func(x Role) {
			begun := x.Now()
			c := bulk{x, 1}.run()
			if x.Sends() {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			rates[rank] = c
			if took, want := x.Now()-begun, c.ramp+c.window; took > want*2 {
				bench.Fail("rank %d: ramp and window last %v, and the whole %v", rank, want.Seconds(), took.Seconds())
			}
		})
		_, err := bench.Perform(t.Context(), e, g, bench.Task{Team: team, Rank: rank, Points: []bench.Point{{}}}, nil)
		return err
	})
	if err != nil {
		t.Error(err)
	}
	if got, want := perByte(rates), pairs*0.92e-6; math.Abs(got/want-1) > 0.002 {
		t.Errorf("%.6g s/B, want %.6g", got, want)
	}
}

// What may be on its way is several times what the path holds, or not bounded at all: a trial of a few round trips says
// nothing of the rate.
func TestRoomFillsThePath(t *testing.T) {
	for _, c := range []struct {
		name    string
		perByte float64
		trip    units.Nanos
		bound   bool
	}{
		{"10 Mbit/s", 1464, 4 * units.Millisecond, true},
		{"256 kbit/s, far", 31_250, 200 * units.Millisecond, true},
		{"100 Mbit/s", 80, 200 * units.Microsecond, true},
		{"100 Mbit/s, far", 80, 50 * units.Millisecond, false},
		{"10 Gbit/s", 0.8, 30 * units.Microsecond, false},
	} {
		s := plan(c.perByte, 1, c.trip, 1448, 0)
		held := float64(c.trip) / c.perByte
		if bound := s.room > 0; bound != c.bound || bound && float64(s.room) < 4*held {
			t.Errorf("%s: room for %d bytes, the path holds %.0f", c.name, s.room, held)
		}
		if long := float64(s.room)*c.perByte > 0.5*float64(s.window); long {
			t.Errorf("%s: %d bytes take more than half of the window of %v s", c.name, s.room, s.window.Seconds())
		}
	}
}

// patient spoils the first tries of a stream.
type patient struct {
	bench.Group
	tries *int
	spoil func(try int, l plane.Line) plane.Line
}

func (p patient) Lines(peer, k int, f func(int, plane.Line) error) error {
	*p.tries++
	try := *p.tries
	return p.Group.Lines(peer, k, func(i int, l plane.Line) error { return f(i, p.spoil(try, l)) })
}

type probing struct{ plane.Line }

func (probing) ProbesRTT() (bool, error) { return true, nil }

// limited says that the receiver's window held the sender up for a tenth of the time.
type limited struct {
	plane.Line
}

func (l *limited) State() (plane.LineState, error) {
	s, err := l.Line.State()
	s.TCP.RwndLimited = int64(s.At/units.Microsecond) / 10
	return s, err
}

// late sends little in the first half of the window.
type late struct {
	plane.Line
	until units.Nanos
}

func (l *late) Send(b []byte) error {
	if now := l.Now(); l.until == 0 {
		l.until = now + 45*units.Millisecond
	} else if now < l.until {
		if err := l.WaitUntil(now + 2*units.Millisecond); err != nil {
			return err
		}
	}
	return l.Line.Send(b)
}

// A window that something else than the path limited, or whose rate grows, is measured again after a longer ramp.
// One that stays so is flagged.
func TestBulkRepeats(t *testing.T) {
	for flag, spoil := range map[string]func(plane.Line) plane.Line{
		dataset.FlagProbeRTT: func(l plane.Line) plane.Line { return probing{l} },
		dataset.FlagWindow:   func(l plane.Line) plane.Line { return &limited{Line: l} },
		"growing":            func(l plane.Line) plane.Line { return &late{Line: l} },
	} {
		for _, always := range []bool{false, true} {
			all := countBulk(t, benchtest.Spec(2), 1, 1, func(g bench.Group) bench.Group {
				return patient{g, new(int), func(try int, l plane.Line) plane.Line {
					if try == 1 || always {
						return spoil(l)
					}
					return l
				}}
			})
			s := all[1]
			if got := stdslices.Contains(s.flags, flag); got != (always && flag != "growing") {
				t.Errorf("%s, always %t: flags %v", flag, always, s.flags)
			}
			if s.ramp <= plan(20, 1, 0, 1448, 0).ramp {
				t.Errorf("%s, always %t: ramp %v is not longer", flag, always, s.ramp)
			}
		}
	}
}

// blocking is a line of which one write lasts over the whole window.
type blocking struct{ plane.Line }

func (l *blocking) Send(b []byte) error {
	if err := l.Line.Send(b); err != nil {
		return err
	}
	return l.WaitUntil(l.Now() + bench.MaxStream)
}

// A sender that blocks throughout the window still says what it sent and what that cost it.
func TestBlockedSender(t *testing.T) {
	e := lineEnd{schedule: schedule{at: units.Millisecond, ramp: 100 * units.Millisecond, window: bench.BulkWindow,
		write: 1448}, buf: make([]byte, 1448)}
	err := benchtest.Net(benchtest.Spec(2)).Run([]int{0, 1}, func(rank int, g *sim.Group) error {
		return g.Lines(1-rank, 1, func(_ int, l plane.Line) error {
			if rank == 1 {
				if err := g.Recv(0, make([]byte, 2*1448)); err != nil {
					return err
				}
				return l.Send([]byte{1})
			}
			e.at = l.Now() + units.Millisecond
			return bench.Caught(func() { e.send(&blocking{l}) })
		})
	})
	if d := e.last.TCP.Sub(e.first.TCP); err != nil || d.DataSegsOut == 0 || e.cpu() <= 0 {
		t.Errorf("%v: %+v, CPU %v", err, d, e.cpu())
	}
}
