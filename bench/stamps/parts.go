package stamps

import (
	"slices"

	"calib/bench"
	"calib/bench/roundtrip"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/units"
)

// batch is one rank's part in the messages with stamps.
type batch struct {
	bench.Team
	stamper Stamper
	msg     []byte
	clock   float64 // ns, one reading
}

// measure passes messages in up to three ways, and records them at rank 0.
func (b batch) measure(polls bool) error {
	if err := b.phase(exchange{}, b.split); err != nil {
		return err
	}
	if polls {
		if err := b.phase(exchange{polls: true}, b.polled); err != nil {
			return err
		}
	}
	return b.phase(exchange{ready: true}, b.calls)
}

// phase repeats an exchange and calls record, at rank 0, with both ranks' traces.
func (b batch) phase(x exchange, record func(result)) error {
	bounds := bounds(b.P)
	x.stamper, x.peer, x.msg = b.stamper, 1-b.G.Rank(), b.msg
	// Its trace and the list of it, the peer's list twice, as bytes and as numbers, and the rows of both.
	b.R.Charge(6 * 8 * columns * int64(bounds.Room(b.R.Effort)))
	x.trace = newTrace(bounds.Room(b.R.Effort))
	before := b.readClock()
	run, err := roundtrip.Run(b.G, b.R, &x, bounds)
	if err != nil {
		return err
	}
	own := clockOf(before, b.readClock())
	if !b.Root() {
		n, err := bench.RecvNumbers(b.G, 0, afterBytes/8)
		if err != nil {
			return err
		}
		return bench.SendNumbers(b.G, 0, append(own.numbers(), x.trace.last(int(n[0]))...)...)
	}
	n := len(run.NS)
	if err := bench.SendNumbers(b.G, 1, int64(n)); err != nil {
		return err
	}
	all, err := bench.RecvNumbers(b.G, 1, clockNumbers+n*columns)
	if err != nil {
		return err
	}
	record(join(run.TCP, own, x.trace.last(n), clockFrom(all), all[clockNumbers:]))
	return nil
}

// stampClock is a comparison of the clock of a host's stamps with that of Now.
type stampClock struct {
	ahead, bound units.Nanos
	stepped      bool // it was set meanwhile
}

const clockNumbers = 3

func (b batch) readClock() (c stampClock) {
	c.ahead, c.bound = b.stamper.StampClock()
	return c
}

// clockOf joins the comparisons before and after some messages. Both clocks run at one rate, so that they differ by more than
// their bounds only where the wall clock was set.
func clockOf(before, after stampClock) stampClock {
	moved := after.ahead - before.ahead
	return stampClock{ahead: before.ahead + moved/2, bound: max(before.bound, after.bound),
		stepped: max(moved, -moved) > before.bound+after.bound}
}

func (c stampClock) numbers() []int64 {
	return []int64{int64(c.ahead), int64(c.bound), int64(roundtrip.LastMark(c.stepped))}
}

func clockFrom(n []int64) stampClock {
	return stampClock{units.Nanos(n[0]), units.Nanos(n[1]), n[2] == 1}
}

// result is what both ranks know of some exchanges, every time of a rank on the clock of its Now, but for those of interfaces.
type result struct {
	tcp   *dataset.TCP
	rows  [2][][columns]int64 // by rank
	bound units.Nanos         // of the stamps' clocks, the larger
	flags []string
	came  [3]int // how many of the messages, both ways, have stamps: scheduled, sent, taken
}

// join takes the exchanges in which every kernel's stamp is there. A stamp of 0 was not taken.
func join(tcp *dataset.TCP, own stampClock, mine []int64, peer stampClock, theirs []int64) result {
	r := result{tcp: tcp, bound: max(own.bound, peer.bound)}
	if own.stepped || peer.stepped {
		r.flags = []string{dataset.FlagStep}
	}
	n := len(mine) / columns
	r.rows[0], r.rows[1] = make([][columns]int64, 0, n), make([][columns]int64, 0, n)
	clocks := [2]stampClock{own, peer}
	for i := 0; i < len(mine); i += columns {
		var rows [2][columns]int64
		copy(rows[0][:], mine[i:])
		copy(rows[1][:], theirs[i:])
		whole := true
		for k := range rows {
			for s, column := range []int{scheduled, sent, taken} {
				if rows[k][column] == 0 {
					whole = false
					continue
				}
				r.came[s]++
				rows[k][column] -= int64(clocks[k].ahead)
			}
		}
		if whole {
			r.rows[0], r.rows[1] = append(r.rows[0], rows[0]), append(r.rows[1], rows[1])
		}
	}
	return r
}

// between lists the times from one column of rank a to another of rank b, and the latter.
func (r result) between(a, from, b, to int) (ns, at []int64) {
	for i := range r.rows[a] {
		ns = append(ns, r.rows[b][i][to]-r.rows[a][i][from])
		at = append(at, r.rows[b][i][to])
	}
	return ns, at
}

// halves are half round trips of rank 0, less what rank 1 does between its calls.
func (r result) halves() (ns []int64) {
	for i, a := range r.rows[0] {
		b := r.rows[1][i]
		ns = append(ns, (a[received]-a[began]-(b[began]-b[received]))/2)
	}
	return ns
}

// betweenInterfaces are half of the time between the network interfaces, both ways together; none where they do not stamp.
func (r result) betweenInterfaces() (ns []int64) {
	for i, a := range r.rows[0] {
		b := r.rows[1][i]
		if slices.Contains([]int64{a[nicSent], a[nicArrived], b[nicSent], b[nicArrived]}, 0) {
			return nil
		}
		ns = append(ns, (a[nicArrived]-a[nicSent]-(b[nicSent]-b[nicArrived]))/2)
	}
	return ns
}

// line is a batch of a direction, 0 from rank 0 to rank 1.
func (b batch) line(r result, phase string, direction int, ns []int64) bench.Batch {
	tcp := *r.tcp
	return bench.Batch{Phase: phase, Point: b.P, Ranks: []int{direction, 1 - direction}, NS: ns, TCP: &tcp, Flags: slices.Clone(r.flags),
		Aux: map[string]float64{names.AuxDirection: float64(direction), names.AuxClock: b.clock, names.AuxStampBound: float64(r.bound)}}
}

// split records the parts of messages whose receivers slept.
func (b batch) split(r result) {
	half := b.line(r, names.PhaseHalf, 0, r.halves())
	for i, name := range []string{names.AuxScheduled, names.AuxSentStamps, names.AuxTaken} {
		half.Aux[name] = float64(r.came[i])
	}
	if len(half.NS) == 0 {
		half.Flags = append(half.Flags, dataset.FlagUnsteady)
	}
	b.R.Add(half)
	if len(half.NS) == 0 {
		return
	}
	for from := range 2 {
		to := 1 - from
		for _, part := range []struct {
			phase          string
			rank, from, to int
		}{
			{names.PhaseSend, from, began, scheduled}, {names.PhaseQueue, from, scheduled, sent}, {names.PhaseCall, from, began, returned},
			{names.PhaseWake, to, taken, received},
		} {
			ns, _ := r.between(part.rank, part.from, part.rank, part.to)
			b.R.Add(b.line(r, part.phase, from, ns))
		}
		ns, at := r.between(from, sent, to, taken)
		b.R.AddOneWay(b.line(r, names.PhaseWay, from, ns), from, to, at)
	}
	if ns := r.betweenInterfaces(); ns != nil {
		b.R.Add(b.line(r, names.PhaseNIC, 0, ns))
	}
}

// polled records how long receivers that poll take from the stamp on.
func (b batch) polled(r result) {
	for from := range 2 {
		if ns, _ := r.between(1-from, taken, 1-from, received); len(ns) > 0 {
			b.R.Add(b.line(r, names.PhaseWakePolling, from, ns))
		}
	}
}

// calls records the receiving calls of messages that were there.
func (b batch) calls(r result) {
	for from := range 2 {
		var ns []int64
		for _, row := range r.rows[1-from] {
			if row[asked] != 0 {
				ns = append(ns, row[received]-row[asked])
			}
		}
		if len(ns) > 0 {
			b.R.Add(b.line(r, names.PhaseRecv, from, ns))
		}
	}
}
