package flow

import (
	"math"
	"reflect"
	"testing"

	"calib/bench"
	"calib/bench/benchtest"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/netspec"
	"calib/internal/units"
	"calib/transport/sim"
)

// Messages kept apart come as far apart as the sending host's block serves one, whatever else is on the way and faster.
func TestGapIsTheSendersBlock(t *testing.T) {
	var specs []netspec.Spec
	for _, name := range netspec.PresetNames() {
		s, err := netspec.Preset(name, 2)
		if err != nil {
			t.Fatal(err)
		}
		s.Medium.A /= 2 // below the host's for every size
		s.Medium.B /= 2
		s.Medium.Min /= 2
		s.Fabric = nil // its delay changes while the hosts that were heard of before the stream are forgotten
		specs = append(specs, *s)
	}
	specs = append(specs, benchtest.Spec(2))
	for _, s := range specs {
		for _, effort := range []float64{0.3, 1} {
			l := bench.Limits{Hosts: 2, Effort: bench.Effort(effort)}
			for _, p := range Gap.Design(l) {
				if p[names.FactorMerge] != 0 {
					continue
				}
				o := sim.Options{ClockOffset: units.Second, Cost: sim.Cost{Send: 300, Recv: 200, Now: 25}}
				slot := bench.Slot{Teams: [][]int{{0, 1}}, Points: []bench.Point{p}}
				lines := 0
				for _, line := range benchtest.MustRun(t, Gap, sim.New(s, o), slot, effort, nil)[0] {
					if line.Exp != names.Gap {
						continue
					}
					lines++
					want := s.Service(s.Host, int(p[names.FactorBytes])) * 1e9
					for _, ns := range line.NS {
						if math.Abs(float64(ns)-want) > 1 {
							t.Fatalf("%s, %s: an interval of %d ns, want %g", s.Name, p.Key(), ns, want)
						}
					}
					if got := line.Aux[names.AuxWindow] / line.Aux[names.AuxWindowMessages]; math.Abs(got/want-1) > 1e-3 {
						t.Errorf("%s, %s: %g ns a message in the window, want %g", s.Name, p.Key(), got, want)
					}
					if n := line.Aux[names.AuxMessages]; n != float64(line.TCP.DataSegsOut) {
						t.Errorf("%s, %s: %g messages in %d segments", s.Name, p.Key(), n, line.TCP.DataSegsOut)
					}
					if len(line.Flags) > 0 {
						t.Errorf("%s, %s: flags %v", s.Name, p.Key(), line.Flags)
					}
				}
				if lines != 2 {
					t.Errorf("%s, %s: %d lines, want one for each direction", s.Name, p.Key(), lines)
				}
			}
		}
	}
}

// Once its buffer is full the sender's own time per message is the gap. Where it had sent all it may before its buffer
// was full, that time says nothing and is not there.
func TestGapSenderBlocks(t *testing.T) {
	s, err := netspec.Preset("sparc1994", 2)
	if err != nil {
		t.Fatal(err)
	}
	p := bench.Point{names.FactorBytes: 1000}
	want := s.Service(s.Host, 1000) * 1e9
	for _, buffer := range []units.Bytes{16 * units.KiB, units.MiB} {
		o := sim.Options{SendBuffer: buffer, Cost: sim.Cost{Send: 300, Now: 25}}
		slot := bench.Slot{Teams: [][]int{{0, 1}}, Points: []bench.Point{p}}
		for _, line := range benchtest.MustRun(t, Gap, sim.New(*s, o), slot, 1, nil)[0] {
			if line.Exp != names.Gap {
				continue
			}
			got, there := line.Aux[names.AuxSend]
			if full := buffer < units.MiB; there != full || full && math.Abs(got/want-1) > 0.01 {
				t.Errorf("direction %g, buffer %v: %g ns a send, want %g", line.Aux[names.AuxDirection], buffer, got, want)
			}
		}
	}
}

// Merged messages share full segments and cost what their bytes cost.
func TestGapMerged(t *testing.T) {
	s := benchtest.Spec(2)
	for _, m := range []int64{100, 500, 1448} {
		p := bench.Point{names.FactorBytes: m, names.FactorMerge: 1}
		o := sim.Options{Cost: sim.Cost{Send: 300, Recv: 200, Now: 25}}
		slot := bench.Slot{Teams: [][]int{{0, 1}}, Points: []bench.Point{p}}
		for _, line := range benchtest.MustRun(t, Gap, sim.New(s, o), slot, 1, nil)[0] {
			if line.Exp != names.Gap {
				continue
			}
			want := s.Service(s.Host, s.MSS) / float64(s.MSS) * float64(m) * 1e9
			if got := line.Aux[names.AuxWindow] / line.Aux[names.AuxWindowMessages]; math.Abs(got/want-1) > 0.01 {
				t.Errorf("%s: %g ns a message in the window, want %g", p.Key(), got, want)
			}
			for _, ns := range line.NS {
				if math.Abs(float64(ns)/want-1) > 0.02 || len(line.NS) != windowSlices {
					t.Errorf("%s: %d ns a message in one of %d slices, want %g", p.Key(), ns, len(line.NS), want)
				}
			}
			segments := float64(line.TCP.DataSegsOut)
			if full := line.Aux[names.AuxMessages] * float64(m) / float64(s.MSS); segments > 1.05*full+2 {
				t.Errorf("%s: %g segments, want about %g full ones", p.Key(), segments, full)
			}
		}
	}
}

func TestGapDesign(t *testing.T) {
	for _, tc := range []struct {
		name string
		l    bench.Limits

		apart, merged int64
	}{
		{"standard", bench.Limits{Hosts: 2}, 8, 4},
		{"thinned", bench.Limits{Hosts: 2, Effort: 0.25}, 6, 2},
		{"at most 100 B", bench.Limits{Hosts: 2, MaxBytes: 100}, 4, 2},
		{"given sizes", bench.Limits{Hosts: 2, Sizes: []units.Bytes{64, 1448, 1449}}, 2, 2},
		{"one host", bench.Limits{Hosts: 1}, 0, 0},
	} {
		points := Gap.Design(tc.l)
		var merged int64
		for _, p := range points {
			merged += p[names.FactorMerge]
		}
		if apart := int64(len(points)) - merged; apart != tc.apart || merged != tc.merged {
			t.Errorf("%s: %d sizes apart and %d merged, want %d and %d", tc.name, apart, merged, tc.apart, tc.merged)
		}
	}
}

// Receivers on one CPU would take turns at it, so that hosts which share one stream in pairs, each host once.
func TestGapOfCrowdedHosts(t *testing.T) {
	for _, tc := range []struct {
		crowded bool
		want    [][]int
	}{{false, [][]int{{0, 1, 2}, {3, 4, 0}}}, {true, [][]int{{0, 1}, {2, 3}, {0, 4}}}} {
		l := bench.Limits{Hosts: 5, Crowded: tc.crowded}
		var teams [][]int
		for _, step := range Gap.Teams(l, bench.Point{names.FactorBytes: 1}) {
			teams = append(teams, step...)
		}
		if !reflect.DeepEqual(teams, tc.want) {
			t.Errorf("crowded %t: teams %v, want %v", tc.crowded, teams, tc.want)
		}
	}
}

// resending is a sender's group whose kernel sends a share of the segments again.
type resending struct {
	bench.Group
	share float64
}

func (g resending) Counters(peer int) (dataset.TCP, error) {
	c, err := g.Group.Counters(peer)
	c.Retrans = int64(g.share * float64(c.DataSegsOut))
	return c, err
}

// A stream is spoilt by many segments that are sent again, not by a few.
func TestGapBearsFewLosses(t *testing.T) {
	for share, want := range map[float64]bool{0: false, 0.01: false, 0.04: true} {
		lines := 0
		for _, l := range benchtest.MustRun(t, Gap, benchtest.Net(benchtest.Spec(2)), bench.Slot{Teams: [][]int{{0, 1}},
			Points: []bench.Point{{names.FactorBytes: 100}}}, 1,
			func(g bench.Group) bench.Group { return resending{g, share} })[0] {
			if l.Exp != names.Gap {
				continue
			}
			lines++
			if l.Has(dataset.FlagRetrans) != want || (l.TCP.Retrans > 0) != (share > 0) {
				t.Errorf("%g%% sent again: flags %v, %d segments", 100*share, l.Flags, l.TCP.Retrans)
			}
		}
		if lines != 2 {
			t.Errorf("%d lines, want one for each direction", lines)
		}
	}
}

// A window in which the stream stood still has too few messages for its slices to tell an interval.
func TestGapStalled(t *testing.T) {
	for _, n := range []int64{windowSlices - 2, 4 * windowSlices} {
		s := streamed{done: []int64{0}, open: true}
		for k := range n {
			s.done = append(s.done, 1000*(k+1)/n)
		}
		p := s.between(1, 999)
		p.slice(s.done, 999, windowSlices)
		if stalled := n < windowSlices; stalled != (len(s.flags(p)) > 0) {
			t.Errorf("%d messages: flags %v, %d intervals", n, s.flags(p), len(p.ns))
		}
	}
}
