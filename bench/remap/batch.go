package remap

import (
	"calib/bench"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/units"
)

// leastSeen is how many intervals of a rank count at least.
const leastSeen = 4

// seen is what a rank saw of a remap, on its own clock.
type seen struct {
	job
	began, ended units.Nanos // the common start, and when the rank had done its part
}

// once makes one remap of n injections of each rank. It ends when all ranks have done their parts.
func (x remap) once(n int) (s seen, err error) {
	e := x.engine
	e.job = e.newJob(x.P, x.R, n)
	start, err := x.Announce(bench.Start{})
	if err != nil {
		return s, err
	}
	if err := x.G.WaitUntil(start.At); err != nil {
		return s, err
	}
	if err := e.run(); err != nil {
		return s, err
	}
	s = seen{job: e.job, began: start.At, ended: x.G.Now()}
	return s, x.end()
}

// end holds every rank until all have done their parts: until then none may send anything but messages of the remap.
func (x remap) end() error {
	e, b := x.engine, []byte{finished}
	if !x.Root() {
		if err := x.G.Send(0, b); err != nil {
			return err
		}
		return x.G.Recv(0, b)
	}
	for e.job.others > 0 {
		if err := e.receive(); err != nil {
			return err
		}
	}
	return x.SendAll(b)
}

// add records what this rank saw.
func (x remap) add(s seen, before dataset.TCP) error {
	after, err := x.counters()
	if err != nil {
		return err
	}
	tcp := after.Sub(before)
	if x.P[names.FactorInjecting] == 1 && x.P[names.FactorSync] == 0 {
		return x.addArrivals(s, tcp)
	}
	at, err := x.steady(s)
	if err != nil || len(s.to) == 0 {
		return err
	}
	b := x.batch(s, tcp)
	ns, averaged := bench.Intervals(at)
	if b.NS, b.Aux[names.AuxAveraged] = ns, float64(averaged); len(at) <= leastSeen {
		b.NS, b.Flags = []int64{int64(s.ended-s.began) / int64(len(s.to))}, []string{dataset.FlagUnsteady}
	}
	x.R.Add(b)
	return nil
}

// batch is a line of this rank without its times.
func (x remap) batch(s seen, tcp dataset.TCP) bench.Batch {
	aux := map[string]float64{names.AuxMessages: float64(len(s.to)), names.AuxSpan: float64(s.ended - s.began), names.AuxClock: bench.TimerCost(x.G)}
	if x.P[names.FactorSync] == 0 {
		aux[names.AuxAhead] = float64(s.ahead)
	}
	return bench.Batch{Phase: names.PhaseRemap, Point: x.P, Ranks: []int{x.G.Rank()}, TCP: &tcp, Aux: aux}
}

// steady are the injections of this rank while all were at it: not those of the first part, and not those after another rank's last.
func (x remap) steady(s seen) ([]int64, error) {
	rank, clocks := x.G.Rank(), x.R.Clocks
	last := never
	if n := len(s.to); n > 0 {
		last = clocks.ToCommon(rank, units.Nanos(s.at[n-1]))
	}
	firstEnd, err := x.Max(-int64(last))
	if err != nil {
		return nil, err
	}
	hi := int64(clocks.ToLocal(rank, units.Nanos(-firstEnd)))
	lo := int64(s.began) + int64(bench.RampShare*float64(hi-int64(s.began)))
	var out []int64
	for _, t := range s.at[:len(s.to)] {
		if t >= lo && t <= hi {
			out = append(out, t)
		}
	}
	return out, nil
}

// addArrivals records the interval of rank 0's injections as its messages came: what it injects alone, and nothing holds it up but
// the transport, it has injected long before.
func (x remap) addArrivals(s seen, tcp dataset.TCP) error {
	rank, clocks := x.G.Rank(), x.R.Clocks
	first, last := never, -never
	if s.received > 0 {
		first, last = clocks.ToCommon(rank, s.first), clocks.ToCommon(rank, s.last)
	}
	begins, err := x.Max(-int64(first))
	if err != nil {
		return err
	}
	ends, err := x.Max(int64(last))
	if err != nil || len(s.to) == 0 {
		return err
	}
	b := x.batch(s, tcp)
	b.NS = []int64{(ends + begins) / int64(len(s.to)-1)}
	x.R.Add(b)
	return nil
}
