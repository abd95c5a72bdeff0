package lab

import (
	"encoding/json"
	"fmt"
	"math"
	"math/bits"

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
	Lateness Histogram `json:"lateness"`
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

// bounds beyond which a lab is late: the share of packets that may be later than a time.
//
//   - 5% may be later than Stats.Tolerated. Every estimator is a median, which one late packet in twenty does not move.
//   - 1% may be more than 1 ms late, or more than Stats.Tolerated where that is longer. When a virtual machine is
//     stopped for a moment, every packet in flight is late at once. The medians of rounds tolerate that, on a real host
//     too, while it is rare.
//   - None may be later than the hosts' least retransmission timeout: it would look like a loss.
func (s Stats) bounds() []bound {
	return []bound{{s.Tolerated, 0.05}, {max(s.Tolerated, units.Millisecond), 0.01}, {max(s.MinRTO, kernelRTO), 0}}
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

type bound struct {
	late  units.Nanos
	share float64
}

// exceeded says how h exceeds the bound, or "". A single late packet exceeds only a bound that allows none.
func (b bound) exceeded(h *Histogram) string {
	n := h.Above(int64(b.late))
	allowed := b.share * float64(h.Count())
	if b.share > 0 {
		allowed = max(1, allowed)
	}
	if float64(n) <= allowed {
		return ""
	}
	return fmt.Sprintf("%d of %d packets were more than %v late, %.3g%% may be", n, h.Count(), b.late, 100*b.share)
}

type Verdict struct {
	Late    bool     `json:"late"` // measurements made meanwhile must not be used
	Why     []string `json:"why,omitempty"`
	Packets uint64   `json:"packets"`
	Quantiles
}

// Judge compares a lab's lateness with the bounds. A lab that moved no packet is not late.
func Judge(s Stats) Verdict {
	h := &s.Lateness
	v := Verdict{Packets: h.Count(), Quantiles: h.quantiles()}
	for _, b := range s.bounds() {
		if why := b.exceeded(h); why != "" {
			v.Why = append(v.Why, why)
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
	for _, w := range v.Why {
		s += "; " + w
	}
	return s
}

// Histogram counts times in buckets that grow by an eighth of a power of two: exact to 12.5% from nanoseconds to
// minutes, in 2.5 KB, with no allocation to add to it.
type Histogram struct {
	counts [buckets]uint64
	n      uint64
	worst  int64
}

const (
	subBits = 3
	buckets = (40 - subBits + 1) << subBits // to 2^40 ns, 18 minutes
)

// Add counts a time in nanoseconds. A negative one counts as zero.
func (h *Histogram) Add(ns int64) {
	ns = max(ns, 0)
	h.counts[bucketOf(ns)]++
	h.n++
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

func (h *Histogram) Count() uint64 { return h.n }

// Quantile returns a time that a fraction q of those added do not exceed [ns]: the upper edge of the bucket, never more
// than the largest added; 0 if there are none.
func (h *Histogram) Quantile(q float64) int64 {
	want := uint64(math.Ceil(q * float64(h.n)))
	var seen uint64
	for i, c := range h.counts {
		seen += c
		if c > 0 && seen >= want {
			return min(upper(i), h.worst)
		}
	}
	return h.worst
}

// Above returns how many of the times added were above ns, to within the bucket of ns.
func (h *Histogram) Above(ns int64) uint64 {
	var n uint64
	for i := bucketOf(ns) + 1; i < buckets; i++ {
		n += h.counts[i]
	}
	return n
}

// MarshalJSON writes the buckets that are not empty as [upper bound in ns, count] pairs, beside the quantiles.
func (h Histogram) MarshalJSON() ([]byte, error) {
	w := histogramJSON{Count: h.n, Quantiles: h.quantiles(), Buckets: [][2]uint64{}}
	for i, c := range h.counts {
		if c > 0 {
			w.Buckets = append(w.Buckets, [2]uint64{uint64(upper(i)), c})
		}
	}
	return json.Marshal(w)
}

func (h *Histogram) UnmarshalJSON(b []byte) error {
	var w histogramJSON
	if err := json.Unmarshal(b, &w); err != nil {
		return err
	}
	*h = Histogram{n: w.Count, worst: w.Max}
	for _, pair := range w.Buckets {
		h.counts[bucketOf(int64(min(pair[0], 1<<62)))] += pair[1]
	}
	return nil
}

type histogramJSON struct {
	Count uint64 `json:"count"`
	Quantiles
	Buckets [][2]uint64 `json:"buckets_ns"`
}

// Quantiles are times in nanoseconds.
type Quantiles struct {
	P50  int64 `json:"p50_ns"`
	P99  int64 `json:"p99_ns"`
	P999 int64 `json:"p999_ns"`
	Max  int64 `json:"max_ns"`
}

func (h *Histogram) quantiles() Quantiles {
	return Quantiles{P50: h.Quantile(0.5), P99: h.Quantile(0.99), P999: h.Quantile(0.999), Max: h.worst}
}
