package export

import (
	"math"
	"slices"

	"calib/internal/lists"
	"calib/internal/units"
	"calib/params"
)

// timePiece is T(x) = c0 + c1·x for from < x ≤ to, in s and B.
type timePiece struct {
	from, to int
	line
}

// segment is how T(x) is divided for from < x ≤ to [B]: os and or are lines [s, s/B], latency [s] and time per byte of
// a flow [s/B] are the same for all x.
type segment struct {
	from, to int
	os, or   line
	latency  float64
	perByte  float64
}

// line is c0 + c1·x [s, s/B].
type line struct{ c0, c1 float64 }

func (l line) at(x float64) float64 { return l.c0 + l.c1*x }

func chord(f func(float64) float64, lo, hi float64) line {
	if lo == hi {
		return line{c0: f(lo)}
	}
	c1 := (f(hi) - f(lo)) / (hi - lo)
	return line{c0: f(lo) - c1*lo, c1: c1}
}

func flow(perByte float64) line { return line{envelope * perByte, perByte} }

func (l line) minus(k line) line { return line{l.c0 - k.c0, l.c1 - k.c1} }

func (l line) least(lo, hi float64) float64 { return min(l.at(lo), l.at(hi)) }

func (l line) perByte(lo, hi float64) float64 { // of a flow that is all of l, at the end where that is less
	return min(l.at(lo)/(lo+envelope), l.at(hi)/(hi+envelope))
}

const (
	windowPackets = 10   // what a TCP connection sends before it hears from the other end. Source: RFC 6928
	minShare      = 0.01 // the share of T(x) of a latency or a flow that should be none: SimGrid needs both
	// waitingBuffers is how many send buffers a message has when its blocking send counts as waiting for the end of it.
	// A medium holds a message from the beginning, so that one buffer is enough there.
	waitingBuffers = 8
	// octaveSteps is the number of steps to a factor of 2 where a flow is to be the same for all sizes: it is then
	// within 4.5%.
	octaveSteps = 8
)

func (p *platform) readPackets() {
	in := p.in
	packet, err := in.need("packet")
	in.fail(err)
	if packet < 1 || packet > 1<<24 {
		in.failf("parameter packet is %g B: %w: want 1 B to 16 MiB", packet, ErrLimit)
	}
	in.showUsed("packet")
	best, _ := params.BestSimulation(in.Params.Validation)
	p.packet, p.window, p.grown = packet, int(windowPackets*packet), best.Model != params.SimCold
	p.kinks = make([]float64, 2)
	if p.send, p.kinks[0], err = in.packetCost("g_s", packet); err != nil {
		in.failf("function g_s, interval between packets that one host sends: %w%s", err, in.Params.Hint("g_s"))
	}
	if p.receive, p.kinks[1], err = in.packetCost("g_r", packet); err != nil {
		in.warnf("messages of many senders do not wait for each other at their receiver, "+
			"whose link is as fast as a single stream: g_r is not known%s", in.Params.Hint("g_r"))
	}
	buffer, known := in.found("send_buffer")
	switch {
	case !known && !(p.grown && p.longestEager() < largestBoundary-1):
		in.warnf("send_buffer is not known (pingpong on real connections gives it): a send returns at once, however long " +
			"the message")
	case buffer < 0:
		in.failf("parameter send_buffer is %g B: %w: it must not be negative", buffer, ErrLimit)
	case buffer > 0:
		p.buffer = max(buffer, float64(p.window))
	}
	if known {
		in.showUsed("send_buffer")
	}
	p.contend = contention(in, packet)
}

// contention is how long a shared medium is busy with a packet [s]: a_c + m·(b_c − a_c/p), so that full packets come
// to b_c a byte; b_c·m where a_c is not known, nil without b_c. Source: Stoica, Sultan, Keyes 1994, section 2, for one
// block.
func contention(in *input, packet float64) func(float64) float64 {
	bc, ok := in.found("b_c")
	if !ok || bc <= 0 {
		return nil
	}
	ac, _ := in.found("a_c")
	ac = min(max(ac, 0), bc*packet)
	return func(m float64) float64 { return ac + m*(bc-ac/packet) }
}

// message is the cost of a message, given that of one packet: several full packets cost in the proportion of the sizes.
func (p *platform) message(cost func(float64) float64) func(float64) float64 {
	return func(x float64) float64 {
		switch {
		case cost == nil:
			return 0
		case x <= p.packet:
			return cost(x)
		}
		return cost(p.packet) * x / p.packet
	}
}

// divide fills the segments of p. It fails with class ErrLimit where a latency or a flow would not be positive, or an
// overhead negative.
func (p *platform) divide() {
	breaks := p.breaks()
	for i := range len(breaks) - 1 {
		s := segment{from: breaks[i], to: breaks[i+1]}
		if s.to <= p.window {
			p.small(&s)
		} else {
			p.large(&s)
		}
		lo, hi := float64(s.from+1), float64(s.to)
		if !(s.latency > 0 && s.perByte > 0) || s.os.least(lo, hi) < -1e-15 || s.or.least(lo, hi) < -1e-15 {
			p.in.failf("T(x) from %d to %d bytes: %w: it cannot be divided into overheads, latency and flow", s.from+1, s.to,
				ErrLimit)
			return
		}
		p.segments = append(p.segments, s)
	}
	p.latency = p.segments[0].latency
}

// breaks are the boundaries between segments, ascending from 0 [B].
func (p *platform) breaks() []int {
	most := p.longPiece().to
	out := []int{0, most, int(p.packet), p.window}
	out = append(out, lists.Map(p.times, func(t timePiece) int { return t.from })...)
	for _, k := range p.kinks {
		if k > 0 && k < float64(most) {
			out = append(out, int(k))
		}
	}
	last := min(p.longestEager(), float64(most))
	out = append(out, int(last))
	steps := func(from, to, added float64) {
		for x := from + added; x < to+added; x *= math.Pow(2, 1.0/octaveSteps) {
			out = append(out, int(x-added))
		}
	}
	if p.buffer > 0 {
		steps(p.buffer, last, 0)
	}
	if p.contend != nil {
		steps(1, float64(p.window), envelope)
	}
	slices.Sort(out)
	out = slices.Compact(out)
	return out[:slices.Index(out, most)+1]
}

// small divides a message of one window: os is the sending side, the flow what a medium takes, or the receiving side as
// far as there is room.
func (p *platform) small(s *segment) {
	lo, hi := float64(s.from+1), float64(s.to)
	whole := p.pieceOf(s.to).line
	most := whole.perByte(lo, hi)
	s.perByte = minShare * most
	if p.contend != nil {
		mid := math.Sqrt(lo * hi)
		busy := p.message(p.contend)(mid) * p.medium / p.bottleneck()
		s.perByte = min(max(s.perByte, busy/(mid+envelope)), (1-2*minShare)*most)
	}
	rest := whole.minus(flow(s.perByte))
	s.os = chord(p.message(p.send), lo, hi)
	if part := (1 - minShare) * min(rest.at(lo)/s.os.at(lo), rest.at(hi)/s.os.at(hi)); part < 1 {
		s.os = line{part * s.os.c0, part * s.os.c1}
	}
	rest = rest.minus(s.os)
	room := rest.least(lo, hi)
	receive := chord(p.message(p.receive), lo, hi)
	s.latency = max(rest.minus(receive).least(lo, hi), minShare*room)
	s.or = rest.minus(line{c0: s.latency})
}

// large divides a message of several windows: a flow, the rest of T latency, and os where a send waits for its buffer.
func (p *platform) large(s *segment) {
	t, lo, hi := p.pieceOf(s.to), float64(s.from+1), float64(s.to)
	if lo > p.longestEager() {
		s.perByte, s.latency = t.c1, t.c0-envelope*t.c1
		return
	}
	most := t.perByte(lo, hi)
	if s.perByte = max(t.c1, minShare*most); s.perByte >= most {
		s.perByte = (1 - minShare) * most
	}
	if p.buffer > 0 && lo > p.buffer {
		s.perByte *= (1 + p.buffer/math.Sqrt(lo*hi)) / 2
	}
	rest := t.minus(flow(s.perByte))
	room := rest.least(lo, hi)
	s.latency = min(max(t.c0-envelope*t.c1, minShare*room), room)
	s.os = rest.minus(line{c0: s.latency})
}

// longestEager is the largest size [B] of a send that does not wait for its receiver; larger ones are a latency and a
// flow, and so must T be there.
func (p *platform) longestEager() float64 {
	from := float64(largestBoundary) // where such pieces of T begin
	for _, t := range slices.Backward(p.times) {
		if !(t.c0 > envelope*t.c1) {
			break
		}
		from = float64(t.from)
	}
	eager := math.Inf(1)
	switch {
	case p.grown:
		eager = float64(p.window)
	case p.buffer > 0 && p.contend != nil:
		eager = p.buffer
	case p.buffer > 0:
		eager = waitingBuffers * p.buffer
	}
	return math.Floor(min(max(eager, from), largestBoundary-1))
}

// tooFast is by which share of the time of a short message a platform may be wrong without a word.
const tooFast = 0.05

// warnOfDetour says by how much messages between groups come out too slow or too fast: SimGrid multiplies the latency
// of a whole route by the factor of the size, the detour with it.
func (p *platform) warnOfDetour() {
	worst, at := 0.0, 0
	for _, s := range p.segments {
		for _, x := range []int{s.from + 1, min(s.to, int(p.measured))} {
			off := 2 * p.detour * (s.latency/p.latency - 1)
			if off /= p.pieceOf(x).at(float64(x)) + 2*p.detour; x <= s.to && math.Abs(off) > math.Abs(worst) {
				worst, at = off, x
			}
		}
	}
	if math.Abs(worst) > tooFast {
		p.in.warnf("messages between groups of hosts take up to %.0f%% too long or too short, at %d B %+.0f%%: SimGrid "+
			"multiplies the way between groups by the factor of the size", 100*math.Abs(worst), at, 100*worst)
	}
}

// warnOfTooFast warns of the messages that meet for which the file is known to be too fast.
func (p *platform) warnOfTooFast() {
	if p.contend == nil && p.receive != nil {
		p.in.warnf("messages of %g to %d bytes from many senders to one receiver at once come out too fast: "+
			"their packets wait for each other for less than they should", p.packet, p.window)
	}
	delay, n := p.in.Params.Functions["L_cluster"], len(p.hosts)
	share := delay.Coeff["l1"] * float64(n-2) / p.times[0].at(1)
	if delay.Usable() && delay.CI95["l1"][0] > 0 && share > tooFast {
		p.in.warnf("each further host that communicates makes a message %s slower. The file cannot say so: "+
			"short messages of all %d hosts at once come out %.0f%% too fast",
			units.Format(delay.Coeff["l1"], "s"), n, 100*share/(1+share))
	}
	top := p.longestEager()
	if p.grown && top < largestBoundary-1 {
		p.in.warnf("a send of more than %.0f bytes waits for its receiver, so that the messages of a host leave "+
			"one after the other, as they do once TCP's windows have grown; "+
			"where two ranks both send first, SimGrid reports a deadlock", top)
	}
	if p.buffer > 0 && p.buffer < top {
		p.in.warnf("messages of %.0f to %.0f bytes that share a link, as when one host sends many in a row, "+
			"come out too fast, by up to half of the time of their bytes above %.0f", p.buffer, top, p.buffer)
	}
}
