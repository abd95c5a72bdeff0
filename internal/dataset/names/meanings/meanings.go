// Package meanings says what every name of package names means. docs/FORMATS.md is tested against these tables, and so
// is every line that an experiment writes; nothing else reads them.
package meanings

import (
	"fmt"
	"slices"
	"strings"

	"calib/internal/dataset/names"
)

// Phase says what the timings of one phase of an experiment are.
type Phase struct {
	Experiment string
	Name       string // "" for the only phase of an experiment
	Timings    string // what one value of "ns" is
}

// Name is a factor or an auxiliary value.
type Name struct {
	Name    string
	Unit    string // "" is a count or a switch
	Meaning string
}

// Phases lists every phase that experiments write.
var Phases = []Phase{
	{names.Bcast, names.PhaseBinomial, "broadcast over a binomial tree, from the first byte at the root to the last byte at the last host"},
	{names.Buffer, names.PhaseOneWay, "half round trip of a message, by socket buffer"},
	{names.Buffer, names.PhaseBoth, "both hosts send a message, then receive one; with the flag deadlock, until one host was seen to stand still"},
	{names.Buffer, names.PhaseInterleaved, "both hosts send a message in fragments and receive in between"},
	{names.Check, names.PhaseTrip, "half a round trip of a byte, before the run; with the flag timeout whole packets did not pass; no model reads it"},
	{names.Clock, names.PhaseCost, "a block of clock readings in a row"},
	{names.Clock, names.PhaseStep, "a step of the clock between two readings"},
	{names.Clock, names.PhaseOffset, "offset of a host's clock from that of the team's first, before and after the slot"},
	{names.Copy, "", "one copy within a host, as the mean of several in a row"},
	{names.Copy, names.PhaseSpilled, "the same where source and destination do not fit in the nearest cache"},
	{names.Flood, names.PhaseFlood, "interval between the datagrams of a burst at the root; 0 with the flag timeout where fewer than two arrived"},
	{names.Flood, names.PhaseFull, "wait in the full port of datagrams beside a lost one, by the clocks of sender and root and beyond the idle one-way time"},
	{names.Flood, names.PhaseProbe, "one-way time of a datagram through a port that TCP streams saturate; 0 with the flag timeout where none arrived"},
	{names.Flood, names.PhaseProbeIdle, "one-way time of a datagram through the idle port; 0 with the flag timeout where none arrived"},
	{names.Flood, names.PhaseProbeDrain, "interval between the segments of those streams at the root"},
	{names.Flood, names.PhaseSkipped, "estimated time of a burst that was not sent because it would take too long"},
	{names.Fragment, "", "half round trip of a message sent and received in fragments"},
	{names.Gap, names.PhaseGap, "interval between the messages of one sender, over its receivers"},
	{names.Gather, names.PhaseArrivals, "interval between messages at a root to which several senders stream"},
	{names.Gather, names.PhaseGather, "from the common start until the root has the message of every sender"},
	{names.Gather, names.PhaseSkipped, "estimated time of a gather that was not made because it would take too long"},
	{names.Load, names.PhaseLoad, "half round trip of one pair while other pairs exchange messages too"},
	{names.NoDelay, "", "half round trip of a message sent in one write or two"},
	{names.Overhead, names.PhaseSend, "time inside send with room in the buffer, with one reading of the clock"},
	{names.Overhead, names.PhaseRecv, "time inside receive of what is already there, with one reading of the clock"},
	{names.Overhead, names.PhaseComputeIdle, "a fixed computation on a host at which nothing arrives, summed over its CPUs"},
	{names.Overhead, names.PhaseCompute, "the same while messages arrive at a known rate"},
	{names.Overlap, names.PhaseInTurn, "a step of computing and then exchanging messages (I.1), as the mean of several in a row"},
	{names.Overlap, names.PhaseSendFirst, "a step of sending, computing, and then receiving (I.2)"},
	{names.Overlap, names.PhaseSecond, "a step of computing while a second thread exchanges the messages (I.3)"},
	{names.Overlap, names.PhaseCompute, "the computation of a step alone, on the slower of the two hosts"},
	{names.Overlap, names.PhaseTransfer, "the exchange of messages alone, by the thread that computes"},
	{names.Overlap, names.PhaseTransferSecond, "the same, handed to the second thread"},
	{names.Overlap, names.PhaseSkipped, "estimated time of a set of steps that was not made because it would take too long"},
	{names.Paired, names.PhaseBurst, "from a sender's start to the delivery of its message, while n pairs send at once"},
	{names.Paired, names.PhaseBurstStart, "start of that sender after the common start"},
	{names.Paired, names.PhaseMessages, "interval between messages back to back of one of n pairs at its receiver"},
	{names.Paired, names.PhaseStream, "time of the bytes of one write of one of n streams, as they came in equal parts of the window"},
	{names.Pattern, names.PhasePattern, "one run of a communication pattern, from the common start until the last host has done its part"},
	{names.Pattern, names.PhaseSkipped, "estimated time of a pattern that was not run because it would take too long"},
	{names.Pingpong, "", "half round trip"},
	{names.Probe, names.PhaseTrip, "half a round trip of a byte, before the run; no model reads it"},
	{names.Probe, names.PhaseRate, "time of as many bytes as bytes says, to the answer; no model reads it"},
	{names.PRTT, names.PhasePRTT, "round trip of n messages in a row and one reply"},
	{names.PRTT, names.PhaseSpaced, "the same without the waits of the sender, which waits before each message but the first"},
	{names.PRTT, names.PhaseDelayed, "the same without the waits of the receiver, which waits before each receive but the first"},
	{names.PRTT, names.PhaseSend, "one send call of a spaced round trip, with one reading of the clock"},
	{names.PRTT, names.PhaseReceive, "one receive call of a delayed round trip, with one reading of the clock"},
	{names.Remap, names.PhaseRemap, "interval between two injections of a rank, while all that inject are at it; of one rank alone without replies, between arrivals"},
	{names.Remap, names.PhaseSkipped, "estimated time of a remap that was not made because it would take too long"},
	{names.Wakeup, names.PhaseBlocking, "half round trip between receivers that sleep until the message comes"},
	{names.Wakeup, names.PhasePolling, "half round trip between receivers that look for the message again and again"},
	{names.Wakeup, names.PhaseIdle, "half round trip after a millisecond of idling"},
	{names.Wakeup, names.PhaseIdleAwake, "the same while the hosts keep their CPUs out of sleep states"},
}

// Factors lists every factor of a point.
var Factors = []Name{
	{names.FactorBuffer, "B", "socket buffer asked for; 0 leaves it to the kernel"},
	{names.FactorBytes, "B", "message or datagram; of copy, what is copied; of pattern, its M"},
	{names.FactorCold, "", "copy: 0 from cache to cache, 1 from cache to memory, 2 from memory to memory"},
	{names.FactorConnections, "", "paired: connections of each pair; one where it is absent"},
	{names.FactorDelayed, "", "prtt: 1 where the receiver waits"},
	{names.FactorDestinations, "", "remap: 0 drawn, 1 (i+p) mod P in turn, 2 always the next rank"},
	{names.FactorFragment, "B", "fragment"},
	{names.FactorHosts, "", "bcast, pattern, remap: hosts that take part; clock: 1 for hosts alone, 2 for pairs"},
	{names.FactorInjecting, "", "remap: ranks that inject; the others serve"},
	{names.FactorGranularity, "%", "overlap: computation of a step, of what takes as long as the exchange; 0 is the exchange alone"},
	{names.FactorLoop, "", "copy: 1 is byte by byte, 0 in bulk"},
	{names.FactorMerge, "", "gap: 1 where the kernel may merge messages into segments"},
	{names.FactorMessages, "", "prtt: messages in a row"},
	{names.FactorNagle, "", "nodelay: 1 with Nagle's algorithm"},
	{names.FactorOffset, "B", "nodelay: what the message has beyond whole segments; it may be negative"},
	{names.FactorPackets, "", "flood: datagrams of a burst, of all senders together"},
	{names.FactorPairs, "", "pairs at once"},
	{names.FactorPattern, "", "pattern: its number, in the table of MEASURING.md"},
	{names.FactorProbe, "", "flood: 1 is the probe beside streams"},
	{names.FactorRate, "1/s", "overhead: messages asked for"},
	{names.FactorSegments, "", "nodelay: whole segments of the message"},
	{names.FactorSenders, "", "senders to one root; the prober of flood is one of them"},
	{names.FactorSpaced, "", "prtt: 1 where the sender waits"},
	{names.FactorSpan, "", "remap: how far round the ring of ranks a message goes at most; 0 is any distance"},
	{names.FactorStream, "", "1 is a stream"},
	{names.FactorSync, "", "remap: 1 where a rank waits for the reply to each message before the next"},
	{names.FactorWindow, "", "gather: senders at once"},
	{names.FactorWrites, "", "nodelay: writes of a message"},
}

// AuxValues lists every auxiliary value.
var AuxValues = []Name{
	{names.AuxAhead, "", "messages by which a rank's injections may be ahead of what it has received"},
	{names.AuxAveraged, "", "messages, chunks, copies or steps that one value of ns is the mean of"},
	{names.AuxBatch, "", "imported: number of the batch in its slot, where there are several"},
	{names.AuxBound, "ns", "half the smallest round trip, within which the clock offset is certain; 0 where the hosts read one clock"},
	{names.AuxBytes, "B", "nodelay: message; probe: what was sent in the time"},
	{names.AuxCache, "B", "nearest data cache"},
	{names.AuxCalls, "", "clock readings of a block"},
	{names.AuxChunk, "B", "write of a stream, or message of a stream of messages"},
	{names.AuxClock, "ns", "one timed section with nothing in it"},
	{names.AuxCompleted, "", "exchanges that came to an end before the one that stood still"},
	{names.AuxCPURecv, "ns", "CPU time of the threads that received, in the window"},
	{names.AuxCPUSend, "ns", "CPU time of the threads that sent, in the window"},
	{names.AuxCPUs, "", "CPUs that compute; of overlap, those the agent may use"},
	{names.AuxDelay, "ns", "wait between messages"},
	{names.AuxDevice, "", "check: index of the interface by which the host sends to the other"},
	{names.AuxDirection, "", "which rank sends: 0 the first of a pair or team, 1 the second, 2 the third"},
	{names.AuxDrift, "ppm", "rate of a clock against that of the team's first host"},
	{names.AuxDropped, "", "datagrams that the root's own socket had no room for"},
	{names.AuxFragment, "B", "fragment of an interleaved exchange"},
	{names.AuxHalves, "", "bytes of the window's second half over those of the first"},
	{names.AuxHeld, "", "datagrams that left the port from the arrival of one beside a loss to its own departure, itself included; median"},
	{names.AuxHeldHigh, "", "the same, 75% quantile"},
	{names.AuxHeldLow, "", "the same, 25% quantile"},
	{names.AuxIdleExcess, "ns", "median by which the idle one-way time of a datagram exceeds the least of its sender"},
	{names.AuxLastCache, "B", "last cache before memory"},
	{names.AuxLosses, "", "datagrams of a full port that arrived and whose sender lost the one before or after"},
	{names.AuxMedian, "ns", "median of one copy, with fractions"},
	{names.AuxMessages, "", "messages of the stream, for each receiver; of remap, injections of the rank; of a computation, segments that arrived during one of them on average"},
	{names.AuxMSS, "B", "payload of a full segment"},
	{names.AuxOffsetBound, "ns", "standard uncertainty of a one-way time by the bound of the clock offset between its two ranks; the mean of both directions has none of it"},
	{names.AuxOffsetSpread, "ns", "spread of the clock offset between two ranks"},
	{names.AuxPairs, "", "pairs at once"},
	{names.AuxPathMTU, "B", "check: largest packet that the host sends to the other"},
	{names.AuxPeerRcvBuf, "B", "receive buffer that the peer's kernel granted"},
	{names.AuxPeerSndBuf, "B", "send buffer that the peer's kernel granted"},
	{names.AuxRamp, "ns", "the part of the stream before the window"},
	{names.AuxReads, "", "clock readings among which the steps were seen"},
	{names.AuxReceived, "", "datagrams received"},
	{names.AuxReceivers, "", "receivers of a gap stream"},
	{names.AuxRepetitions, "", "repetitions"},
	{names.AuxRoundTrip, "ns", "smallest round trip of the clock probes"},
	{names.AuxSegment, "B", "segment of the streams"},
	{names.AuxSend, "ns", "flood: time that the slowest sender took to send its part of the burst; gap: a send once the stream is steady"},
	{names.AuxSent, "", "datagrams sent"},
	{names.AuxSentBeforeStall, "B", "bytes taken before the exchange stood still"},
	{names.AuxService, "ns", "interval at which datagrams leave the full port"},
	{names.AuxSpan, "ns", "from the first to the last arrival; of remap, from the common start until the rank had sent and received all"},
	{names.AuxSpread, "ns", "median absolute deviation of the offset over the better half of its exchanges"},
	{names.AuxStartSkew, "ns", "how far apart the hosts that send first began, each by its own clock, the most of the repetitions"},
	{names.AuxStartSkewMedian, "ns", "how far apart the hosts that send first began, each by its own clock, median of the repetitions"},
	{names.AuxStreams, "", "imported: parallel streams"},
	{names.AuxTrips, "", "round trips made, of which ns holds some"},
	{names.AuxWindow, "ns", "the part of the stream that is counted"},
	{names.AuxWindowChunks, "", "chunks of this stream in that part, with fractions"},
	{names.AuxWindowMessages, "", "messages, of all receivers, or segments in that part"},
	{names.AuxWork, "", "steps of the computation; of overlap, in one step"},
}

// Unknown returns an error that names what a line holds and the tables do not: its phase, a factor or an auxiliary
// value.
func Unknown(experiment, phase string, factors map[string]int64, aux map[string]float64) error {
	if !slices.ContainsFunc(Phases, func(p Phase) bool { return p.Experiment == experiment && p.Name == phase }) {
		return fmt.Errorf("experiment %q has no phase %q in the tables of package meanings", experiment, phase)
	}
	for f := range factors {
		if !listed(Factors, f) {
			return fmt.Errorf("%s: factor %q is not in the tables of package meanings", experiment, f)
		}
	}
	for a := range aux {
		if !listed(AuxValues, a) {
			return fmt.Errorf("%s: auxiliary value %q is not in the tables of package meanings", experiment, a)
		}
	}
	return nil
}

func listed(table []Name, name string) bool {
	return slices.ContainsFunc(table, func(n Name) bool { return n.Name == name })
}

// Markdown is the tables as docs/FORMATS.md shows them.
func Markdown() string {
	var b strings.Builder
	b.WriteString("| exp | phase | one value of `ns` is |\n|---|---|---|\n")
	for _, p := range Phases {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", p.Experiment, p.Name, p.Timings)
	}
	for _, t := range []struct {
		title string
		rows  []Name
	}{{"point", Factors}, {"aux", AuxValues}} {
		fmt.Fprintf(&b, "\n| %s | unit | |\n|---|---|---|\n", t.title)
		for _, n := range t.rows {
			fmt.Fprintf(&b, "| %s | %s | %s |\n", n.Name, n.Unit, n.Meaning)
		}
	}
	return b.String()
}
