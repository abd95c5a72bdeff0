package export

import (
	"fmt"
	"math"
	"slices"

	"calib/fit"
)

// simgridSegment is how T(x) is divided for from < x ≤ to [B]: os and or are lines c0 + c1·x [s, s/B], latency [s] and time
// per byte of a flow [s/B] are the same for all x.
type simgridSegment struct {
	from, to int
	os, or   chord
	latency  float64
	perByte  float64
}

// chord is a line.
type chord struct{ c0, c1 float64 }

func (c chord) at(x float64) float64 { return c.c0 + c.c1*x }

// chordOf is the line through f at both ends of a range.
func chordOf(f func(float64) float64, lo, hi float64) chord {
	if lo == hi {
		return chord{c0: f(lo)}
	}
	c1 := (f(hi) - f(lo)) / (hi - lo)
	return chord{c0: f(lo) - c1*lo, c1: c1}
}

func (c chord) minus(d chord) chord          { return chord{c.c0 - d.c0, c.c1 - d.c1} }
func (c chord) times(k float64) chord        { return chord{c.c0 * k, c.c1 * k} }
func (c chord) least(lo, hi float64) float64 { return min(c.at(lo), c.at(hi)) }

// divider knows what was measured of messages that meet.
type divider struct {
	packet  float64               // payload of one packet, B
	send    func(float64) float64 // time of a host's sending side for a packet of so many bytes, s
	receive func(float64) float64 // the same of the receiving side; nil where it is not known
	contend func(float64) float64 // time by which a second message at once is later, s; nil but for a medium
	window  int                   // B that a connection sends at once
	buffer  float64               // B that a blocking send leaves to the kernel; 0 where it is not known
	kinks   []float64             // of send and receive, B
}

const (
	// windowPackets is what a TCP connection sends before it hears from the other end. Source: RFC 6928.
	windowPackets = 10
	// share of T(x) that is the least for a latency or a flow which should be none: SimGrid needs both.
	share = 0.01
	// waiting is how many send buffers a message has when its blocking send counts as waiting for the end of it. A medium
	// holds a message from the beginning, so that one buffer is enough there.
	waiting = 8
	// stepsOf is the number of steps to a factor of 2 where a flow is to be the same for all sizes: it is then within 4.5%.
	stepsOf = 8
)

func dividerOf(p *fit.Params, m *simgridModel) (*divider, error) {
	packet, err := need(p, "packet")
	if err != nil {
		return nil, err
	}
	if packet < 1 || packet > 1<<24 {
		return nil, fmt.Errorf("parameter packet is %g B: %w: want 1 B to 16 MiB", packet, ErrLimit)
	}
	d := &divider{packet: packet, window: int(windowPackets * packet)}
	m.used = append(m.used, "packet")
	if d.send, err = d.cost(p, "g_s"); err != nil {
		return nil, fmt.Errorf("function g_s, interval between packets that one host sends: %w; experiment gap gives it: measure with "+
			"calib run --only gap …", err)
	}
	if d.receive, err = d.cost(p, "g_r"); err != nil {
		m.warnings = append(m.warnings, "g_r is not known (experiment gather gives it): messages of many senders do not wait for each other at their receiver, "+
			"whose link is as fast as a single stream")
	}
	var known bool
	if d.buffer, known = found(p, "send_buffer"); known {
		m.used = append(m.used, "send_buffer")
	} else {
		m.warnings = append(m.warnings, "send_buffer is not known (pingpong on real connections gives it): a send returns at once, however long the message")
	}
	if d.buffer > 0 && d.buffer < float64(d.window) {
		d.buffer = float64(d.window)
	}
	d.contend = contention(p, packet)
	return d, nil
}

// cost returns a cost function of the run by the size of a packet.
func (d *divider) cost(p *fit.Params, name string) (func(float64) float64, error) {
	f, ok := p.Functions[name]
	if !ok {
		return nil, ErrMissing
	}
	at := func(m float64) float64 {
		v, err := f.Eval(map[string]float64{"m": m, "x": m}, p.Functions)
		if err != nil {
			return math.NaN()
		}
		return max(v, 0)
	}
	if v := at(1) + at(d.packet); math.IsNaN(v) || math.IsInf(v, 0) {
		return nil, fmt.Errorf("of form %q: %w", f.Form, ErrMissing)
	}
	if f.Form == fit.FloorForm && f.Coeff["c1"] > 0 {
		d.kinks = append(d.kinks, (f.Coeff["floor"]-f.Coeff["c0"])/f.Coeff["c1"])
	}
	return at, nil
}

// contention is how long a shared medium is busy with a packet [s], a_c + m·(b_c − a_c/p), so that full packets come to b_c a
// byte; b_c·m where a_c is not known, nil without b_c. Source: Stoica, Sultan, Keyes 1994, section 2, for one block.
func contention(p *fit.Params, packet float64) func(float64) float64 {
	bc, ok := found(p, "b_c")
	if !ok || bc <= 0 {
		return nil
	}
	ac, ok := found(p, "a_c")
	if !ok || ac < 0 {
		ac = 0
	}
	ac = min(ac, bc*packet)
	return func(m float64) float64 { return ac + m*(bc-ac/packet) }
}

// several is a cost of one packet for a message of x bytes: that of full packets, in the proportion of the sizes.
func (d *divider) several(cost func(float64) float64) func(float64) float64 {
	return func(x float64) float64 {
		if cost == nil {
			return 0
		}
		if x <= d.packet {
			return cost(x)
		}
		return cost(d.packet) * x / d.packet
	}
}

// divide fills the segments of m.
func (d *divider) divide(m *simgridModel) error {
	breaks := d.breaks(m)
	for i := range len(breaks) - 1 {
		s := simgridSegment{from: breaks[i], to: breaks[i+1]}
		if s.to <= d.window {
			d.small(m, &s)
		} else {
			d.large(m, &s)
		}
		lo, hi := float64(s.from+1), float64(s.to)
		if !(s.latency > 0 && s.perByte > 0) || s.os.least(lo, hi) < -1e-15 || s.or.least(lo, hi) < -1e-15 {
			return fmt.Errorf("T(x) from %d to %d bytes: %w: it cannot be divided into overheads, latency and flow", s.from+1, s.to, ErrLimit)
		}
		m.segments = append(m.segments, s)
	}
	return nil
}

// breaks are the boundaries between segments, ascending from 0 [B].
func (d *divider) breaks(m *simgridModel) []int {
	most := m.times[len(m.times)-1].to
	out := []int{0, most, int(d.packet), d.window}
	for _, t := range m.times {
		out = append(out, t.from)
	}
	for _, k := range d.kinks {
		if k > 0 && k < float64(most) {
			out = append(out, int(k))
		}
	}
	if d.buffer > 0 {
		last := d.meet(m)
		for x := d.buffer; x < min(last, float64(most)); x *= math.Pow(2, 1.0/stepsOf) {
			out = append(out, int(x))
		}
		if last < float64(most) {
			out = append(out, int(last))
		}
	}
	if d.contend != nil {
		for y := 1.0 + simgridEnvelope; y < float64(d.window+simgridEnvelope); y *= math.Pow(2, 1.0/stepsOf) {
			out = append(out, int(y)-simgridEnvelope)
		}
	}
	slices.Sort(out)
	out = slices.Compact(out)
	return out[:slices.Index(out, most)+1]
}

// small divides a message of one window: os is the sending side, the flow what a medium takes, or the receiving side as far
// as there is room.
func (d *divider) small(m *simgridModel, s *simgridSegment) {
	t, lo, hi := m.pieceOf(s.to), float64(s.from+1), float64(s.to)
	whole := chord{t.c0, t.c1}
	most := min(whole.at(lo)/(lo+simgridEnvelope), whole.at(hi)/(hi+simgridEnvelope)) // s/B of a flow that is all of T
	s.perByte = share * most
	if d.contend != nil {
		mid := math.Sqrt(lo * hi)
		busy := d.several(d.contend)(mid) * m.medium / m.bottleneck()
		s.perByte = min(max(s.perByte, busy/(mid+simgridEnvelope)), (1-2*share)*most)
	}
	rest := whole.minus(flowOf(s.perByte))
	s.os = chordOf(d.several(d.send), lo, hi)
	if part := (1 - share) * min(rest.at(lo)/s.os.at(lo), rest.at(hi)/s.os.at(hi)); part < 1 {
		s.os = s.os.times(part)
	}
	rest = rest.minus(s.os)
	room := rest.least(lo, hi)
	receive := chordOf(d.several(d.receive), lo, hi)
	s.latency = max(rest.minus(receive).least(lo, hi), share*room)
	s.or = rest.minus(chord{c0: s.latency})
}

// large divides a message of several windows: a flow, the rest of T latency, and os where a send waits for its buffer.
func (d *divider) large(m *simgridModel, s *simgridSegment) {
	t, lo, hi := m.pieceOf(s.to), float64(s.from+1), float64(s.to)
	whole := chord{t.c0, t.c1}
	most := min(whole.at(lo)/(lo+simgridEnvelope), whole.at(hi)/(hi+simgridEnvelope))
	if lo > d.meet(m) {
		s.perByte, s.latency = t.c1, t.c0-simgridEnvelope*t.c1
		return
	}
	if s.perByte = max(t.c1, share*most); s.perByte >= most {
		s.perByte = (1 - share) * most
	}
	if d.buffer > 0 && lo > d.buffer {
		s.perByte *= (1 + d.buffer/math.Sqrt(lo*hi)) / 2
	}
	rest := whole.minus(flowOf(s.perByte))
	room := rest.least(lo, hi)
	s.latency = min(max(t.c0-simgridEnvelope*t.c1, share*room), room)
	s.os = rest.minus(chord{c0: s.latency})
}

// meet is the largest size [B] of a send that does not wait for its receiver; larger ones are a latency and a flow, which T
// must be there.
func (d *divider) meet(m *simgridModel) float64 {
	most := float64(m.times[len(m.times)-1].from)
	if t := m.times[len(m.times)-1]; d.buffer == 0 || !(t.c0 > simgridEnvelope*t.c1) {
		return simgridMost - 1
	}
	buffers := 1.0
	if d.contend == nil {
		buffers = waiting
	}
	return math.Floor(min(max(buffers*d.buffer, most), simgridMost-1))
}

// limits says for which messages that meet the file is known to be too fast.
func (d *divider) limits(m *simgridModel) []string {
	var out []string
	if d.contend == nil && d.receive != nil {
		out = append(out, fmt.Sprintf("messages of %g to %d bytes from many senders to one receiver at once come out too fast: "+
			"their packets wait for each other for less than they should", d.packet, d.window))
	}
	if top := d.meet(m); d.buffer > 0 && d.buffer < top {
		out = append(out, fmt.Sprintf("messages of %.0f to %.0f bytes that share a link for long, as when one host sends many in a row, come out "+
			"too fast together, by up to half of the share above %.0f bytes", d.buffer, top, d.buffer))
	}
	return out
}

// flowOf is the time of a flow with its envelope.
func flowOf(perByte float64) chord { return chord{simgridEnvelope * perByte, perByte} }
