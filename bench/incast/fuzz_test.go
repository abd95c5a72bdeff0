package incast

import (
	"testing"

	"calib/bench"
	"calib/internal/dataset/names"
	"calib/internal/plane"
	"calib/internal/units"
)

// idle is a root that has only its place in a team of three.
type idle struct{ bench.Group }

func (idle) Rank() int          { return 0 }
func (idle) Size() int          { return 3 }
func (idle) Place() plane.Place { return plane.Place{On: -1} }

// Whatever datagrams say of themselves, what is made of them has its bounds.
func FuzzArrivals(f *testing.F) {
	good := make([]byte, minDatagram)
	good[atSender] = 1
	f.Add(good)
	f.Add(append(good, good...))
	f.Add([]byte("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, in []byte) {
		var b burst
		for at := units.Nanos(0); len(in) >= minDatagram; at += 100 {
			b.came = append(b.came, readArrival(at, in))
			in = in[minDatagram:]
		}
		p := bench.Point{names.FactorBytes: 64, names.FactorPackets: 16, names.FactorSenders: 2}
		r := bench.NewRecorder(bench.Task{Team: []int{0, 1, 2}, Points: []bench.Point{p}})
		x := &bursts{team: team{Team: bench.Team{Group: idle{}, R: r, P: p}}, seen: b}
		x.addFull(b.empty(), 8)
		for _, s := range r.Samples {
			if len(s.NS) > bench.MaxIntervals || s.Aux[names.AuxLosses] > float64(len(b.came)) {
				t.Errorf("%+v", s)
			}
		}
	})
}
