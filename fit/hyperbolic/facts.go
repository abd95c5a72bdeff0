package hyperbolic

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"calib/fit"
	"calib/fit/resample"
	"calib/internal/dataset/names"
	"calib/params"
)

const (
	// busy is the share of the window above which a thread that runs is what limits a stream.
	busy = 0.9
	// fasterBy is how much faster more connections must be for the link not to be what limits one of them.
	fasterBy = 0.1
)

// Kinds of facts that streams give beside b'(n).
const (
	factConnections = 'k' // time per byte over that many connections
	factDirection   = 'd' // time per byte in that direction
	factSendCPU     = 's'
	factRecvCPU     = 'r'
	factSendBusy    = 'S' // share of the window in which the sender's thread ran
	factRecvBusy    = 'R'
)

type fact struct {
	kind byte
	of   int64
}

type facts struct {
	resample.Table[fact]
	*resample.Estimates
}

// streamFacts records what streams say beside b'(n): the CPU time of both ends, the two directions where they differ,
// more connections, and which end limits a stream.
func (p *paired) streamFacts() {
	if len(p.counted) == 0 {
		return
	}
	f := &facts{}
	p.addFacts(&f.Table)
	f.Estimates = fit.Draw(p.fit, &f.Table)
	p.ends(f)
	p.directions(f)
	p.moreConnections(f)
}

func (p *paired) addFacts(t *resample.Table[fact]) {
	add := func(b *fit.Batch, kind byte, of int64, v float64) {
		if fit.Finite(v) {
			t.Add(t.Duration(fact{kind, of}), b.Dir, b.Round, b.Timings(), v)
		}
	}
	least := p.minPairs()
	for _, b := range p.counted {
		k := connectionsOf(b)
		if b.Point[names.FactorPairs] != least {
			continue
		}
		per := timePerByte(b)
		add(b, factConnections, k, per)
		if k > 1 {
			continue
		}
		direction := int64(0) // by hosts, not by ranks: hosts change roles
		if r := b.Lines[0].Ranks; r[0] > r[1] {
			direction = 1
		}
		add(b, factDirection, direction, per)
		send, recv, window, bytes := ends(b)
		if send > 0 && recv > 0 {
			add(b, factSendCPU, 0, send/bytes)
			add(b, factRecvCPU, 0, recv/bytes)
			add(b, factSendBusy, 0, send/window)
			add(b, factRecvBusy, 0, recv/window)
		}
	}
}

// minPairs is the smallest number of pairs whose streams were counted.
func (p *paired) minPairs() int64 {
	return slices.MinFunc(p.counted, func(a, b *fit.Batch) int {
		return cmp.Compare(a.Point[names.FactorPairs], b.Point[names.FactorPairs])
	}).Point[names.FactorPairs]
}

// ends are the CPU times of a batch's senders and receivers, the length of their windows [s], and their bytes.
func ends(b *fit.Batch) (send, recv, window, bytes float64) {
	for _, l := range b.Lines {
		send, recv = send+l.Aux[names.AuxCPUSend]*1e-9, recv+l.Aux[names.AuxCPURecv]*1e-9
		window += l.Aux[names.AuxWindow] * 1e-9
		bytes += l.Aux[names.AuxWindowChunks] * l.Aux[names.AuxChunk]
	}
	return send, recv, window, bytes
}

// ends records the CPU time per byte at both ends, and says which end limits a stream.
func (p *paired) ends(f *facts) {
	send, ok := f.Index[fact{kind: factSendCPU}]
	if !ok {
		return
	}
	recv := f.Index[fact{kind: factRecvCPU}]
	p.fit.Found("cpu_send", "s/B", "CPU time of a sender per byte of a stream", f.Values[send], f.Point(send))
	p.fit.Found("cpu_recv", "s/B", "CPU time of a receiver per byte of a stream", f.Values[recv], f.Point(recv))
	s, r := f.Values[f.Index[fact{kind: factSendBusy}]], f.Values[f.Index[fact{kind: factRecvBusy}]]
	who := "neither end's thread fills a CPU: " +
		"the path between them limits a stream, or the work of the kernel outside of the threads"
	switch {
	case s >= busy && r >= busy:
		who = "both ends' threads fill a CPU: the hosts limit a stream, not the network"
	case s >= busy:
		who = "the sender's thread fills a CPU: the sending host limits a stream, not the network"
	case r >= busy:
		who = "the receiver's thread fills a CPU: the receiving host limits a stream, not the network"
	case s+r >= busy && p.sharedCPUs:
		who = "the ends share a machine, and their threads together fill a CPU or wait for each other: " +
			"the machine limits a stream, not a network"
	}
	p.fit.Add(params.Notef("stream-limit", "%s (of the window the sender's thread runs %.0f%%, the receiver's %.0f%%)",
		who, 100*s, 100*r).With("send", s).With("recv", r))
}

// directions records both directions where they differ by more than their intervals and by more than is material.
func (p *paired) directions(f *facts) {
	i, okI := f.Index[fact{factDirection, 0}]
	j, okJ := f.Index[fact{factDirection, 1}]
	if !okI || !okJ {
		return
	}
	v, ci := f.Of(func(v []float64) float64 { return v[j]/v[i] - 1 })
	if math.Abs(v) < params.Material || !f.excludesZero(ci) {
		return
	}
	p.fit.Found("b_forward", "s/B", "time per byte from the first host of a pair to the second", f.Values[i],
		f.Point(i), p.streamTerms(f.Values[i])...)
	p.fit.Found("b_back", "s/B", "time per byte from the second host of a pair to the first", f.Values[j],
		f.Point(j), p.streamTerms(f.Values[j])...)
	p.fit.Add(params.Notef("directions-differ", "the time per byte of streams differs by %+.0f%% between the two "+
		"directions of the pairs", 100*v).With("difference", v))
}

// excludesZero reports whether an interval shows that its number is not zero. That of a single round shows nothing.
func (f *facts) excludesZero(ci [2]float64) bool { return f.Rounds > 1 && (ci[0] > 0 || ci[1] < 0) }

// moreConnections records the time per byte over several connections a pair, and warns where they are faster than one:
// then b is that of one connection, and not the link's.
func (p *paired) moreConnections(f *facts) {
	one, okOne := f.Index[fact{factConnections, 1}]
	s := params.Series{Name: "b'(connections)", Quantity: params.ConnectionTime, XName: "connections", Unit: "s/B",
		Factors: map[string]float64{"pairs": float64(p.minPairs())}}
	gain, most := 0.0, int64(1)
	connections := resample.Distinct(&f.Table, func(q fact) (int64, bool) { return q.of, q.kind == factConnections })
	for _, k := range connections {
		i := f.Index[fact{factConnections, k}]
		v := f.Values[i]
		fit.Tabulate(&s, float64(k), f.Estimates, i)
		if k == 1 || !okOne {
			continue
		}
		p.fit.Found(fmt.Sprintf("b_connections_%d", k), "s/B",
			fmt.Sprintf("time per byte of a stream over %d connections", k), v, f.Point(i))
		g, ci := f.Of(func(v []float64) float64 { return v[one]/v[i] - 1 })
		if g > max(fasterBy, gain) && f.excludesZero(ci) {
			gain, most = g, k
		}
	}
	if len(s.Points) > 1 {
		p.fit.Series = append(p.fit.Series, s)
	}
	if gain > 0 {
		p.fit.Add(params.Notef("connection-limited", "%d connections carry %.0f%% more than one: b is the time per byte of "+
			"one connection and its CPU; the link's is at most b_connections_%d", most, 100*gain, most).
			With("gain", gain).With("connections", float64(most)))
	}
}
