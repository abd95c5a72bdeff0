package bench

import (
	"math"
	"slices"
	"testing"

	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/plane"
	"calib/internal/units"
)

// nowhere is a group of hosts that do not say where their threads are.
type nowhere struct{ Group }

func (nowhere) Place() plane.Place { return plane.Place{On: -1} }

// slotOf records a one-way time of 1 ms from rank 0 to rank 1, in a slot of a second between two readings of rank 1's
// clock.
func slotOf(before, after clockOffset, one []bool) (oneWay dataset.Sample, offset dataset.Sample) {
	r := NewRecorder(Task{Team: []int{4, 7}})
	x := Team{R: r, Group: nowhere{}}
	after.At = before.At + units.Second
	r.Clocks = newTimeline([]clockOffset{{At: before.At}, before}, one)
	middle := before.At + units.Second/2
	local := r.Clocks.ToLocal(1, middle)
	x.AddOneWay(Batch{Exp: names.Paired, Ranks: []int{0, 1}, NS: []int64{int64(local-middle) + 1e6},
		Aux: map[string]float64{}},
		0, 1, []int64{int64(local)})
	r.Clocks.finish([]clockOffset{{At: after.At}, after})
	r.correct()
	r.Clocks.record(x)
	s := r.Samples
	return s[0], s[1]
}

func TestClockOffsets(t *testing.T) {
	const us = units.Microsecond
	read := func(offset, rtt units.Nanos) clockOffset {
		return clockOffset{At: 10 * units.Second, Offset: offset, RTT: rtt, Spread: rtt / 10}
	}
	for _, c := range []struct {
		name          string
		before, after clockOffset
		one           []bool
		want          float64 // the one-way time [ns]; its sender's reading was taken with the first offset
		bound         float64 // µs
		flags         []string
	}{
		{"no drift", read(50*us, 20*us), read(50*us, 30*us), nil, 1e6, 15, nil},
		{"50 ppm", read(50*us, 20*us), read(100*us, 20*us), nil, 1e6 - 25e3, 10, nil},
		{"200 ppm within the bounds: the first reading is the better", read(50*us, 20*us), read(250*us, 400*us), nil, 1e6,
			200, nil},
		{"200 ppm within the bounds: the second is", read(50*us, 400*us), read(250*us, 20*us), nil, 1e6 - 200e3, 200, nil},
		{"200 ppm beyond the bounds", read(50*us, 20*us), read(250*us, 20*us), nil, 1e6 - 100e3, 10,
			[]string{dataset.FlagDrift}},
		{"one clock, whatever was read", read(50*us, 20*us), read(250*us, 20*us), []bool{true, true}, 1e6, 0, nil},
		{"only rank 0 reads it", read(50*us, 20*us), read(50*us, 20*us), []bool{true, false}, 1e6, 10, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, o := slotOf(c.before, c.after, c.one)
			if math.Abs(float64(s.NS[0])-c.want) > 50 || !slices.Equal(s.Flags, c.flags) || !slices.Equal(o.Flags, c.flags) {
				t.Errorf("%d ns with flags %v and %v, want %g with %v", s.NS[0], s.Flags, o.Flags, c.want, c.flags)
			}
			if got := o.Aux[names.AuxBound]; got != c.bound*1e3 {
				t.Errorf("bound %g ns, want %g", got, c.bound*1e3)
			}
			if got, want := s.Aux[names.AuxOffsetBound], c.bound*1e3/math.Sqrt(3); math.Abs(got-want) > 1e-9 {
				t.Errorf("standard uncertainty of the one-way time %g ns, want %g", got, want)
			}
		})
	}
}
