package bench

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"calib/internal/lists"
	"calib/internal/units"
)

// Limits bound a design: what the user asked for and what the hosts allow.
type Limits struct {
	Hosts    int           `yaml:"-" json:"-"` // how many hosts there are
	Sizes    []units.Bytes `yaml:"-" json:"-"` // message sizes, ascending; nil means the experiment's own
	MaxBytes units.Bytes   `yaml:"-" json:"-"` // largest message; 0 means the experiment's own
	// Pairs says which pairs pingpong measures; all of them give the pair matrix.
	Pairs  Pairs  `yaml:"pairs" json:"pairs,omitempty"`
	Effort Effort `yaml:"effort" json:"effort"` // scales repetitions
	// Patterns are names of communication patterns; nil means the experiment's own choice.
	Patterns []string `yaml:"patterns" json:"patterns,omitempty"`
	// Segment is the payload of a full packet of the connections in use; 0 means EthernetSegment.
	Segment units.Bytes `yaml:"segment" json:"segment,omitempty"`
	Seed    uint64      `yaml:"-" json:"-"`                // moves sizes off the powers of two
	Path    Path        `yaml:"path" json:"path,omitzero"` // of the network; the zero value where it is not known
	Crowded bool        `yaml:"-" json:"-"`                // some hosts have their timing threads on one CPU
}

// OnPath is Path, or that of a gigabit network where it is not known.
func (l Limits) OnPath() Path { return cmp.Or(l.Path, Gigabit) }

// Thinned chooses between the standard part of a design and that of a thin one.
func Thinned[T any](l Limits, standard, thin T) T {
	if l.Effort.Thin() {
		return thin
	}
	return standard
}

// SizesOr returns the user's sizes, or an experiment's own, up to MaxBytes.
func (l Limits) SizesOr(own []units.Bytes) []units.Bytes { return l.SizesUpTo(math.MaxInt64, own) }

// SizesUpTo is SizesOr up to top.
func (l Limits) SizesUpTo(top units.Bytes, own []units.Bytes) []units.Bytes {
	if l.Sizes != nil {
		own = l.Sizes
	}
	if l.MaxBytes > 0 {
		top = min(top, l.MaxBytes)
	}
	return lists.Where(own, func(x units.Bytes) bool { return x <= top })
}

// Effort scales what an experiment spends on a batch: 1 is the standard plan; 0 means 1.
type Effort float64

// OrWhole is the effort as a factor: 1 where none is given.
func (e Effort) OrWhole() Effort {
	if e <= 0 {
		return 1
	}
	return e
}

// Thin reports whether a design is to be kept to the essential: the effort is below a half.
func (e Effort) Thin() bool { return e > 0 && e < 0.5 }

// Reps scales a standard number of repetitions; never below least.
func (e Effort) Reps(standard, least int) int {
	return max(least, int(float64(standard)*float64(e.OrWhole())+0.5))
}

// Time scales a standard time; never below least.
func (e Effort) Time(standard, least units.Nanos) units.Nanos {
	return units.Nanos(e.Reps(int(standard), int(least)))
}

// Bytes scales a standard number of bytes; never below least.
func (e Effort) Bytes(standard, least units.Bytes) units.Bytes {
	return units.Bytes(e.Reps(int(standard), int(least)))
}

// StreamTime is how long a stream lasts, unless it is too slow to be seen in that time.
func (e Effort) StreamTime() units.Nanos { return e.Time(250*units.Millisecond, 60*units.Millisecond) }

// What all streams have in common.
const (
	MaxIntervals = 200              // raw times kept of one stream; of a longer one each is the mean of some neighbours
	RampShare    = 0.3              // of a stream that is left out while windows grow and queues fill
	MaxStream    = 6 * units.Second // length
	// BulkWindow is the least length of the window in which the bytes of a stream are counted.
	BulkWindow  = 50 * units.Millisecond
	ChunkSize   = 16 * units.KiB // of a throughput stream: several a second on a slow network, few calls on a fast one
	TrialChunks = 4              // chunks that are sent to learn how fast they go
	// EthernetSegment is the largest message that is one segment on Ethernet with TCP time stamps, over IPv4.
	EthernetSegment = units.Bytes(1448)
)

// Packet sizes lie close together where the fixed cost of a packet dominates, and further apart where the bytes do.
var (
	packetSizes      = []units.Bytes{1, 20, 40, 100, 250, 500, 1000}
	packetSizesQuick = []units.Bytes{1, 20, 100, 500, 1000}
)

// PacketSizes are the user's sizes, or the standard ones, of messages of one segment each.
func (l Limits) PacketSizes() []units.Bytes {
	return l.OnePacket(Thinned(l, packetSizes, packetSizesQuick), true)
}

func (l Limits) SegmentSize() units.Bytes { return cmp.Or(l.Segment, EthernetSegment) }

// OnePacket is SizesOr of messages of one segment each. Where segments are longer than those of Ethernet, own goes on
// in doublings, or fourfold where the design is thin, up to a quarter below the segment. full adds the segment itself,
// which own does not hold.
func (l Limits) OnePacket(own []units.Bytes, full bool) []units.Bytes {
	segment := l.SegmentSize()
	own = slices.Clone(own)
	if segment > EthernetSegment {
		step := Thinned[units.Bytes](l, 2, 4)
		for x := step * 1000; x <= segment*3/4; x *= step {
			own = append(own, x)
		}
		full = true
	}
	own = slices.DeleteFunc(own, func(x units.Bytes) bool { return x >= segment })
	if full {
		own = append(own, segment)
	}
	return l.SizesUpTo(segment, own)
}

// WholeSegments is the number of bytes nearest to size that fills its segments, at least one.
func WholeSegments(size, segment int64) int64 {
	return max(1, (size+segment/2)/segment) * segment
}

// Range is the least and the most that a factor of a point may be.
type Range struct{ Least, Most int64 }

// Ranges are the factors of an experiment's points. A factor that a point does not have is 0. An agent checks every
// point that it is told against them, before it takes memory for it.
type Ranges map[string]Range

// What ranges have in common.
const (
	MaxSize  = int64(units.GiB) // bytes of a message; the agent's limit of memory is below
	MaxHosts = 1 << 16
)

var (
	Sizes    = Range{1, MaxSize}
	TeamSize = Range{1, MaxHosts}
	Flag     = Range{0, 1}
)

// Check returns an error that names the first factor of a point that is out of its range, or that no point has.
func (r Ranges) Check(p Point) error {
	for _, name := range slices.Sorted(maps.Keys(p)) {
		if _, ok := r[name]; !ok {
			return fmt.Errorf("%s=%d: there is no such factor; there are %v", name, p[name], slices.Sorted(maps.Keys(r)))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r)) {
		if v, of := p[name], r[name]; v < of.Least || v > of.Most {
			return fmt.Errorf("%s=%d: want %d to %d", name, v, of.Least, of.Most)
		}
	}
	return nil
}

// Path is what a plan takes the way between two hosts to be: what a probe has found (package coord), or a named speed.
// The zero Path is not known; forecasts then take it for a gigabit network of ordinary hosts.
type Path struct {
	Latency units.Nanos `yaml:"latency" json:"latency_ns"`   // of one byte, one way, with the software at both ends
	PerByte float64     `yaml:"per_byte" json:"ns_per_byte"` // of a stream of one pair [ns/B]
	// Together says that pairs of hosts do not disturb each other: each has all of the rate while others communicate.
	Together bool `yaml:"together" json:"together"`
	// AtOnce pairs that communicate at once take Slower times as long; 0 where that is not known, and they share one
	// rate.
	AtOnce int     `yaml:"at_once" json:"at_once"`
	Slower float64 `yaml:"slower" json:"slower"`
	// Slot is what a slot costs beside its messages: control, connections.
	Slot units.Nanos `yaml:"slot" json:"slot_ns"`
}

// Gigabit is the path of forecasts that know no better, Slow that of a network which did not answer in time.
var (
	Gigabit = Path{Latency: 50 * units.Microsecond, PerByte: 8.5, Together: true, Slot: 50 * units.Millisecond}
	Slow    = Path{Latency: 100 * units.Millisecond, PerByte: 31_250, Slot: 300 * units.Millisecond}
)

// Known reports whether p is of a probe or a name.
func (p Path) Known() bool { return p != Path{} }

// Sharing is how many times as long bytes take while n pairs communicate as while one does.
func (p Path) Sharing(n int) float64 {
	switch {
	case p.Together:
		return 1
	case p.AtOnce > 0:
		return max(1, float64(n)*p.Slower/float64(p.AtOnce))
	}
	return max(1, float64(n))
}

// Message is how long a message takes, one way, while n pairs send.
func (p Path) Message(bytes int64, n int) units.Nanos {
	return p.Latency + units.Nanos(float64(bytes)*p.PerByte*p.Sharing(n))
}

// Trip is a message there, and one as long back.
func (p Path) Trip(bytes int64) units.Nanos { return 2 * p.Message(bytes, 1) }

// Start is how long a team of so many ranks needs to begin together (Team.Announce), and to say that it has ended.
func (p Path) Start(ranks int) units.Nanos {
	return 2*units.Millisecond + units.Nanos(2*ranks)*p.Latency
}

// Synchronising is how long the clocks of a team of so many ranks take to be compared, before a slot's points and
// after.
func (p Path) Synchronising(ranks int) units.Nanos {
	return 2 * units.Nanos(max(0, ranks-1)) * units.Nanos(2*p.exchanges()+2) * p.Latency
}

// Repeated is how long the repetitions of something take of which at least least and at most most are made, and no more
// than fit into a time.
func Repeated(one, within units.Nanos, least, most int) units.Nanos {
	n := int(within / max(1, one))
	return units.Nanos(max(least, min(n, most))) * one
}
