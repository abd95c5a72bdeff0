package bench

import (
	"encoding/binary"
	"fmt"
	"math"
	"sort"

	"calib/internal/dataset"
	"calib/internal/units"
)

// syncExchanges is the number of round trips from which an offset is taken. The smallest round trip of a dozen has met
// no queue on any network that is idle most of the time; more would only lengthen the slot.
const syncExchanges = 12

// fix is one rank's clock held against rank 0's, at one instant.
type fix struct {
	At     units.Nanos // on rank 0's clock
	Offset units.Nanos // this rank's clock − rank 0's clock
	RTT    units.Nanos // of the exchange that gave it: the offset is within ± RTT/2 for certain
	Spread units.Nanos // median absolute deviation of the offsets of the better half of the exchanges
}

const (
	fixBytes = 32
	// probeBytes is the length of a probe and of its answer: equal, or the time of the difference would look like an offset.
	probeBytes = 16
)

func (f fix) put(b []byte) {
	for i, v := range []units.Nanos{f.At, f.Offset, f.RTT, f.Spread} {
		binary.LittleEndian.PutUint64(b[8*i:], uint64(v))
	}
}

func getFix(b []byte) fix {
	at := func(i int) units.Nanos { return units.Nanos(binary.LittleEndian.Uint64(b[8*i:])) }
	return fix{at(0), at(1), at(2), at(3)}
}

// synchronise holds every rank's clock against rank 0's and gives every rank the whole table, by rank. Each rank in turn
// exchanges probes with rank 0; of the four stamps t1..t4 the offset is ((t1−t2)+(t4−t3))/2, and the exchange with the
// smallest round trip wins (Cristian 1989; Mills, RFC 5905 section 8). It ends when every rank has had its turn: each
// receive is bounded by the group's deadline.
func synchronise(g Group) ([]fix, error) {
	table := make([]fix, g.Size())
	buf := make([]byte, fixBytes*g.Size())
	if g.Rank() == 0 {
		table[0].At = g.Now()
		for k := 1; k < g.Size(); k++ {
			f, err := answerProbes(g, k)
			if err != nil {
				return nil, fmt.Errorf("clock offset of rank %d: %w", k, err)
			}
			table[k] = f
		}
		for k, f := range table {
			f.put(buf[fixBytes*k:])
		}
		return table, tellAll(g, buf)
	}
	f, err := probe(g)
	if err != nil {
		return nil, fmt.Errorf("clock offset: %w", err)
	}
	own := make([]byte, fixBytes)
	f.put(own)
	if err := g.Send(0, own); err != nil {
		return nil, err
	}
	if err := g.Recv(0, buf); err != nil {
		return nil, err
	}
	for k := range table {
		table[k] = getFix(buf[fixBytes*k:])
	}
	return table, nil
}

// answerProbes is rank 0's side: stamp each probe's arrival and departure, then take the rank's result.
func answerProbes(g Group, k int) (fix, error) {
	var stamps [probeBytes]byte
	for range syncExchanges {
		if err := g.Recv(k, stamps[:]); err != nil {
			return fix{}, err
		}
		binary.LittleEndian.PutUint64(stamps[:], uint64(g.Now()))
		binary.LittleEndian.PutUint64(stamps[8:], uint64(g.Now()))
		if err := g.Send(k, stamps[:]); err != nil {
			return fix{}, err
		}
	}
	var own [fixBytes]byte
	if err := g.Recv(k, own[:]); err != nil {
		return fix{}, err
	}
	return getFix(own[:]), nil
}

func probe(g Group) (fix, error) {
	var stamps [probeBytes]byte
	all := make([]fix, syncExchanges)
	for i := range all {
		t1 := g.Now()
		if err := g.Send(0, stamps[:]); err != nil {
			return fix{}, err
		}
		if err := g.Recv(0, stamps[:]); err != nil {
			return fix{}, err
		}
		t4 := g.Now()
		t2 := units.Nanos(binary.LittleEndian.Uint64(stamps[:]))
		t3 := units.Nanos(binary.LittleEndian.Uint64(stamps[8:]))
		all[i] = fix{At: (t2 + t3) / 2, Offset: ((t1 - t2) + (t4 - t3)) / 2, RTT: (t4 - t1) - (t3 - t2)}
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].RTT < all[j].RTT })
	best := all[0]
	half := all[:syncExchanges/2]
	dev := make([]units.Nanos, len(half))
	for i, f := range half {
		dev[i] = max(f.Offset-best.Offset, best.Offset-f.Offset)
	}
	sort.Slice(dev, func(i, j int) bool { return dev[i] < dev[j] })
	best.Spread = dev[len(dev)/2]
	return best, nil
}

// tellAll sends b from rank 0 to every other rank.
func tellAll(g Group, b []byte) error {
	for k := 1; k < g.Size(); k++ {
		if err := g.Send(k, b); err != nil {
			return err
		}
	}
	return nil
}

// timeline turns any rank's stamps into rank 0's time: offsets before and after the slot, linear in between.
type timeline struct{ before, after []fix }

// offset returns rank k's clock − rank 0's clock at instant t of rank 0's clock [ns].
func (tl *timeline) offset(k int, t units.Nanos) float64 {
	b := tl.before[k]
	if tl.after == nil || tl.after[k].At == b.At {
		return float64(b.Offset)
	}
	a := tl.after[k]
	slope := float64(a.Offset-b.Offset) / float64(a.At-b.At)
	return float64(b.Offset) + slope*float64(t-b.At)
}

// toLocal turns an instant of rank 0's clock into rank k's.
func (tl *timeline) toLocal(k int, t units.Nanos) units.Nanos {
	return t + units.Nanos(math.Round(tl.offset(k, t)))
}

// toCommon turns an instant of rank k's clock into rank 0's. The offset is taken at the local instant less the first
// offset, which is off by drift × offset: below a nanosecond for any offset below a second at 1 ppm.
func (tl *timeline) toCommon(k int, t units.Nanos) units.Nanos {
	approx := t - tl.before[k].Offset
	return t - units.Nanos(math.Round(tl.offset(k, approx)))
}

// maxRTT is the largest of the smallest round trips to rank 0.
func (tl *timeline) maxRTT() units.Nanos {
	var m units.Nanos
	for _, f := range tl.before {
		m = max(m, f.RTT)
	}
	return m
}

// record adds a line for each rank's offset: exp "clock", phase "offset", ns = before and after the slot.
func (tl *timeline) record(r *Recorder) {
	for k := 1; k < len(tl.before); k++ {
		b, a := tl.before[k], tl.after[k]
		aux := map[string]float64{
			"bound_ns":  float64(max(a.RTT, b.RTT)) / 2,
			"spread_ns": float64(max(a.Spread, b.Spread)),
		}
		if a.At > b.At {
			aux["drift_ppm"] = float64(a.Offset-b.Offset) / float64(a.At-b.At) * 1e6
		}
		r.Add(Batch{
			Exp: Clock{}.Name(), Phase: "offset", Point: dataset.Point{}, Ranks: []int{0, k},
			NS: []int64{int64(b.Offset), int64(a.Offset)}, Aux: aux,
		})
	}
}
