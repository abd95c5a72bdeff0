package params

import (
	"fmt"
	"strings"
)

// Code identifies a kind of finding. The table Codes says what each means.
type Code string

// Codes of findings.
const (
	Unclassified      Code = "unclassified"
	ModelFailed       Code = "model-failed"
	MeasuringNote     Code = "measuring"
	MixedVersions     Code = "mixed-versions"
	NotFinite         Code = "not-finite"
	SlowHost          Code = "slow-host"
	OneRound          Code = "one-round"
	ManyLeftOut       Code = "many-left-out"
	LateWire          Code = "late-wire"
	DisturbedTimings  Code = "disturbed-timings"
	PacketAssumed     Code = "packet-assumed"
	OneDirection      Code = "one-direction"
	SlowHostsOnly     Code = "slow-hosts-only"
	SlowPairsCut      Code = "slow-pairs-cut"
	SharedMachine     Code = "shared-machine"
	NotASegmentEach   Code = "merged-messages"
	TableOnly         Code = "table-only"
	NegativeSlope     Code = "negative-slope"
	OffTheForm        Code = "off-the-form"
	SeveralSegments   Code = "several-segments"
	AboveOnePacket    Code = "above-one-packet"
	NotPositive       Code = "not-positive"
	ClockCost         Code = "clock-cost"
	ClockOffsets      Code = "clock-offsets"
	DelayInA          Code = "delay-in-a"
	StreamsOnly       Code = "streams-only"
	NoStreams         Code = "no-streams"
	NetworkUnknown    Code = "network-kind-unknown"
	NegativeAC        Code = "negative-contention"
	Eq16Misfit        Code = "eq16-misfit"
	NoSmallBurst      Code = "no-one-packet-burst"
	TwoNumbersOfPairs Code = "two-numbers-of-pairs"
	FallingStreams    Code = "falling-time-per-byte"
	NoBreak           Code = "inconsistent-break"
	BurstSlope        Code = "burst-slope"
	LimitsUsed        Code = "limits-used"
	NoSmallSize       Code = "no-one-packet-size"
	JointEstimate     Code = "joint-estimate"
	FlatSegment       Code = "flat-segment"
	SegmentCount      Code = "segments"
	OrUnknown         Code = "o-r-unknown"
	OrHidden          Code = "o-r-hidden"
	OrByRate          Code = "o-r-by-rate"
	IdentityUnchecked Code = "identity-unchecked"
	Identity          Code = "identity"
	GathersUnchecked  Code = "gathers-unchecked"
	GathersPredicted  Code = "gathers-predicted"
	GatherTimes       Code = "gather-times"
	GsUnknown         Code = "g-s-unknown"
	LimitNotReached   Code = "aggregate-limit-not-reached"
	OneLoad           Code = "one-load"
	LossyStreams      Code = "lossy-streams"
	GrSenders         Code = "g-r-senders"
	SenderLimited     Code = "sender-limited"
	Caches            Code = "caches"
	BurstsSkipped     Code = "bursts-skipped"
	BurstFits         Code = "burst-fits"
	BufferCounts      Code = "buffer-counts"
	BufferAmbiguous   Code = "buffer-ambiguous"
	BufferMethods     Code = "buffer-methods"
	PortIdle          Code = "port-idle"
	TimedCalls        Code = "timed-calls"
	RoundTripOff      Code = "round-trip"
	PingpongAgrees    Code = "pingpong-beside-prtt"
	Eq18              Code = "eq18"
	SmallestSize      Code = "smallest-size"
	OneFragment       Code = "one-piece-fastest"
	BuffersGranted    Code = "buffers-granted"
	Deadlock          Code = "deadlock"
	NagleCost         Code = "nagle-cost"
	DelayedAck        Code = "delayed-ack"
)

// CodeMeaning is what findings of one code say.
type CodeMeaning struct {
	Code    Code
	Levels  []Level  // those it may have
	Values  []string // names in Values; a finding may have none of them
	Meaning string
}

// Codes says what every code means. docs/FORMATS.md shows this table.
var Codes = []CodeMeaning{
	{Unclassified, []Level{Warning, Note}, nil, "a sentence of a calib.params/1 file, which had no codes"},
	{ModelFailed, []Level{Warning}, nil, "a model could not be fitted, although its experiments were measured"},
	{MeasuringNote, []Level{Warning, Note}, nil, "something that was noticed while measuring or importing"},
	{MixedVersions, []Level{Warning}, nil, "the agents run different versions of calib"},
	{NotFinite, []Level{Warning}, nil, "a number is infinite or not a number: it was written as null or left out"},
	{SlowHost, []Level{Warning}, []string{"ratio"}, "every pair of a host is slow; ratio is to the median pair"},
	{OneRound, []Level{Warning}, nil, "there is one round only: intervals do not hold what changes between rounds"},
	{ManyLeftOut, []Level{Warning}, []string{"share"}, "more than a tenth of the timings was left out"},
	{LateWire, []Level{Warning}, []string{"timings"}, "the emulated wire of the lab was late: its accuracy cannot be judged by this run"},
	{DisturbedTimings, []Level{Note}, []string{"timings"}, "most timings of some points were disturbed by the host, and were used all the same"},
	{PacketAssumed, []Level{Note}, nil, "the kernel did not report the segment size: the usual one was taken"},
	{OneDirection, []Level{Warning}, nil, "one direction only was measured: a clock offset does not cancel"},
	{SlowHostsOnly, []Level{Warning}, nil, "nothing was measured without a slow host"},
	{SlowPairsCut, []Level{Warning}, nil, "the pairs of slow hosts were left out of bursts that other pairs took part in"},
	{SharedMachine, []Level{Warning}, nil, "hosts share a machine: a sender's time may hold work of the receiver"},
	{NotASegmentEach, []Level{Warning}, []string{"timings"}, "the kernel merged messages into segments: those timings were left out"},
	{TableOnly, []Level{Note}, nil, "the result is a table: no curve is fitted through it"},
	{NegativeSlope, []Level{Warning}, nil, "a cost falls with the size"},
	{OffTheForm, []Level{Warning, Note}, []string{"off", "bytes"}, "a function is further off a size than its form allows"},
	{SeveralSegments, []Level{Note}, nil, "one line does not fit: the function is several lines over ranges of the size"},
	{AboveOnePacket, []Level{Note}, nil, "how far a cost is off above one packet, up to which it was fitted"},
	{NotPositive, []Level{Warning}, nil, "a number that must be positive is not, or cannot be told from zero"},
	{ClockCost, []Level{Note}, nil, "what one timed section costs by itself; it was subtracted"},
	{ClockOffsets, []Level{Note}, []string{"median", "worst"}, "how certain the clock offsets between hosts are, in seconds"},
	{DelayInA, []Level{Note}, nil, "the parameter a holds half of the delay L"},
	{StreamsOnly, []Level{Note}, nil, "streams only were measured: there is no a and no a_c"},
	{NoStreams, []Level{Warning}, nil, "no streams were measured: the time per byte is that of bursts"},
	{NetworkUnknown, []Level{Note}, nil, "one pair only was measured: the kind of network cannot be seen"},
	{NegativeAC, []Level{Warning}, nil, "a_c is negative, which the model cannot explain"},
	{Eq16Misfit, []Level{Note}, []string{"mean", "worst"}, "how far eq. 16 of the hyperbolic model is off the bursts"},
	{NoSmallBurst, []Level{Warning}, nil, "no burst fits in one packet"},
	{TwoNumbersOfPairs, []Level{Warning}, nil, "two numbers of pairs only were measured: a line through them proves nothing"},
	{FallingStreams, []Level{Warning}, nil, "the time per byte falls with the number of pairs"},
	{NoBreak, []Level{Warning}, nil, "the time per byte does not follow max(b, n·b_c)"},
	{BurstSlope, []Level{Note}, []string{"difference"}, "how far the slope of large bursts is off the time per byte of streams"},
	{LimitsUsed, []Level{Note}, nil, "the sizes from which a' and b' were taken"},
	{NoSmallSize, []Level{Warning}, nil, "no size fits in one packet"},
	{JointEstimate, []Level{Warning, Note}, []string{"mean", "worst"}, "how far the joint estimate of the hyperbola is off T, or why there is none"},
	{FlatSegment, []Level{Note}, nil, "T does not grow over a range of sizes"},
	{SegmentCount, []Level{Note}, nil, "how many segments T has"},
	{OrUnknown, []Level{Note}, nil, "O_r is not known: L holds it"},
	{OrHidden, []Level{Warning}, nil, "O_r cannot be told from zero at some sizes"},
	{OrByRate, []Level{Note}, []string{"ratio"}, "O_r depends on the rate of messages; ratio is of the highest rate to the lowest"},
	{IdentityUnchecked, []Level{Note}, nil, "2(O_s + L + O_r + U_r) was not compared with a round trip"},
	{Identity, []Level{Warning, Note}, []string{"mean", "worst"}, "how far 2(O_s + L + O_r + U_r) is off the round trip"},
	{GathersUnchecked, []Level{Warning, Note}, nil, "gathers were not compared with eq. 8 of the cluster model"},
	{GathersPredicted, []Level{Note}, []string{"mean", "worst"}, "how far eq. 8 of the cluster model is off the gathers"},
	{GatherTimes, []Level{Note}, nil, "the times of gathers, all senders at once and by the best window"},
	{GsUnknown, []Level{Warning}, nil, "g_s is not known: an aggregate limit of the network cannot be seen"},
	{LimitNotReached, []Level{Warning}, []string{"offered"}, "the hosts did not reach the aggregate limit of the network; offered is in B/s"},
	{OneLoad, []Level{Warning}, nil, "load was measured with one number of hosts: l1 cannot be told from l0"},
	{LossyStreams, []Level{Warning}, nil, "g_r is from streams with losses at some sizes"},
	{GrSenders, []Level{Note}, nil, "the numbers of senders from which g_r was taken"},
	{SenderLimited, []Level{Note}, nil, "at some sizes the senders were the limit: they do not count for g_r"},
	{Caches, []Level{Note}, nil, "the caches of the hosts"},
	{BurstsSkipped, []Level{Note}, nil, "bursts that the experiment did not send, because of its limits"},
	{BurstFits, []Level{Note}, nil, "what the bursts of each size and number of senders give"},
	{BufferCounts, []Level{Note}, nil, "whether the buffer counts packets or bytes"},
	{BufferAmbiguous, []Level{Warning}, nil, "the buffer seems to count neither packets nor bytes"},
	{BufferMethods, []Level{Warning, Note}, []string{"difference"}, "how far the two methods for B_L are apart"},
	{PortIdle, []Level{Warning}, nil, "the streams did not keep the port busy"},
	{TimedCalls, []Level{Note}, nil, "how far timed calls are off the overheads by PRTT"},
	{RoundTripOff, []Level{Warning, Note}, []string{"worst"}, "how far the sum of LogGP is off half the round trip"},
	{PingpongAgrees, []Level{Note}, nil, "how far half of PRTT(1,0,s) is off the half round trip of ping-pong"},
	{Eq18, []Level{Warning, Note}, nil, "whether the hyperbola over LogGP is within the bounds of eq. 18"},
	{SmallestSize, []Level{Note}, nil, "the size at which L, o_s and o_r were taken, where it is not 1 byte"},
	{OneFragment, []Level{Note}, nil, "a message is fastest in one piece"},
	{BuffersGranted, []Level{Note}, nil, "the socket buffers that the kernel granted"},
	{Deadlock, []Level{Note}, []string{"bytes", "buffer"}, "exchanges that deadlocked; buffer is as asked for, in bytes"},
	{NagleCost, []Level{Note}, nil, "the settings at which Nagle's algorithm costs more than 20%"},
	{DelayedAck, []Level{Note}, nil, "the messages that waited for a delayed acknowledgement"},
}

// Quantity is what the points of a series are. The table Quantities says what each means.
type Quantity string

// Quantities of series.
const (
	Time           Quantity = "time"
	FixedTime      Quantity = "fixed-time"
	TimePerByte    Quantity = "time-per-byte"
	BurstTime      Quantity = "burst-time"
	CostOfSize     Quantity = "cost"
	TransferTime   Quantity = "transfer-time"
	RoundTrip      Quantity = "round-trip"
	GatherTime     Quantity = "gather-time"
	HalfRoundTrip  Quantity = "half-round-trip"
	Gap            Quantity = "gap"
	Overhead       Quantity = "overhead"
	TimedCall      Quantity = "timed-call"
	ArrivalRatio   Quantity = "arrival-ratio"
	ProbedBuffer   Quantity = "probed-buffer"
	FragmentedTime Quantity = "fragmented-time"
	BufferedTime   Quantity = "buffered-time"
	NagleTime      Quantity = "time-with-nagle"
	TimerCost      Quantity = "timer-cost"
)

// QuantityMeaning is what the points of a quantity are.
type QuantityMeaning struct {
	Quantity Quantity
	Factors  []string // of its series
	Meaning  string
}

// Quantities says what every quantity means. docs/FORMATS.md shows this table.
var Quantities = []QuantityMeaning{
	{Time, nil, "half round trip of a message by size: T(x)"},
	{FixedTime, nil, "fixed time of a message while n pairs send: a'(n)"},
	{TimePerByte, nil, "time per byte while n pairs send: b'(n)"},
	{BurstTime, []string{"pairs"}, "time to the last of n deliveries by size"},
	{CostOfSize, nil, "a cost of the cluster model by size; symbol is its function"},
	{TransferTime, []string{"hosts"}, "L(m, p) of the cluster model by size"},
	{RoundTrip, nil, "round trip of ping-pong by size, beside the cluster model"},
	{GatherTime, []string{"senders", "window"}, "time of a gather by size"},
	{HalfRoundTrip, nil, "PRTT(1,0,s)/2 by size, beside LogGP"},
	{Gap, nil, "gap(s) of LogGP by size; symbol is its function"},
	{Overhead, nil, "o_s(s) or o_r(s) of LogGP by size; symbol is its function"},
	{TimedCall, nil, "the same overheads, timed directly"},
	{ArrivalRatio, []string{"bytes", "senders"}, "share of a burst of datagrams that arrives, by their number"},
	{ProbedBuffer, nil, "B_L by the delay of a probe, by senders"},
	{FragmentedTime, []string{"bytes"}, "half round trip of a message by fragment"},
	{BufferedTime, []string{"bytes"}, "time of a message by socket buffer"},
	{NagleTime, []string{"writes", "nagle"}, "half round trip of a message by size"},
	{TimerCost, nil, "one reading of the clock"},
}

// Markdown is the tables of codes and quantities as docs/FORMATS.md shows them.
func Markdown() string {
	var b strings.Builder
	b.WriteString("| code | level | values | meaning |\n|---|---|---|---|\n")
	for _, m := range Codes {
		var levels []string
		for _, l := range m.Levels {
			levels = append(levels, string(l))
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", m.Code, strings.Join(levels, ", "), strings.Join(m.Values, ", "), m.Meaning)
	}
	b.WriteString("\n| quantity | factors | points |\n|---|---|---|\n")
	for _, m := range Quantities {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", m.Quantity, strings.Join(m.Factors, ", "), m.Meaning)
	}
	return b.String()
}
