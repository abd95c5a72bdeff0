package flow

import (
	"calib/bench"
	"calib/internal/plane"
	"calib/internal/units"
)

// probeEvery is how many times in a window a sender asks whether bbr looks for the round trip, which takes it 200 ms.
const probeEvery = 10

// lineEnd is one end of one connection in one try.
type lineEnd struct {
	schedule
	buf         []byte          // a write of the sender, the room of the receiver
	first, last plane.LineState // at the beginning and the end of the window
	probed      bool
	bytes       [slices + 1]float64 // at a receiver, that had come at the ends of the slices
}

// cpu is the CPU time of the window: that between the two states, which were read a little later, in proportion.
func (e *lineEnd) cpu() units.Nanos {
	if span := e.last.At - e.first.At; span > 0 {
		return units.Nanos(float64(e.last.CPU-e.first.CPU) * float64(e.window) / float64(span))
	}
	return 0
}

// send writes until the window has ended, and waits until the receiver has all of it. The first byte of a write is 1
// where it is the last.
func (e *lineEnd) send(l plane.Line) {
	bench.Check(l.Bound(e.unsent, e.room))
	bench.Check(l.WaitUntil(e.at))
	// Where the path is slow, one write may block until the window is over: then the state at the start stands for that
	// at its beginning.
	e.first = bench.Must(l.State())
	e.buf[0] = 0
	look, step := e.begin(), e.window/probeEvery
	for now := e.at; now < e.end(); now = l.Now() {
		if now >= look {
			if look == e.begin() {
				e.first = bench.Must(l.State())
			}
			e.probed = bench.Must(l.ProbesRTT()) || e.probed
			look += step
		}
		bench.Check(l.Send(e.buf))
	}
	e.last = bench.Must(l.State())
	e.buf[0] = 1
	bench.Check(l.Send(e.buf))
	bench.Check(l.Bound(0, 0))
	bench.Must(l.RecvSome(e.buf[:1]))
}

// receive reads to the end of the marked write, and notes how much had come at the end of every slice. Between two
// reads bytes are taken to come evenly.
func (e *lineEnd) receive(l plane.Line) {
	next, bound := 0, e.begin()
	before, had, marked := e.at, int64(0), false
	for !marked || had%e.write != 0 {
		n := int64(bench.Must(l.RecvSome(e.buf)))
		now, has := l.Now(), had+n
		for at := (had + e.write - 1) / e.write * e.write; at < has; at += e.write {
			marked = marked || e.buf[at-had] == 1
		}
		for ; next <= slices && now >= bound; bound = e.begin() + e.window*units.Nanos(next)/slices {
			part := float64(bound-before) / float64(max(1, now-before))
			e.bytes[next] = float64(had) + max(0, part)*float64(n)
			if next == 0 {
				e.first = bench.Must(l.State())
			}
			if next++; next > slices {
				e.last = bench.Must(l.State())
			}
		}
		before, had = now, has
	}
	if next <= slices { // nothing came after the window
		e.first, e.last = plane.LineState{}, plane.LineState{}
	}
	for ; next <= slices; next++ {
		e.bytes[next] = float64(had)
	}
	bench.Check(l.Send(e.buf[:1]))
}
