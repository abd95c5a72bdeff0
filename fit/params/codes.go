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
	Levels  []Level // those it comes at
	Meaning string
}

// Codes says what every code means. docs/FORMATS.md shows this table.
var Codes = []CodeMeaning{
	{Unclassified, []Level{Warning, Note}, "a sentence of a calib.params/1 file, which had no codes"},
	{ModelFailed, []Level{Warning}, "a model could not be fitted, though its experiments are there"},
	{MeasuringNote, []Level{Warning, Note}, "what was noticed while measuring"},
	{MixedVersions, []Level{Warning}, "the agents are of different versions of calib"},
	{NotFinite, []Level{Warning}, "a number that is not finite was written as null or left out"},
	{SlowHost, []Level{Warning}, "every pair of a host is slow; values: ratio to the median pair"},
	{OneRound, []Level{Warning}, "one round only, so that intervals lack what changes between rounds"},
	{ManyLeftOut, []Level{Warning}, "more than a tenth of the timings is left out; values: share"},
	{LateWire, []Level{Warning}, "the emulated wire of the lab was late, so that this is no valid accuracy run; values: timings"},
	{DisturbedTimings, []Level{Note}, "timings that were disturbed by the host are used, because too many are to leave them out; values: timings"},
	{PacketAssumed, []Level{Note}, "the kernel did not report the segment size, and the usual one is assumed"},
	{OneDirection, []Level{Warning}, "one direction only was measured, so that a clock offset does not cancel"},
	{SlowHostsOnly, []Level{Warning}, "slow hosts only were measured"},
	{SlowPairsCut, []Level{Warning}, "the pairs of slow hosts were taken out of batches that other pairs shared"},
	{SharedMachine, []Level{Warning}, "hosts share a machine, so that a sender may do the receiver's work"},
	{NotASegmentEach, []Level{Warning}, "the kernel merged messages into segments, and those timings are left out; values: timings"},
	{TableOnly, []Level{Note}, "the result is a table, through which no curve is fitted"},
	{NegativeSlope, []Level{Warning}, "a cost falls with the size"},
	{OffTheForm, []Level{Warning, Note}, "a function misses a size by more than its form should; values, where stated: off and bytes"},
	{SeveralSegments, []Level{Note}, "a function is several lines, because one does not hold"},
	{AboveOnePacket, []Level{Note}, "a cost is fitted up to one packet, and this is how far it is off above"},
	{NotPositive, []Level{Warning}, "a parameter that must be positive is not, or cannot be told from zero"},
	{ClockCost, []Level{Note}, "what the reading of the clock costs, which is taken off"},
	{ClockOffsets, []Level{Note}, "how certain the clock offsets between hosts are; values: median and worst [s]"},
	{DelayInA, []Level{Note}, "half of the delay L is part of a"},
	{StreamsOnly, []Level{Note}, "streams only were measured, so that there is no a and no a_c"},
	{NoStreams, []Level{Warning}, "no streams were measured, so that the time per byte is that of bursts"},
	{NetworkUnknown, []Level{Note}, "one pair only was measured, so that the kind of network cannot be seen"},
	{NegativeAC, []Level{Warning}, "a_c is negative, which the model cannot hold"},
	{Eq16Misfit, []Level{Note}, "how far eq. 16 of the hyperbolic model is from the bursts; values: mean and worst"},
	{NoSmallBurst, []Level{Warning}, "no burst fits in one packet"},
	{TwoNumbersOfPairs, []Level{Warning}, "two numbers of pairs only were measured, through which any line goes"},
	{FallingStreams, []Level{Warning}, "the time per byte falls with the number of pairs"},
	{NoBreak, []Level{Warning}, "the time per byte is not max(b, n·b_c)"},
	{BurstSlope, []Level{Note}, "how far the slope of large bursts is from the time per byte of streams; values: difference"},
	{LimitsUsed, []Level{Note}, "the sizes from which a' and b' are taken"},
	{NoSmallSize, []Level{Warning}, "no size fits in one packet"},
	{JointEstimate, []Level{Warning, Note}, "how far the joint estimate of the hyperbola is from T, or why there is none; values: mean and worst"},
	{FlatSegment, []Level{Note}, "T does not grow over a range of sizes"},
	{SegmentCount, []Level{Note}, "the number of segments of T"},
	{OrUnknown, []Level{Note}, "O_r is not known and is taken as zero in L"},
	{OrHidden, []Level{Warning}, "O_r cannot be told from zero at some sizes"},
	{OrByRate, []Level{Note}, "O_r depends on the rate of messages; values: ratio"},
	{IdentityUnchecked, []Level{Note}, "2(O_s + L + O_r + U_r) is not compared with a round trip"},
	{Identity, []Level{Warning, Note}, "how far 2(O_s + L + O_r + U_r) is from the round trip; values: mean and worst"},
	{GathersUnchecked, []Level{Warning, Note}, "gathers are not compared with eq. 8 of the cluster model"},
	{GathersPredicted, []Level{Note}, "how far eq. 8 of the cluster model is from the gathers; values: mean and worst"},
	{GatherTimes, []Level{Note}, "times of gathers with and without a window of senders"},
	{GsUnknown, []Level{Warning}, "g_s is not known, so that the aggregate limit of the network cannot be seen"},
	{LimitNotReached, []Level{Warning}, "the aggregate limit of the network was not reached; values: offered [B/s]"},
	{OneLoad, []Level{Warning}, "load was measured with one number of hosts, so that l1 is part of l0"},
	{LossyStreams, []Level{Warning}, "g_r is from streams with losses at some sizes"},
	{GrSenders, []Level{Note}, "the numbers of senders from which g_r is taken"},
	{SenderLimited, []Level{Note}, "sizes at which the senders were the limit are not used for g_r"},
	{Caches, []Level{Note}, "the caches of the hosts"},
	{BurstsSkipped, []Level{Note}, "bursts that the experiment left out because of its limits"},
	{BurstFits, []Level{Note}, "the buffer and the rates by size and number of senders"},
	{BufferCounts, []Level{Note}, "whether the buffer counts packets or bytes"},
	{BufferAmbiguous, []Level{Warning}, "the buffer counts neither packets nor bytes"},
	{BufferMethods, []Level{Warning, Note}, "how far the two methods for B_L are apart; values, where stated: difference"},
	{PortIdle, []Level{Warning}, "the streams did not keep the port busy"},
	{TimedCalls, []Level{Note}, "how far timed calls are from the overheads by PRTT"},
	{RoundTripOff, []Level{Warning, Note}, "how far half the round trip is from the sum of LogGP; values: worst"},
	{PingpongAgrees, []Level{Note}, "how far half of PRTT(1,0,s) is from the half round trip of ping-pong"},
	{Eq18, []Level{Warning, Note}, "whether the hyperbola over LogGP is within the bounds of eq. 18"},
	{SmallestSize, []Level{Note}, "the size at which L, o_s and o_r are taken, where it is not 1 byte"},
	{OneFragment, []Level{Note}, "a message is fastest in one piece"},
	{BuffersGranted, []Level{Note}, "the socket buffers that the kernel granted"},
	{Deadlock, []Level{Note}, "exchanges that deadlocked; values: bytes and buffer asked for"},
	{NagleCost, []Level{Note}, "settings at which Nagle's algorithm costs more than 20%"},
	{DelayedAck, []Level{Note}, "messages that waited for a delayed acknowledgement"},
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
	b.WriteString("| code | level | meaning |\n|---|---|---|\n")
	for _, m := range Codes {
		var levels []string
		for _, l := range m.Levels {
			levels = append(levels, string(l))
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", m.Code, strings.Join(levels, ", "), m.Meaning)
	}
	b.WriteString("\n| quantity | factors | points |\n|---|---|---|\n")
	for _, m := range Quantities {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", m.Quantity, strings.Join(m.Factors, ", "), m.Meaning)
	}
	return b.String()
}
