// Package dataset defines the file of measurements, samples.jsonl: what was run, on which hosts, and every raw timing,
// as lines of JSON that are only ever appended. Nothing is averaged here. Every stage after measuring reads a Dataset
// and nothing else, so that it can be repeated offline.
package dataset

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Schema names the version of samples.jsonl. A reader refuses a newer major number.
const Schema = "calib.samples/1"

// Flags on a sample. A flagged sample is kept; a fit says which flags it leaves out.
const (
	FlagRetrans  = "retrans"   // a segment was lost, and sent again during the batch
	FlagPreempt  = "preempt"   // the timing thread was preempted during the batch
	FlagSteal    = "steal"     // the hypervisor took CPU time away during the batch
	FlagDeadlock = "deadlock"  // the exchange blocked and was broken up
	FlagTimeout  = "timeout"   // a receive deadline ended the batch early
	FlagWindow   = "rwnd"      // the receiver's window limited sending, not the path
	FlagUnsteady = "unsteady"  // a stream had no two completions in its window, or none in half of it
	FlagProbeRTT = "probe-rtt" // bbr stopped sending to look for the round trip
	FlagDrift    = "drift"     // the clocks it compares moved against each other by more than quartz can
)

// Point is one setting of an experiment's factors, by name: {"bytes": 64}, {"bytes": 1, "pairs": 3}. Sizes are in
// bytes. JSON writes the keys in order, so equal points are equal bytes.
type Point map[string]int64

// Key is a canonical text of p: "bytes=1,pairs=3". Two points are the same if and only if their keys are.
func (p Point) Key() string {
	names := slices.AppendSeq(make([]string, 0, len(p)), maps.Keys(p))
	slices.Sort(names)
	var b strings.Builder
	for i, k := range names {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(k + "=" + strconv.FormatInt(p[k], 10))
	}
	return b.String()
}

// TCP holds the kernel's counters of a connection, of the timing thread and of the machine, all since their start. In a
// Sample it is their change over the batch, summed over its connections; Cwnd, MSS, RTT, MinRTT, Congestion, the
// buffers and Port are then values at the batch's end, of the last connection.
type TCP struct {
	SegsOut     int64  `json:"segs_out,omitempty"` // segments, pure acknowledgements included
	SegsIn      int64  `json:"segs_in,omitempty"`
	DataSegsOut int64  `json:"data_segs_out,omitempty"` // segments with payload; retransmissions are counted again
	DataSegsIn  int64  `json:"data_segs_in,omitempty"`
	Retrans     int64  `json:"retrans,omitempty"`           // segments sent again that were lost
	RwndLimited int64  `json:"rwnd_limited_us,omitempty"`   // time that the peer's window limited sending [µs]
	SndbufLimit int64  `json:"sndbuf_limited_us,omitempty"` // time that the send buffer did [µs]
	Busy        int64  `json:"busy_us,omitempty"`           // time with data to send [µs]
	Cwnd        int64  `json:"cwnd,omitempty"`              // congestion window [segments]
	MSS         int64  `json:"mss,omitempty"`               // sending segment size [B]
	RTT         int64  `json:"rtt_us,omitempty"`            // smoothed round trip [µs]
	MinRTT      int64  `json:"min_rtt_us,omitempty"`        // smallest round trip the kernel saw [µs]
	Involuntary int64  `json:"involuntary,omitempty"`       // involuntary context switches of the timing thread
	StealTicks  int64  `json:"steal_ticks,omitempty"`       // CPU time the hypervisor took from the machine [clock ticks]
	Congestion  string `json:"congestion,omitempty"`
	SndBuf      int64  `json:"sndbuf,omitempty"` // buffers as the kernel granted them [B]
	RcvBuf      int64  `json:"rcvbuf,omitempty"`
	// Port is that of the side that dialled. The other ends being fixed, it is what path and receive queue depend on.
	Port int64 `json:"port,omitempty"`
}

// counters are what connections add up to: all but values, and what is of one thread or of the machine.
func (t *TCP) counters() [8]*int64 {
	return [...]*int64{&t.SegsOut, &t.SegsIn, &t.DataSegsOut, &t.DataSegsIn, &t.Retrans, &t.RwndLimited, &t.SndbufLimit,
		&t.Busy}
}

// Sub returns the change from before to t: counters are subtracted, values are t's.
func (t TCP) Sub(before TCP) TCP {
	was := before.counters()
	for i, n := range t.counters() {
		*n -= *was[i]
	}
	t.Retrans = max(0, t.Retrans) // a segment sent again before may turn out only now to have been late
	t.Involuntary -= before.Involuntary
	t.StealTicks -= before.StealTicks
	return t
}

// Add sums the counters of two connections; values are taken from u where it has them.
func (t TCP) Add(u TCP) TCP {
	first := t.counters()
	for i, n := range u.counters() {
		*n += *first[i]
	}
	u.Involuntary = max(t.Involuntary, u.Involuntary) // one thread, one machine: not a sum over connections
	u.StealTicks = max(t.StealTicks, u.StealTicks)
	u.Cwnd, u.MSS = cmp.Or(u.Cwnd, t.Cwnd), cmp.Or(u.MSS, t.MSS)
	u.RTT, u.MinRTT = cmp.Or(u.RTT, t.RTT), cmp.Or(u.MinRTT, t.MinRTT)
	u.SndBuf, u.RcvBuf = cmp.Or(u.SndBuf, t.SndBuf), cmp.Or(u.RcvBuf, t.RcvBuf)
	u.Congestion, u.Port = cmp.Or(u.Congestion, t.Congestion), cmp.Or(u.Port, t.Port)
	return u
}

// Sample is one measured batch: an experiment at one point, on some ranks, in one round.
type Sample struct {
	Exp   string `json:"exp"`
	Phase string `json:"phase,omitempty"`
	Point Point  `json:"point"`
	// Ranks are indices into Dataset.Hosts, in the experiment's order (sender before receiver).
	Ranks  []int    `json:"ranks"`
	Round  int      `json:"round"`
	Slot   int      `json:"slot"`
	Part   int      `json:"part"`  // 0-based index of this line in its slot
	Parts  int      `json:"parts"` // lines in its slot: a slot with fewer was cut off and is measured again
	Flags  []string `json:"flags,omitempty"`
	TCP    *TCP     `json:"tcp,omitempty"`
	Thread *Thread  `json:"thread,omitempty"`
	// Aux holds what else the experiment knows about the batch, by name with the unit in the name ("offset_bound_ns").
	Aux map[string]float64 `json:"aux,omitempty"`
	// NS are the raw timings in nanoseconds, in the order they were taken.
	NS []int64 `json:"ns"`
}

// Thread is the one that timed a batch. There is none where the host does not say, as in a simulation.
type Thread struct {
	Host   int `json:"host" jsonschema:"index of the host that timed the batch"`
	CPU    int `json:"cpu" jsonschema:"CPU of its timing thread when the batch had ended"`
	Before int `json:"cpu_before" jsonschema:"that at its line before, or when the point began"`
}

func (s *Sample) Has(flag string) bool { return slices.Contains(s.Flags, flag) }

// Host is what one agent said of itself.
type Host struct {
	Name string `json:"name"`
	Addr string `json:"addr"` // data-plane address the peers dial
	// Version and Build identify the binary: the module version and the hash of the executable.
	Version string `json:"version"`
	Build   string `json:"build"`
	// Boot identifies the machine and its boot: agents with equal ones share a machine.
	Boot string `json:"boot,omitempty"`
	// Clock identifies the monotonic clock, which is that of a boot and a time namespace: agents with equal ones read
	// one clock.
	Clock string `json:"clock,omitempty"`
	// Env is the environment fingerprint: flat, sorted by JSON, comparable ("kernel", "nic.mtu", "tcp.congestion").
	Env map[string]string `json:"env,omitempty"`
	// Keys from hosts.txt that concern measuring.
	CPU  string `json:"cpu,omitempty"`
	Arch string `json:"arch,omitempty"`
	// MostBytes is the agent's limit of traffic with one peer in one run [B]; 0 where it is not known. It is not
	// stored.
	MostBytes int64 `json:"-"`
	// Now is what the host said of its present state. It is not stored.
	Now Now `json:"-"`
	// Consent is what the agent's peers must have been told to reach it. It is not stored.
	Consent string `json:"-"`
}

// Now is what a host has left, what else it does, and what it could be set to: no part of its fingerprint. What could
// not be read is zero.
type Now struct {
	Unix     int64             // its wall clock [ns]
	Longer   time.Duration     // what asking for Switch and Loopback took, after Unix was read
	Unsynced bool              // the kernel says that nothing keeps the wall clock right
	Load     float64           // processes that ran or wanted to, mean of a minute
	Clocks   []string          // clock sources that it could use
	Ports    [2]int            // local ports of connections, the first and the last
	Files    uint64            // most descriptors of the agent
	Disk     uint64            // bytes left in DiskPath, where the agent's executable lies
	DiskPath string            // "" where neither is known
	NICs     map[int]string    // its interfaces, by index
	CPUTime  time.Duration     // processor time of the agent so far
	CPUs     []string          // that the agent may use, the best for a thread that times first
	Errors   map[string]uint64 // counters of errors of its interface that are not zero
	Switch   string            // the other end of the cable, as LLDP has it: "sw3 port 12"
	Loopback float64           // rate of a stream from the host to itself [bit/s]: what its CPU and kernel allow
}

// Header is the first line of samples.jsonl.
type Header struct {
	Schema string `json:"schema"`
	Run    string `json:"run"`
	Seed   uint64 `json:"seed"`
	Plan   string `json:"plan"`
	Hosts  []Host `json:"hosts"`
}

type Dataset struct {
	Header  Header
	Samples []Sample
}

// FactSegment is the fact of a host's fingerprint that is the payload of a full TCP segment through its interface [B].
const FactSegment = "nic.segment"

// Segment is the smallest segment of some hosts' interfaces by their fingerprints [B]. It is 0 where one of them does
// not say; missing is then its index.
func Segment(hosts []Host) (size, missing int) {
	for i, h := range hosts {
		s, err := strconv.Atoi(h.Env[FactSegment])
		if err != nil || s <= 0 {
			return 0, i
		}
		if i == 0 || s < size {
			size = s
		}
	}
	return size, -1
}

// Failure is a slot, a host, or the link between two hosts, that gave nothing.
type Failure struct {
	Slot  *int     `json:"slot,omitempty"`
	Host  string   `json:"host,omitempty"`
	Link  []string `json:"link,omitempty"`
	Error string   `json:"error"`
}
