package hyperbolic

import (
	"fmt"
	"math"
	"strings"

	"calib/internal/units"
	"calib/params"
)

// margin is how much later a message, or how much longer a byte, may be while the most pairs send at once, relative to
// the fewest, before it matters to a user: the models predict patterns of traffic to within 10%, so that less
// contention than that cannot be told from their error.
const margin = 0.10

// effect is by how much the most pairs that send at once disturb each other, relative to the fewest, with its 95%
// interval. Its growth is NaN where only one number of pairs was measured. of is the time, or the time per byte, of the
// fewest, in unit.
type effect struct {
	growth, lo, hi float64
	of             float64
	unit           string
}

// kind is decided by two one-sided tests: a switch where the whole interval lies inside the margin, a shared medium
// where it lies above. Pairs that disturb each other by less than the margin, and certainly do, are neither: no network
// is a switch beside an a_c that is significant. Source: Schuirmann 1987, J. Pharmacokinet. Biopharm. 15 (two one-sided
// tests).
func (e effect) kind() params.Kind {
	switch {
	case e.lo > -margin && e.hi < margin && !e.little():
		return params.Switch
	case e.lo > margin:
		return params.Shared
	}
	return params.Unknown
}

// little reports whether more pairs certainly make a message later, and by less than what matters.
func (e effect) little() bool { return e.lo > 0 && e.hi < margin }

func (e effect) known() bool { return !math.IsNaN(e.growth) }

// falls reports whether the interval lies below the margin: more pairs make a message earlier.
func (e effect) falls() bool { return e.hi < -margin }

// words says what was seen: as a share or, where the interval of that holds −100%, less than nothing, as a difference.
func (e effect) words() string {
	if e.lo <= -1 {
		by := func(share float64) string { return strings.Replace("+"+units.Format(share*e.of, e.unit), "+-", "-", 1) }
		return fmt.Sprintf("%s [%s, %s] of %s", by(e.growth), by(e.lo), by(e.hi), units.Format(e.of, e.unit))
	}
	return fmt.Sprintf("%+.0f%% [%+.0f%%, %+.0f%%]", 100*e.growth, 100*e.lo, 100*e.hi)
}

// character finds whether the network behaves like a switch or like a shared medium.
func (p *paired) character(f *fixedFit, m *mediumFit) {
	kind := &params.Network{Packets: params.Unknown, Streams: params.Unknown}
	p.fit.Network = kind
	if len(f.n) < 2 {
		p.fit.Note(params.NetworkUnknown, "one pair only: "+
			"whether the network behaves like a switch or like a shared medium cannot be seen")
		return
	}
	base, span := f.line.At(f.n[0]), f.n[len(f.n)-1]-f.n[0]
	packets := effect{f.line.C1 * span / base, f.slopeCI[0] * span / base, f.slopeCI[1] * span / base, base, "s"}
	streams := m.growth
	if packets.falls() {
		p.fit.Warn(params.NegativeAC, "a_c is negative: more pairs make the last delivery earlier, "+
			"which no network does; measure again on idle hosts")
		return
	}
	enough := p.times.Rounds > 1
	if enough && p.told("a_c") {
		kind.Packets = packets.kind()
	}
	if enough && streams.known() && p.told("b_c") {
		kind.Streams = streams.kind()
	}
	if kind.Packets == params.Unknown || kind.Streams == params.Unknown {
		p.unknown(kind, packets, streams, f.n[len(f.n)-1])
	}
}

func (p *paired) told(name string) bool { return p.fit.Parameters[name].Estimate == nil }

// unknown says what is not known of the network, and what would decide it.
func (p *paired) unknown(kind *params.Network, packets, streams effect, most float64) {
	var said string
	open := false // more data would decide
	note := params.Notef(params.NetworkUnknown, "").With("margin", margin)
	add := func(k params.Kind, e effect, name, what string) {
		if !e.known() {
			return
		}
		note = note.With(name, e.growth).With(name+"_lo", e.lo).With(name+"_hi", e.hi)
		if k == params.Unknown {
			if said != "" {
				said += ", and "
			}
			said += fmt.Sprintf("%s %s", what, e.words())
			open = open || !e.little()
		}
	}
	add(kind.Packets, packets, "packets", "a short message takes")
	add(kind.Streams, streams, "streams", "a byte of a stream takes")
	if said == "" {
		said, open = "streams were not measured with several numbers of pairs", true
	} else {
		said = fmt.Sprintf("with %s at once %s, against one pair; from %.0f%% on that is contention",
			units.Plural(int64(most), "pair"), said, 100*margin)
	}
	note.Message = said + ". There is contention, but less than that"
	if open {
		note.Message = said + ". " + p.decides(most)
	}
	p.fit.Add(note)
}

// decides says what would tell the kind of network.
func (p *paired) decides(most float64) string {
	switch {
	case p.cutBursts || p.cutStreams:
		return "Pairs differ: more hosts that are alike would decide it"
	case p.times.Rounds < 2:
		return "One round has no interval: more rounds would decide it"
	case most <= 2:
		return "More hosts, for more pairs at once, would decide it, or more rounds (a longer --budget)"
	}
	return "More rounds (a longer --budget) would decide it, or more hosts"
}

// twoPairs is why contention is not told from a slow host.
const twoPairs = "two pairs that differ cannot tell a slow host from contention: more hosts would"

// slowMet is why contention of one-packet messages is not known where slow pairs were left out: a slow message may come
// when the others are through.
const slowMet = "slow pairs are left out, and how often they met the others is not known: measure more rounds, or " +
	"take the slow hosts out of the hosts file"

// withhold takes a_c and b_c out of use where what looks like contention may be a slow host: with two pairs, all bursts
// and streams of both have a slow one. Where slow pairs were left out of streams that do not slow down, the others met
// one stream fewer than the bound of b_c was taken for. a is provisional where a_c is withheld.
func (p *paired) withhold(f *fixedFit, m *mediumFit) {
	why := func(most float64) string {
		if most <= 2 {
			return twoPairs
		}
		return slowMet
	}
	if p.cutBursts {
		most := f.n[len(f.n)-1]
		if ac := p.fit.Parameters["a_c"]; ac.Value != nil && (most <= 2 || f.slopeCI[0] > 0) {
			p.atMost("a_c", f.a.Values[0], why(most)) // a'(1) holds one a_c
			p.doubted("a")
		}
	}
	if !p.cutStreams {
		return
	}
	most := m.n[len(m.n)-1]
	switch bc := p.fit.Parameters["b_c"]; {
	case bc.Value != nil && most <= 2:
		p.atMost("b_c", 0, why(most))
	case bc.Value != nil && m.rises():
		p.doubted("b_c")
	case bc.Status == params.StatusUnidentifiable && bc.Bound != nil && most > 1 && m.growth.known():
		bc.Bound = &params.Bound{bc.Bound[0], bc.Bound[1] * most / (most - 1)}
		bc.Why = fmt.Sprintf("b' does not grow up to n = %g: the streams do not fill the network. Slow pairs were left out, "+
			"so that %g or more of the others met: b_c is at most b'(%g)/%g", most, most-1, most, most-1)
		p.fit.Parameters["b_c"] = bc
	}
}

// atMost withholds a parameter that is known to be no more than the upper end of its interval, or than least.
func (p *paired) atMost(name string, least float64, why string) {
	q := p.fit.Parameters[name]
	_, _, top, _ := q.Ends()
	q.Withhold(params.StatusUnidentifiable, why)
	q.Bound = &params.Bound{0, max(0, least, top)}
	p.fit.Parameters[name] = q
}

// doubted makes a parameter provisional that has a value.
func (p *paired) doubted(name string) {
	if q := p.fit.Parameters[name]; q.Value != nil {
		q.Status, q.Why = params.StatusProvisional, slowMet
		p.fit.Parameters[name] = q
	}
}
