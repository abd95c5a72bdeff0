package export

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// platform is what a platform file says, and what was measured of messages that meet, which it is made of.
type platform struct {
	in       *input
	hosts    []string
	times    []timePiece
	measured float64 // largest size that T was measured at, B
	segments []segment
	latency  float64 // of a route, s
	up, down float64 // bandwidth of a host's links, B/s; 0 for none
	medium   float64 // bandwidth, B/s; 0 for none

	packet  float64               // payload of one packet, B
	send    func(float64) float64 // time of a host's sending side for a packet of so many bytes, s
	receive func(float64) float64 // the same of the receiving side; nil where it is not known
	contend func(float64) float64 // time by which a second message at once is later, s; nil but for a medium
	window  int                   // B that a connection sends at once when it begins
	grown   bool                  // whether windows have grown, and hold every message
	buffer  float64               // B that a blocking send leaves to the kernel; 0 where it is not known
	kinks   []float64             // sizes at which send and receive bend, B
}

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

// platformOf divides T(x) over SimGrid's steps; nil is an error.
func platformOf(in *input) *platform {
	p := &platform{in: in}
	for _, step := range []func(){p.readTimes, p.readPackets, p.nameHosts, p.addLinks, p.divide, p.checkLinks} {
		if step(); in.err != nil {
			return nil
		}
	}
	p.warnOfTooFast()
	in.warnOfSlowPairs()
	return p
}

// readTimes takes T(x) of the segmented fit; breaks are rounded down, which is the same for whole sizes.
func (p *platform) readTimes() {
	pieces, measured, ok := p.in.pieces("T")
	if !ok {
		err := p.in.noFunction("T")
		if err == ErrMissing {
			err = fmt.Errorf("function T, time of a message by its size: %w%s", err, p.in.Params.Hint("T"))
		}
		p.in.fail(err)
		return
	}
	if len(pieces) == 0 {
		p.in.failf("function T has no segments: %w; fit the run again with calib fit", ErrMissing)
		return
	}
	p.measured = measured
	for i, s := range pieces {
		if i > 0 {
			p.times[i-1].to = int(s.From)
		}
		p.times = append(p.times, timePiece{from: int(s.From), to: largestBoundary - envelope, line: line{s.C0, s.C1}})
	}
	for _, t := range p.times {
		if t.from >= t.to || !(t.at(float64(t.from+1)) > 0) || !(t.at(float64(t.to)) > 0) {
			p.in.failf("T(x) from %d to %d bytes is %g s + %g s/B·x: %w: it must be positive, over 1 B at least",
				t.from, t.to, t.c0, t.c1, ErrLimit)
		}
	}
	if p.longPiece().c1 <= 0 {
		p.in.failf("T(x) does not grow above %d bytes: %w: a link needs a bandwidth; measure larger messages: "+
			"%s --sizes 1,1KiB..4MiB",
			p.longPiece().from, ErrLimit, p.in.Params.Measure("T"))
	}
}

// longPiece is T of the largest messages.
func (p *platform) longPiece() timePiece { return p.times[len(p.times)-1] }

// pieceOf is T of messages around x bytes.
func (p *platform) pieceOf(x int) timePiece {
	for _, t := range p.times {
		if x <= t.to {
			return t
		}
	}
	return p.longPiece()
}

// nameHosts takes the names of the run; those that a platform or a list of hosts cannot hold are changed.
func (p *platform) nameHosts() {
	n := p.in.hostCount()
	if n > maxPlatformHosts {
		p.in.failf("a platform of %d hosts: %w: it has a route for each two of them; choose 2 to %d with --hosts", n,
			ErrOption, maxPlatformHosts)
		return
	}
	names := p.in.Params.Run.Hosts
	seen := map[string]bool{}
	changed := 0
	for i := range n {
		name := "host-" + strconv.Itoa(i)
		if n <= len(names) {
			if name = plainName(names[i]); name != names[i] {
				changed++
			}
		}
		for seen[name] || name == "" {
			name += "_" + strconv.Itoa(i)
		}
		seen[name] = true
		p.hosts = append(p.hosts, name)
	}
	if changed > 0 {
		p.in.warnf("%d names of hosts have characters that a list of hosts cannot hold: these are _", changed)
	}
	if n > len(names) {
		p.in.warnf("the file has %d hosts, %d were measured: what more of them share is not known", n, len(names))
	}
}

func plainName(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '.' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, s)
}

// flat is by how much L may grow over the hosts measured for the network to count as a switch: a share of L for the
// fewest.
const flat = 0.05

// addLinks decides between a switch and a shared medium, by b_c of paired; without it a switch is one where the delay
// does not grow with the hosts that communicate.
func (p *platform) addLinks() {
	in := p.in
	if bc, ok := in.found("b_c"); ok && bc > 0 {
		in.showUsed("b_c")
		p.medium = 1 / bc
		if b, ok := in.found("b"); ok && b > 0 {
			in.showUsed("b")
			p.up, p.down = 1/b, 1/b
		} else {
			in.warnf("b is not known, the medium being the limit of a single pair: hosts have no link of their own")
		}
		return
	}
	p.up = 1 / p.longPiece().c1
	p.down = p.up
	if p.receive != nil {
		p.down = max(p.up, p.packet/p.receive(p.packet))
	}
	delay, change, measured := in.delayOverHosts()
	switch q := in.Params.Parameters["b_c"]; {
	case q.Bound != nil:
		in.warnf("b_c is not known (%s): the network is a switch without a limit of its own", oneLine(q.Why))
	case measured && delay > 0 && change <= flat*delay:
		in.warnf("paired was not measured: that the network is a switch is taken from load, where the delay does not grow " +
			"with the hosts")
	case len(in.Params.Run.Hosts) == 2:
		in.warnf("two hosts: whether the network is a switch or a shared medium cannot be seen, a switch is written")
	default:
		in.failf("parameter b_c, whether the network is a switch or a shared medium: %w, which takes four hosts%s",
			ErrMissing, in.Params.Hint("b_c"))
	}
}

// checkLinks refuses a bandwidth that is not finite, and one that TCP-gamma would limit, to gamma/(2·latency).
func (p *platform) checkLinks() {
	if most := max(p.up, p.down, p.medium); math.IsInf(most, 0) || p.bottleneck() > gamma/(2*p.latency) {
		p.in.failf("links of up to %g B/s with a latency of %g s: %w: SimGrid would limit them by a window", most, p.latency,
			ErrLimit)
	}
}

// bottleneck is the bandwidth of a flow alone before its factor [B/s].
func (p *platform) bottleneck() float64 {
	least := math.Inf(1)
	for _, bandwidth := range []float64{p.up, p.down, p.medium} {
		if bandwidth > 0 {
			least = min(least, bandwidth)
		}
	}
	return least
}
