package bench

import (
	"math"
	"slices"

	"calib/internal/units"
)

// Limits bound a design: what the user asked for and what the hosts allow.
type Limits struct {
	Hosts    int           // how many hosts there are
	Sizes    []units.Bytes // message sizes, ascending; nil means the experiment's own
	MaxBytes units.Bytes   // largest message; 0 means the experiment's own
	AllPairs bool          // pingpong over every pair of hosts, for the pair matrix
	Pairs    Pairs         // which pairs pingpong measures where not all
	Effort   Effort        // scales repetitions
	Patterns []string      // names of communication patterns; nil means the experiment's own choice
	Segment  units.Bytes   // payload of a full packet of the connections in use; 0 means EthernetSegment
	Seed     uint64        // moves sizes off the powers of two
	Path     Path          // what the network is taken to be; the zero value where it is not known
}

// OnPath is Path, or that of a gigabit network where it is not known.
func (l Limits) OnPath() Path {
	if l.Path.Known() {
		return l.Path
	}
	return Gigabit.Path
}

// Thin reports whether a design is to be kept to the essential: the effort is below a half.
func (l Limits) Thin() bool { return l.Effort.Thin() }

// Thinned chooses between the standard part of a design and that of a thin one.
func Thinned[T any](l Limits, standard, thin T) T {
	if l.Thin() {
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
	return slices.DeleteFunc(slices.Clone(own), func(x units.Bytes) bool { return x > top })
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

// Thin reports whether the effort is below a half.
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
	BulkWindow  = 250 * units.Millisecond
	ChunkSize   = 16 * units.KiB // of a stream for throughput: several in a second on a slow network, few calls on a fast one
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

// SegmentSize is the largest message that is one segment.
func (l Limits) SegmentSize() units.Bytes {
	if l.Segment > 0 {
		return l.Segment
	}
	return EthernetSegment
}

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

// WholeSegments is the number of bytes nearest to size that fills its segments, at least one; size where the segment is
// not known (0).
func WholeSegments(size, segment int64) int64 {
	if segment <= 0 {
		return size
	}
	return max(1, (size+segment/2)/segment) * segment
}
