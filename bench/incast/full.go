package incast

import (
	"slices"
	"sort"

	"calib/bench"
	"calib/internal/dataset/names"
	"calib/internal/lists"
	"calib/internal/stats"
	"calib/internal/units"
)

const (
	// idleDatagrams of each sender, one after the other, tell how long one takes when the port is empty: idleGap apart,
	// or two intervals of the trial where that is longer.
	idleDatagrams = 4
	idleGap       = 500 * units.Microsecond
	// overload is the rate at which datagrams arrive at a port that is kept full, over that at which they leave it. Two
	// senders with links like the port's have little more than twice its rate; any one's link must not be full itself,
	// or datagrams wait there, too.
	overload    = 2.0
	overloadTwo = 1.5
	// maxFull bounds the time in which a port is filled and kept full.
	maxFull = 2 * burstTime
	// A port is kept full with fullFactor times the fewest datagrams that can fill it at overload, but no fewer than
	// fewestFull.
	fullFactor = 1.5
	fewestFull = 512
	// The senders' intervals differ by at most one in paceSteps.
	paceSteps = 20
	// serviceBlock is how many intervals are averaged to one of the port's.
	serviceBlock = 16
)

// full measures what the port holds while it is kept full, where the bursts before have shown that it can be filled:
// every sender sends at its share of overload times the port's rate, so that nothing waits anywhere else, and every
// datagram says when it was sent. A datagram beside a lost one was let into a port that was full. Between its arrival
// at the port and its own departure exactly those left the port that it held then, itself included; the root counts
// them. It needs no rate of arrival to be known, nor to be steady.
func (x *bursts) full(number int, gap units.Nanos, lost bool) {
	var full bench.Start
	if x.Root() && lost {
		full = x.overload()
	}
	if full = x.Announce(full); full.Reps == 0 {
		return
	}
	x.once(number, bench.Start{Period: max(idleGap, 2*gap)}, x.turn)
	empty := x.seen.empty()
	x.once(number+1, full, x.paced)
	if x.Root() {
		x.addFull(empty, full.Reps)
	}
}

// overload is how a sender keeps the port full: an interval, and how many datagrams.
func (x *bursts) overload() bench.Start {
	senders := x.P[names.FactorSenders]
	by := overload
	if senders == 2 {
		by = overloadTwo
	}
	service := x.seen.service()
	every := units.Nanos(float64(service) * float64(senders) / by)
	if every <= 0 {
		return bench.Start{}
	}
	fill := float64(len(x.seen.came)) * by / (by - 1) // it holds no more than came through it
	k := min(x.P[names.FactorPackets], max(fewestFull, int64(fullFactor*fill)))
	return bench.Start{Period: every, Reps: int(min(k/senders, int64(maxFull/every)))}
}

// turn is a sender's part of the datagrams on the idle network.
func (x *bursts) turn(s bench.Start) sending {
	return sending{datagrams: idleDatagrams, after: units.Nanos(x.Rank()-1) * idleDatagrams * s.Period, every: s.Period}
}

// paced is a sender's part of what keeps the port full. The senders' intervals differ a little, so that no sender
// always finds the place that the port has just given free.
func (x *bursts) paced(s bench.Start) sending {
	before, senders := units.Nanos(x.Rank()-1), units.Nanos(x.P[names.FactorSenders])
	return sending{datagrams: int64(s.Reps), after: s.Period * before / senders,
		every: s.Period + s.Period*before/(paceSteps*senders)}
}

// service is the port's interval: the median of means over serviceBlock neighbours, so that neither a pause of the
// senders nor a port that lets several go at a time moves it.
func (b *burst) service() units.Nanos {
	var means []float64
	for i := serviceBlock; i < len(b.came); i += serviceBlock {
		means = append(means, float64(b.came[i].at-b.came[i-serviceBlock].at)/serviceBlock)
	}
	if len(means) == 0 {
		return 0
	}
	return units.Nanos(stats.Median(means))
}

// idleTimes are one-way times on the idle network by rank, each by two clocks as they are.
type idleTimes struct {
	least  map[uint32]units.Nanos
	excess float64 // median by which a datagram's exceeds its rank's least [ns]
}

func (b *burst) empty() idleTimes {
	t := idleTimes{least: map[uint32]units.Nanos{}}
	for _, a := range b.came {
		d := a.at - a.sent
		if least, known := t.least[a.from]; !known || d < least {
			t.least[a.from] = d
		}
	}
	excess := lists.Map(b.came, func(a arrival) float64 { return float64(a.at - a.sent - t.least[a.from]) })
	if len(excess) > 0 {
		t.excess = stats.Median(excess)
	}
	return t
}

// addFull records what the port held beside each loss, where datagrams of which share were sent by each.
func (x *bursts) addFull(empty idleTimes, share int) {
	seen := &x.seen
	x.R.Charge(2 * arrivalBytes * int64(len(seen.came)))
	got := map[[2]uint32]bool{} // by rank and number
	for _, a := range seen.came {
		got[[2]uint32{a.from, a.number}] = true
	}
	lost := func(from uint32, i int) bool { return i >= 0 && i < share && !got[[2]uint32{from, uint32(i)}] }
	var held []float64
	var waits []int64
	for i, a := range seen.came {
		least, known := empty.least[a.from]
		n := int(a.number)
		if int(a.from) >= x.Size() || !known || n >= share || !lost(a.from, n-1) && !lost(a.from, n+1) {
			continue
		}
		reached := a.sent + least // the port, but for the way from it
		left := sort.Search(len(seen.came), func(k int) bool { return seen.came[k].at > reached })
		held, waits = append(held, float64(i-left+1)), append(waits, int64(a.at-reached))
	}
	if len(held) == 0 || seen.dropped > 0 {
		return
	}
	slices.Sort(held)
	aux := seen.aux()
	aux[names.AuxLosses], aux[names.AuxHeld] = float64(len(held)), stats.SortedQuantile(held, 0.5)
	aux[names.AuxHeldLow], aux[names.AuxHeldHigh] = stats.SortedQuantile(held, 0.25), stats.SortedQuantile(held, 0.75)
	aux[names.AuxService], aux[names.AuxIdleExcess] = float64(seen.service()), empty.excess
	x.Add(bench.Batch{Phase: names.PhaseFull, Ranks: x.Ranks(), NS: some(waits), Aux: aux})
}

// some are at most bench.MaxIntervals of all, evenly chosen.
func some(all []int64) []int64 {
	var out []int64
	for block := range slices.Chunk(all, (len(all)+bench.MaxIntervals-1)/bench.MaxIntervals) {
		out = append(out, block[0])
	}
	return out
}
