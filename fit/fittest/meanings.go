package fittest

import (
	"fmt"
	"strings"

	"calib/internal/params"
)

// CodeMeaning is what findings of one code say.
type CodeMeaning struct {
	Code    params.Code
	Levels  []params.Level // those it may have
	Values  []string       // names in Values; a finding may have none of them
	Meaning string
}

// Codes says what every code means. docs/FORMATS.md shows this table.
var Codes = []CodeMeaning{
	{params.Impossible, []params.Level{params.Warning}, []string{"estimate"}, "a parameter or function was withheld because its value is impossible"},
	{params.FallsWithHosts, []params.Level{params.Warning}, []string{"l1"}, "the time in the network falls as more hosts communicate [s a host]: hosts that become faster under load, not a network"},
	{params.Contradiction, []params.Level{params.Warning}, []string{"first", "second"}, "two numbers of the run exclude each other; the message says which was withheld"},
	{params.ZeroInInterval, []params.Level{params.Note}, nil, "parameters and functions that cannot be told from zero, and would matter: they have a bound only"},
	{params.Provisional, []params.Level{params.Note}, nil, "the parameters and functions that are provisional for one reason"},
	{params.OneMachine, []params.Level{params.Note}, []string{"hosts"}, "hosts of the run share one machine: what they share is its CPUs"},
	{params.ModelFailed, []params.Level{params.Warning}, nil, "a model could not be fitted, although its experiments were measured"},
	{params.MeasuringNote, []params.Level{params.Warning, params.Note}, nil, "something that was noticed while measuring or importing"},
	{params.MixedVersions, []params.Level{params.Warning}, nil, "the agents run different versions of calib"},
	{params.NotFinite, []params.Level{params.Warning}, nil, "a number is infinite or not a number: it was written as null or left out"},
	{params.LostSegments, []params.Level{params.Warning, params.Note}, []string{"rate"}, "the share of segments that were sent again, in exchanges that nothing else disturbed: a warning from 0.1%"},
	{params.SlowHost, []params.Level{params.Warning}, []string{"ratio"}, "every pair of a host is slow; ratio is to the median pair"},
	{params.OneRound, []params.Level{params.Warning}, nil, "there is one round only: nothing has an interval"},
	{params.ManyLeftOut, []params.Level{params.Warning}, []string{"share"}, "more than a tenth of the timings was left out"},
	{params.LateWire, []params.Level{params.Warning}, []string{"timings"}, "the emulated wire of the lab was late: its accuracy cannot be judged by this run"},
	{params.DisturbedTimings, []params.Level{params.Note}, []string{"timings"}, "most timings of some points were disturbed by the host, and were used all the same"},
	{params.PacketAssumed, []params.Level{params.Note}, nil, "the kernel did not report the segment size: the usual one was taken"},
	{params.OneDirection, []params.Level{params.Warning}, nil, "one direction only was measured: a clock offset does not cancel"},
	{params.SlowHostsOnly, []params.Level{params.Warning}, nil, "nothing was measured without a slow host"},
	{params.PairsDiffer, []params.Level{params.Warning}, []string{"ratio", "bytes"}, "pairs differ, and too few were measured to tell a slow host from contention; ratio is of the slowest to the fastest"},
	{params.SkewedStarts, []params.Level{params.Note}, []string{"dropped", "repetitions"}, "repetitions of bursts that were dropped, because their senders started too far apart"},
	{params.SlowPairsCut, []params.Level{params.Warning}, []string{"batches"}, "the pairs of slow hosts were left out of bursts that other pairs took part in"},
	{params.SharedMachine, []params.Level{params.Warning}, nil, "hosts share a machine: a sender's time may hold work of the receiver"},
	{params.Coalescing, []params.Level{params.Warning}, []string{"wait"}, "the interface holds arriving packets back: what that does to alpha, a, L and g; wait is for how long, in s"},
	{params.Offloads, []params.Level{params.Note}, []string{"segments"}, "offloads that join packets are on: which parameters they bear on; segments is how many make 64 KiB, 0 where that is not known"},
	{params.NUMANode, []params.Level{params.Warning, params.Note}, nil, "the interface and the CPU of the timing thread are on different NUMA nodes, or may be"},
	{params.NotASegmentEach, []params.Level{params.Warning}, []string{"timings"}, "the kernel merged messages into segments: those timings were left out"},
	{params.TableOnly, []params.Level{params.Note}, nil, "the result is a table: no curve is fitted through it"},
	{params.NegativeSlope, []params.Level{params.Warning}, nil, "a cost falls with the size"},
	{params.OffTheForm, []params.Level{params.Warning, params.Note}, []string{"off", "bytes"}, "a function is further off a size than its form allows"},
	{params.SeveralSegments, []params.Level{params.Note}, nil, "one line does not fit: the function is several lines over ranges of the size"},
	{params.AboveOnePacket, []params.Level{params.Note}, nil, "how far a cost is off above one packet, up to which it was fitted"},
	{params.NotPositive, []params.Level{params.Warning}, nil, "a number that must be positive is not, or cannot be told from zero"},
	{params.ClockCost, []params.Level{params.Note}, nil, "what one timed section costs by itself; it was subtracted"},
	{params.ClockOffsets, []params.Level{params.Note}, []string{"median", "worst"}, "how certain the clock offsets between hosts are, in seconds"},
	{params.DelayInA, []params.Level{params.Note}, nil, "the parameter a holds half of the delay L"},
	{params.StreamsOnly, []params.Level{params.Note}, nil, "streams only were measured: there is no a and no a_c"},
	{params.NoStreams, []params.Level{params.Warning}, nil, "no streams were measured: the time per byte is that of bursts"},
	{params.NetworkUnknown, []params.Level{params.Note}, []string{"margin", "packets", "packets_lo", "packets_hi", "streams", "streams_lo", "streams_hi"},
		"the kind of network cannot be told: how much the most pairs disturb each other, with 95% limits, and what would matter, all relative to the fewest"},
	{params.NotPredicted, []params.Level{params.Warning}, nil, "patterns were measured, and no model has the parameters to predict them"},
	{params.NegativeAC, []params.Level{params.Warning}, nil, "a_c is negative, which the model cannot explain"},
	{params.Eq16Misfit, []params.Level{params.Note}, []string{"mean", "worst"}, "how far eq. 16 of the hyperbolic model is off the bursts"},
	{params.NoSmallBurst, []params.Level{params.Warning}, nil, "no burst fits in one packet"},
	{params.TwoNumbersOfPairs, []params.Level{params.Warning}, nil, "two numbers of pairs only were measured: a line through them proves nothing"},
	{params.FallingStreams, []params.Level{params.Warning}, nil, "the time per byte falls with the number of pairs"},
	{params.UnsteadyStreams, []params.Level{params.Warning}, []string{"share"}, "some points have only streams whose rate changed while it was counted, or that the receiver or the congestion control held up; share is the typical relative error"},
	{params.StreamLimit, []params.Level{params.Note}, []string{"send", "recv"}, "which end limits a stream; send and recv are the shares of the window in which the threads of sender and receiver ran"},
	{params.DirectionsDiffer, []params.Level{params.Note}, []string{"difference"}, "the time per byte differs between the two directions of the pairs"},
	{params.ConnectionLimited, []params.Level{params.Note}, []string{"gain", "connections"}, "several connections are faster than one: b is that of one connection and its CPU, not the link's"},
	{params.NoBreak, []params.Level{params.Warning}, nil, "the time per byte does not follow max(b, n·b_c)"},
	{params.BurstSlope, []params.Level{params.Note}, []string{"difference"}, "how far the slope of large bursts is off the time per byte of streams"},
	{params.LimitsUsed, []params.Level{params.Note}, nil, "the sizes from which a' and b' were taken"},
	{params.NoSmallSize, []params.Level{params.Warning}, nil, "no size fits in one packet"},
	{params.JointEstimate, []params.Level{params.Warning, params.Note}, []string{"mean", "worst"}, "how far the joint estimate of the hyperbola is off T, or why there is none"},
	{params.FlatSegment, []params.Level{params.Note}, nil, "T does not grow over a range of sizes"},
	{params.SegmentCount, []params.Level{params.Note}, nil, "how many segments T has, and whether BIC found their breaks or they were given"},
	{params.OrUnknown, []params.Level{params.Note}, nil, "O_r is not known: L holds it"},
	{params.OrHidden, []params.Level{params.Warning}, nil, "O_r cannot be told from zero at some sizes"},
	{params.OrByRate, []params.Level{params.Note}, []string{"ratio"}, "O_r depends on the rate of messages; ratio is of the highest rate to the lowest"},
	{params.IdentityUnchecked, []params.Level{params.Note}, nil, "2(O_s + L + O_r + U_r) was not compared with a round trip"},
	{params.Identity, []params.Level{params.Warning, params.Note}, []string{"mean", "worst"}, "how far 2(O_s + L + O_r + U_r) is off the round trip"},
	{params.GathersUnchecked, []params.Level{params.Warning, params.Note}, nil, "gathers were not compared with eq. 8 of the cluster model"},
	{params.GathersPredicted, []params.Level{params.Note}, []string{"mean", "worst"}, "how far eq. 8 of the cluster model is off the gathers"},
	{params.GatherTimes, []params.Level{params.Note}, nil, "the times of gathers, all senders at once and by the best window"},
	{params.GsUnknown, []params.Level{params.Warning}, nil, "g_s is not known: an aggregate limit of the network cannot be seen"},
	{params.LimitNotReached, []params.Level{params.Warning}, []string{"offered"}, "the hosts did not reach the aggregate limit of the network; offered is in B/s"},
	{params.OneLoad, []params.Level{params.Warning}, nil, "load was measured with one number of hosts: l1 cannot be told from l0"},
	{params.LossyStreams, []params.Level{params.Warning}, nil, "g_r is from streams with losses at some sizes"},
	{params.GrSenders, []params.Level{params.Note}, nil, "the numbers of senders from which g_r was taken"},
	{params.SenderLimited, []params.Level{params.Note}, nil, "at some sizes the senders were the limit: they do not count for g_r"},
	{params.Caches, []params.Level{params.Note}, nil, "the caches of the hosts"},
	{params.BurstsSkipped, []params.Level{params.Note}, nil, "bursts that the experiment did not send, because of its limits"},
	{params.BurstFits, []params.Level{params.Note}, nil, "what the bursts of each size and number of senders give"},
	{params.BufferCounts, []params.Level{params.Note}, nil, "whether the buffer counts packets or bytes"},
	{params.BufferAmbiguous, []params.Level{params.Warning}, nil, "the buffer seems to count neither packets nor bytes"},
	{params.BufferMethods, []params.Level{params.Warning, params.Note}, []string{"difference"}, "how far the two methods for B_L are apart"},
	{params.PortIdle, []params.Level{params.Warning}, nil, "the streams did not keep the port busy"},
	{params.TimedCalls, []params.Level{params.Note}, nil, "how far timed calls are off the overheads by PRTT"},
	{params.RoundTripOff, []params.Level{params.Warning, params.Note}, []string{"worst"}, "how far the sum of LogGP is off half the round trip"},
	{params.PingpongAgrees, []params.Level{params.Note}, nil, "how far half of PRTT(1,0,s) is off the half round trip of ping-pong"},
	{params.Eq18, []params.Level{params.Warning, params.Note}, nil, "whether the hyperbola over LogGP is within the bounds of eq. 18"},
	{params.SmallestSize, []params.Level{params.Note}, nil, "the size at which L, o_s and o_r were taken, where it is not 1 byte"},
	{params.RemapPredicted, []params.Level{params.Warning, params.Note}, []string{"mean", "worst", "remaps"},
		"how far LoGPC is off the remaps that were measured, relative to these"},
	{params.RemapUnpredicted, []params.Level{params.Note}, nil, "remaps were measured, and not what LoGPC predicts them from"},
	{params.OneFragment, []params.Level{params.Note}, nil, "a message is fastest in one piece"},
	{params.BuffersGranted, []params.Level{params.Note}, nil, "the socket buffers that the kernel granted"},
	{params.Deadlock, []params.Level{params.Note}, []string{"bytes", "buffer"}, "exchanges that deadlocked; buffer is as asked for, in bytes"},
	{params.NagleCost, []params.Level{params.Note}, nil, "the settings at which Nagle's algorithm costs more than 20%"},
	{params.DelayedAck, []params.Level{params.Note}, nil, "the messages that waited for a delayed acknowledgement"},
	{params.StepsSkipped, []params.Level{params.Note}, []string{"points"}, "steps of overlap that were not made because they would take too long"},
	{params.SweepIncomplete, []params.Level{params.Note}, nil, "what the gain by eq. 4 of latency hiding lacks"},
	{params.GainMisfit, []params.Level{params.Note}, []string{"mean", "worst"}, "how far the gain by eq. 4 of latency hiding is off the measured gain"},
	{params.NoOverlap, []params.Level{params.Warning}, []string{"bytes"}, "a second thread gains nothing at any granularity: computing and communicating do not overlap"},
	{params.SharedCPUs, []params.Level{params.Warning}, []string{"cpus"}, "the second thread has no CPU to itself; cpus are those that the agents may use"},
	{params.WakeUpInL, []params.Level{params.Note}, []string{"share"}, "what waking the receiver is of a small message, and which parameters hold it"},
	{params.ColdMessages, []params.Level{params.Note}, []string{"share"}, "what a message takes more after a pause, and which parameters hold that"},
}

// QuantityMeaning is what the points of a quantity are.
type QuantityMeaning struct {
	Quantity params.Quantity
	Factors  []string // of its series
	Meaning  string
}

// Quantities says what every quantity means. docs/FORMATS.md shows this table.
var Quantities = []QuantityMeaning{
	{params.Time, nil, "half round trip of a message by size: T(x)"},
	{params.FixedTime, nil, "fixed time of a message while n pairs send: a'(n)"},
	{params.TimePerByte, nil, "time per byte while n pairs send: b'(n)"},
	{params.ConnectionTime, []string{"pairs"}, "time per byte over several connections a pair, by their number"},
	{params.MessageTime, []string{"bytes"}, "time per byte of messages of one size while n pairs send them back to back"},
	{params.BurstTime, []string{"pairs"}, "time to the last of n deliveries by size"},
	{params.CostOfSize, nil, "a cost of the cluster model by size; symbol is its function"},
	{params.TransferTime, []string{"hosts"}, "L(m, p) of the cluster model by size"},
	{params.RoundTrip, nil, "round trip of ping-pong by size, beside the cluster model"},
	{params.GatherTime, []string{"senders", "window"}, "time of a gather by size"},
	{params.HalfRoundTrip, nil, "PRTT(1,0,s)/2 by size, beside LogGP"},
	{params.Gap, nil, "gap(s) of LogGP by size; symbol is its function"},
	{params.Overhead, nil, "o_s(s) or o_r(s) of LogGP by size; symbol is its function"},
	{params.TimedCall, nil, "the same overheads, timed directly"},
	{params.RemapTime, []string{"sync", "bytes", "destinations", "span"}, "time between two injections of a host in a remap, by the number of hosts"},
	{params.ArrivalRatio, []string{"bytes", "senders"}, "share of a burst of datagrams that arrives, by their number"},
	{params.ProbedBuffer, nil, "B_L by the delay of a probe, by senders"},
	{params.FragmentedTime, []string{"bytes"}, "half round trip of a message by fragment"},
	{params.BufferedTime, []string{"bytes"}, "time of a message by socket buffer"},
	{params.NagleTime, []string{"writes", "nagle"}, "half round trip of a message by size"},
	{params.TimerCost, nil, "one reading of the clock"},
	{params.ExchangeTime, nil, "transfer of a message both ways at once, by size; symbol is its function"},
	{params.HandedTime, nil, "the same, handed to a second thread; symbol is its function"},
	{params.PenaltyFactor, nil, "the second over the first, by size"},
	{params.HidingGain, []string{"bytes"}, "gain of computing while a second thread communicates, by computation over transfer"},
	{params.SendFirstGain, []string{"bytes"}, "gain of sending before computing, by computation over transfer; no model"},
	{params.InTurnTime, []string{"bytes"}, "time of computing and then communicating over the sum of both alone, by computation over transfer"},
	{params.TailTime, []string{"quantile"}, "half round trip that a share of the messages exceeds, by size; symbol is its function"},
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
