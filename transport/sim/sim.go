// Package sim is a network in virtual time whose parameters are known exactly, so that everything calib measures and
// fits can be compared with the truth. Its Group has the same methods as that of real TCP, and experiments cannot
// distinguish the two.
//
// It is a discrete-event simulation of the network of internal/netspec: a packet passes the sending host's block, the
// medium (shared, or the port of its destination, with a finite buffer), the delay L and the receiving host's block,
// each a first-come first-served server. Above it lies a plain byte stream per pair of hosts: a message is cut into
// packets of at most MSS bytes, a packet never holds bytes of two messages, a finite send buffer and window pace the
// sender, and a packet that the medium drops is sent again after a fixed timeout. There is no congestion control, on
// purpose: its transients would be in every measurement and in none of the models. Datagrams take the same path, and
// are not sent again.
//
// Ranks are ordinary goroutines, but exactly one of them runs at a time and time advances only when all are blocked.
// The same seed therefore gives the same nanoseconds on any number of processors. Calls cost no virtual time unless
// Options.Cost says so. A loop that polls Now at no cost never sees time pass and never ends: use WaitUntil.
//
// Time is kept in int64 picoseconds: service times are rounded to 1 ps, and a simulation can last 100 days.
package sim

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"os"
	"sync"

	"calib/internal/netspec"
	"calib/internal/units"
)

var (
	// ErrDeadlock reports that every rank waited for another. All ranks get it.
	ErrDeadlock = errors.New("deadlock: every rank waits and nothing is under way")
	// ErrPeer reports that the other rank has left, and that all it sent before was received.
	ErrPeer   = errors.New("the peer has left")
	ErrClosed = errors.New("group is closed")
	// ErrTimeout reports that a call waited longer than Options.Deadline. It is an os.ErrDeadlineExceeded.
	ErrTimeout = fmt.Errorf("sim: %w", os.ErrDeadlineExceeded)
	// ErrRank reports a rank outside the team, or the caller's own.
	ErrRank = errors.New("no such peer in the team")
)

// Options change what the specification leaves open. The zero value is a noiseless network of hosts with equal clocks.
type Options struct {
	Noise Noise
	Cost  Cost
	CPUs  int    // of a host; 0 means 2
	Seed  uint64 // of the noise, the clocks and, with Spec.Seed, of the losses

	// SendBuffer is a connection's room for bytes that have not left the host's block; a message that does not fit
	// blocks Send until its last byte is in. A host's datagrams have as much. 0 means 64 KiB.
	SendBuffer units.Bytes
	// Window bounds the bytes sent but not yet read by the receiver. 0 means 64 KiB, or twice the bandwidth-delay
	// product where that is more.
	Window units.Bytes
	// RTO is the time from a loss to the packet's next transmission. 0 means 200 ms.
	RTO units.Nanos
	// DelayedAck is how long a receiver delays an acknowledgement. A second packet, or data in the other direction,
	// sends it at once. 0 means that every packet is acknowledged at once. Acknowledgements take the time L and no
	// capacity, and only Nagle's algorithm and Congestion wait for them.
	DelayedAck units.Nanos
	// Congestion is how many packets of a connection may be unacknowledged: a congestion window that does not grow. 0
	// means no bound.
	Congestion int
	// DatagramBuffer is a host's room for datagrams that were not received yet [packets]. 0 means unlimited.
	DatagramBuffer int
	// Deadline bounds every wait in Send, Recv, RecvAny, Reopen and SendDatagram, in virtual time. 0 means no bound:
	// then only a deadlock ends a wait.
	Deadline units.Nanos

	// ClockOffset and ClockDrift bound the clocks: each host's offset is drawn from ±ClockOffset, its drift from
	// ±ClockDrift [ppm]. ClockStep is the resolution of Now; 0 means 1 ns.
	ClockOffset units.Nanos
	ClockDrift  float64
	ClockStep   units.Nanos

	// Active: to the network's fabric, every host has just sent something when a run begins. Otherwise none has.
	Active bool

	// Hollow messages have a length and no content: what is received is left as it was. For those who ask for times
	// alone.
	Hollow bool
}

// Noise disturbs the service time of every packet at every block. Jitter does not change the median; Delay does.
type Noise struct {
	Jitter float64     // standard deviation of a factor around 1 (normal, cut at 0)
	Delay  units.Nanos // mean of an exponential delay
	// Round is the standard deviation of one factor around 1 that all packets of a Run or Group share: the drift
	// between rounds that makes samples of one round correlated.
	Round float64
}

// Net is a simulated network. Its methods may be called from any goroutine.
type Net struct {
	spec  netspec.Spec
	opt   Options
	bad   error // why the specification or the options are invalid
	clock []clock

	mu      sync.Mutex
	last    []instant // per host: when its last group ended; its next one starts no earlier
	runs    int
	waiting map[string]*rendezvous
}

// New returns the network of spec. A specification that does not validate is reported by the first Run or Group.
func New(spec netspec.Spec, opt Options) *Net {
	n := &Net{spec: spec, opt: opt, waiting: map[string]*rendezvous{}}
	if err := spec.Validate(); err != nil {
		n.bad = fmt.Errorf("simulated network: %w", err)
		return n
	}
	n.opt.setDefaults(&spec)
	n.last = make([]instant, spec.Hosts)
	n.clock = make([]clock, spec.Hosts)
	rng := rand.New(rand.NewPCG(opt.Seed, 0x636c6f636b)) // a stream of its own: the clocks do not depend on the traffic
	for i := range n.clock {
		n.clock[i] = clock{
			offset: units.Nanos(math.Round((2*rng.Float64() - 1) * float64(opt.ClockOffset))),
			ppm:    (2*rng.Float64() - 1) * opt.ClockDrift,
			step:   max(1, opt.ClockStep),
		}
	}
	return n
}

func (o *Options) setDefaults(spec *netspec.Spec) {
	o.CPUs = cmp.Or(o.CPUs, 2)
	o.SendBuffer = cmp.Or(o.SendBuffer, 64*units.KiB)
	o.RTO = cmp.Or(o.RTO, 200*units.Millisecond)
	if o.Window == 0 {
		o.Window = 64 * units.KiB
		slowest := max(spec.Service(spec.Host, spec.MSS), spec.Service(spec.Medium, spec.MSS))
		if slowest > 0 {
			delay := spec.L
			for _, l := range spec.Links {
				delay += l.L
			}
			packets := min(8+2*math.Ceil(delay/slowest), 1<<20)
			o.Window = max(o.Window, units.Bytes(packets)*units.Bytes(spec.MSS))
		}
	}
}

// Clock returns the truth about a host's clock: it reads offset when the network starts, and gains ppm microseconds a
// second.
func (n *Net) Clock(host int) (offset units.Nanos, ppm float64) {
	return n.clock[host].offset, n.clock[host].ppm
}

// rng returns the source of one group's noise and losses: a function of the seeds and the group's name and hosts only.
func (n *Net) rng(key string, teams [][]int) *rand.Rand {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s %v %d", key, teams, n.spec.Seed)
	return rand.New(rand.NewPCG(n.opt.Seed, h.Sum64()))
}

// Cost is the time a call takes on its own host, before anything else (Send, SendSome, SendDatagram) or after it (Recv,
// RecvAny, RecvDatagram, Now, Pending), and what the host's kernel takes for a packet that arrives. With m the bytes of
// the call, or of the packet:
//
//	O_s(m) = Send + SendByte·m
//	U_r(m) = Recv + RecvByte·m
//	O_r(m) = Arrive + ArriveByte·m
//
// O_r is a first-come first-served server of the host's, behind its receiving block: Recv gets a packet's bytes when it
// has been handled. So for messages of one packet a round trip is 2(O_s + L + O_r + U_r), with L the way from block to
// block.
type Cost struct {
	Send, Recv, Now    units.Nanos // Now is the cost of Pending too
	SendByte, RecvByte float64     // ns/B
	Arrive             units.Nanos
	ArriveByte         float64     // ns/B
	Wake               units.Nanos // of a Recv that had to wait for its bytes, in addition
}

func (c *Cost) send(n int) instant   { return linear(c.Send, c.SendByte, n) }
func (c *Cost) recv(n int) instant   { return linear(c.Recv, c.RecvByte, n) }
func (c *Cost) arrive(n int) instant { return linear(c.Arrive, c.ArriveByte, n) }

func linear(fixed units.Nanos, perByte float64, n int) instant {
	t := fromNanos(fixed)
	if perByte != 0 {
		t += instant(math.Round(perByte * float64(n) * perNano))
	}
	return t
}
