package lab

import (
	"fmt"
	"math"
	"math/bits"
	"strings"

	"calib/internal/netspec"
	"calib/internal/units"
)

type Stats struct {
	Lab    string  `json:"lab"`
	Uptime float64 `json:"uptime_s"`
	// Priority is the scheduling class the wire obtained: "rr" (real time), "nice" or "normal".
	Priority string `json:"priority"`
	// Awake: idle CPUs are kept out of states that they leave slowly.
	Awake bool `json:"awake"`
	// PreciseSend: hosts stamp TCP segments with microseconds, so that a packet's time does not depend on when the wire
	// read it.
	PreciseSend bool `json:"precise_send"`
	// Tolerated is the lateness that 95% of the packets must keep within [ns]: 30 µs, and 2% of the time that the
	// fastest packet of the network takes. Times in the lab have a tolerance of 2% + 30 µs.
	Tolerated units.Nanos `json:"tolerated_ns"`
	// MinRTO is the least retransmission timeout that the lab gives its hosts [ns]; 0 is the kernel's own.
	MinRTO units.Nanos `json:"least_rto_ns"`
	Hosts  []HostStats `json:"hosts"`
	// MediumQueueMax is the largest number of packets in the shared medium; ports of a switch are counted by host.
	MediumQueueMax int `json:"medium_queue_max_packets"`
	// Strays are packets to no host of the lab, such as the kernel's own multicast.
	Strays uint64 `json:"stray_packets"`
	// Overruns are packets dropped because the wire's memory was full: not a property of the emulated network.
	Overruns uint64 `json:"overrun_packets"`
	// Refused are packets the receiving kernel did not take.
	Refused uint64 `json:"refused_packets"`
	// Lateness is, for each charged packet, the time from when it was due until it was handed to the receiving kernel.
	Lateness Lateness `json:"lateness"`
}

// HostStats counts one host's packets. Drops are counted at the destination.
type HostStats struct {
	Host         string `json:"host"`
	SentPackets  uint64 `json:"sent_packets"`
	SentBytes    uint64 `json:"sent_payload_bytes"`
	SentFree     uint64 `json:"sent_free_packets"` // of SentPackets, those that passed without service
	RecvPackets  uint64 `json:"received_packets"`
	RecvBytes    uint64 `json:"received_payload_bytes"`
	BufferDrops  uint64 `json:"buffer_drops"`
	LossDrops    uint64 `json:"loss_drops"`
	TxQueueMax   int    `json:"tx_queue_max_packets"`
	PortQueueMax int    `json:"port_queue_max_packets"`
	RxQueueMax   int    `json:"rx_queue_max_packets"`
}

func tolerated(spec *netspec.Spec) units.Nanos {
	least := spec.Way(0, spec.Hosts-1, 1, 2)
	for src := range spec.Hosts {
		for dst := range spec.Hosts {
			if src != dst {
				least = min(least, spec.Way(src, dst, 1, 2))
			}
		}
	}
	return 30*units.Microsecond + units.Nanos(0.02*least*float64(units.Second))
}

const kernelRTO = 200 * units.Millisecond

type Verdict struct {
	Late    bool     `json:"late"` // measurements made meanwhile must not be used
	Why     []string `json:"why,omitempty"`
	Packets uint64   `json:"packets"`
	Quantiles
}

// Judge compares a lab's lateness with bounds, of the share of packets that may be later than a time. A lab that moved
// no packet is not late.
//
//   - 5% may be later than Stats.Tolerated. Every estimator is a median, which one late packet in twenty does not move.
//   - 1% may be more than 1 ms late, or more than Stats.Tolerated where that is longer. When a virtual machine is
//     stopped for a moment, every packet in flight is late at once. The medians of rounds tolerate that, on a real host
//     too, while it is rare.
//   - None may be later than the hosts' least retransmission timeout: it would look like a loss.
func Judge(s Stats) Verdict {
	l := &s.Lateness
	v := Verdict{Packets: l.Count, Quantiles: l.Quantiles}
	for _, b := range []struct {
		late  units.Nanos
		share float64
	}{{s.Tolerated, 0.05}, {max(s.Tolerated, units.Millisecond), 0.01}, {max(s.MinRTO, kernelRTO), 0}} {
		n, allowed := l.above(b.late), b.share*float64(l.Count)
		if b.share > 0 { // a single late packet exceeds only a bound that allows none
			allowed = max(1, allowed)
		}
		if float64(n) > allowed {
			v.Why = append(v.Why, fmt.Sprintf("%d of %d packets were more than %v late, %.3g%% may be",
				n, l.Count, b.late, 100*b.share))
		}
	}
	if s.Overruns > 0 {
		v.Why = append(v.Why, fmt.Sprintf("the wire had no memory for %d packets", s.Overruns))
	}
	v.Late = len(v.Why) > 0
	return v
}

func (v Verdict) String() string {
	word := "on time"
	if v.Late {
		word = "LATE"
	}
	s := fmt.Sprintf("%s: %d packets, lateness p50 %v, p99 %v, p99.9 %v, max %v",
		word, v.Packets, units.Nanos(v.P50), units.Nanos(v.P99), units.Nanos(v.P999), units.Nanos(v.Max))
	return strings.Join(append([]string{s}, v.Why...), "; ")
}

// Lateness is what a histogram has of times.
type Lateness struct {
	Count uint64 `json:"count"`
	Quantiles
	Buckets [][2]uint64 `json:"buckets_ns"` // of those that are not empty: the upper bound [ns], and how many
}

type Quantiles struct {
	P50  int64 `json:"p50_ns"`
	P99  int64 `json:"p99_ns"`
	P999 int64 `json:"p999_ns"`
	Max  int64 `json:"max_ns"`
}

// above returns how many of the times were above ns, to within the bucket of ns.
func (l *Lateness) above(ns units.Nanos) (n uint64) {
	for _, b := range l.Buckets {
		if b[0] > uint64(upper(bucketOf(int64(ns)))) {
			n += b[1]
		}
	}
	return n
}

// quantile returns a time that a fraction q of all do not exceed [ns]: the upper edge of the bucket, never more than
// the largest; 0 if there are none.
func (l *Lateness) quantile(q float64) int64 {
	want := uint64(math.Ceil(q * float64(l.Count)))
	var seen uint64
	for _, b := range l.Buckets {
		if seen += b[1]; seen >= want {
			return min(int64(b[0]), l.Max)
		}
	}
	return l.Max
}

// histogram counts times in buckets that grow by an eighth of a power of two: exact to 12.5% from nanoseconds to
// minutes, in 2.5 KB, with no allocation to add to it.
type histogram struct {
	counts [buckets]uint64
	worst  int64
}

const (
	subBits = 3
	buckets = (40 - subBits + 1) << subBits // to 2^40 ns, 18 minutes
)

// add counts a time in nanoseconds. A negative one counts as zero.
func (h *histogram) add(ns int64) {
	ns = max(ns, 0)
	h.counts[bucketOf(ns)]++
	h.worst = max(h.worst, ns)
}

func bucketOf(ns int64) int {
	v := uint64(ns)
	if v < 1<<subBits {
		return int(v)
	}
	exp := bits.Len64(v) - 1 - subBits
	return min(exp<<subBits+int(v>>exp), buckets-1)
}

func upper(bucket int) int64 {
	if bucket < 1<<subBits {
		return int64(bucket)
	}
	exp := bucket>>subBits - 1
	mantissa := int64(bucket&(1<<subBits-1) | 1<<subBits)
	return (mantissa+1)<<exp - 1
}

func (h *histogram) lateness() Lateness {
	l := Lateness{Quantiles: Quantiles{Max: h.worst}, Buckets: [][2]uint64{}}
	for i, n := range h.counts {
		if n > 0 {
			l.Count += n
			l.Buckets = append(l.Buckets, [2]uint64{uint64(upper(i)), n})
		}
	}
	l.P50, l.P99, l.P999 = l.quantile(0.5), l.quantile(0.99), l.quantile(0.999)
	return l
}
