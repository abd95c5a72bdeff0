package names

import (
	"fmt"
	"slices"
	"strings"
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
	{Bcast, PhaseBinomial, "broadcast over a binomial tree, from the first byte at host 0 to the last byte at the last host"},
	{Buffer, PhaseOneWay, "half round trip of a message, by socket buffer"},
	{Buffer, PhaseBoth, "both hosts send a message, then receive one; with the flag deadlock, until one host was seen to stand still"},
	{Buffer, PhaseInterleaved, "both hosts send a message in fragments and receive in between"},
	{Clock, PhaseCost, "a block of clock readings in a row"},
	{Clock, PhaseStep, "a step of the clock between two readings"},
	{Clock, PhaseOffset, "offset of a host's clock from host 0's, before and after the slot"},
	{Copy, "", "one copy within a host, as the mean of several in a row"},
	{Copy, PhaseSpilled, "the same where source and destination do not fit in the nearest cache"},
	{Flood, PhaseFlood, "interval between the datagrams of a burst at the root; 0 with the flag timeout where fewer than two arrived"},
	{Flood, PhaseProbe, "one-way time of a datagram through a port that TCP streams saturate; 0 with the flag timeout where none arrived"},
	{Flood, PhaseProbeIdle, "one-way time of a datagram through the idle port; 0 with the flag timeout where none arrived"},
	{Flood, PhaseProbeDrain, "interval between the segments of those streams at the root"},
	{Flood, PhaseSkipped, "estimated time of a burst that was not sent because it would take too long"},
	{Fragment, "", "half round trip of a message sent and received in fragments"},
	{Gap, PhaseGap, "interval between the messages of one sender, over its receivers"},
	{Gather, PhaseArrivals, "interval between messages at a root to which several senders stream"},
	{Gather, PhaseGather, "from the common start until the root has the message of every sender"},
	{Gather, PhaseSkipped, "estimated time of a gather that was not made because it would take too long"},
	{Load, PhaseLoad, "half round trip of one pair while other pairs exchange messages too"},
	{NoDelay, "", "half round trip of a message sent in one write or two"},
	{Overhead, PhaseSend, "time inside send with room in the buffer, with one reading of the clock"},
	{Overhead, PhaseRecv, "time inside receive of what is already there, with one reading of the clock"},
	{Overhead, PhaseComputeIdle, "a fixed computation on a host at which nothing arrives, summed over its CPUs"},
	{Overhead, PhaseCompute, "the same while messages arrive at a known rate"},
	{Paired, PhaseBurst, "from a sender's start to the delivery of its message, while n pairs send at once"},
	{Paired, PhaseBurstStart, "start of that sender after the common start"},
	{Paired, PhaseStream, "interval between the chunks of one of n streams at its receiver"},
	{Pingpong, "", "half round trip"},
	{PRTT, PhasePRTT, "round trip of n messages in a row and one reply"},
	{PRTT, PhaseSpaced, "the same without the waits of the sender, which waits before each message but the first"},
	{PRTT, PhaseDelayed, "the same without the waits of the receiver, which waits before each receive but the first"},
	{PRTT, PhaseSend, "one send call of a spaced round trip, with one reading of the clock"},
	{PRTT, PhaseReceive, "one receive call of a delayed round trip, with one reading of the clock"},
}

// StopPhases lists the phases that stand in the stops of run.json only.
var StopPhases = []Phase{
	{Paired, StopLastDelivery, "the last of the n deliveries of a burst"},
	{Paired, StopAllStreams, "n chunks at the rate of all n streams together"},
}

// Factors lists every factor of a point.
var Factors = []Name{
	{FactorBuffer, "B", "socket buffer asked for; 0 leaves it to the kernel"},
	{FactorBytes, "B", "message or datagram; of copy, what is copied"},
	{FactorCold, "", "copy: 0 from cache to cache, 1 from cache to memory, 2 from memory to memory"},
	{FactorDelayed, "", "prtt: 1 where the receiver waits"},
	{FactorFragment, "B", "fragment"},
	{FactorHosts, "", "bcast: hosts that take part; clock: 1 for hosts alone, 2 for pairs"},
	{FactorLoop, "", "copy: 1 is byte by byte, 0 in bulk"},
	{FactorMerge, "", "gap: 1 where the kernel may merge messages into segments"},
	{FactorMessages, "", "prtt: messages in a row"},
	{FactorNagle, "", "nodelay: 1 with Nagle's algorithm"},
	{FactorOffset, "B", "nodelay: what the message has beyond whole segments; it may be negative"},
	{FactorPackets, "", "flood: datagrams of a burst, of all senders together"},
	{FactorPairs, "", "pairs at once"},
	{FactorProbe, "", "flood: 1 is the probe beside streams"},
	{FactorRate, "1/s", "overhead: messages asked for"},
	{FactorSegments, "", "nodelay: whole segments of the message"},
	{FactorSenders, "", "senders to one root; the prober of flood is one of them"},
	{FactorSpaced, "", "prtt: 1 where the sender waits"},
	{FactorStream, "", "1 is a stream"},
	{FactorWindow, "", "gather: senders at once"},
	{FactorWrites, "", "nodelay: writes of a message"},
}

// AuxValues lists every auxiliary value.
var AuxValues = []Name{
	{AuxAveraged, "", "messages, chunks or copies that one value of ns is the mean of"},
	{AuxBatch, "", "imported: number of the batch in its slot, where there are several"},
	{AuxBound, "ns", "half the smallest round trip, within which the clock offset is certain"},
	{AuxBytes, "B", "nodelay: message"},
	{AuxCache, "B", "nearest data cache"},
	{AuxCalls, "", "clock readings of a block"},
	{AuxChunk, "B", "chunk of a stream"},
	{AuxClock, "ns", "one timed section with nothing in it"},
	{AuxCompleted, "", "exchanges that came to an end before the one that stood still"},
	{AuxCPUs, "", "CPUs that compute"},
	{AuxDelay, "ns", "wait between messages"},
	{AuxDirection, "", "which rank sends: 0 the first of a pair or team, 1 the second, 2 the third"},
	{AuxDrift, "ppm", "rate of a clock against host 0's"},
	{AuxDropped, "", "datagrams that the root's own socket had no room for"},
	{AuxFragment, "B", "fragment of an interleaved exchange"},
	{AuxLastCache, "B", "last cache before memory"},
	{AuxMedian, "ns", "median of one copy, with fractions"},
	{AuxMessages, "", "messages of the stream, for each receiver; of a computation, segments that arrived during one of them on average"},
	{AuxMSS, "B", "payload of a full segment"},
	{AuxOffsetBound, "ns", "standard uncertainty of a one-way time after both directions are averaged, where the writer knows it"},
	{AuxOffsetSpread, "ns", "spread of the clock offset between two ranks"},
	{AuxPairs, "", "pairs at once"},
	{AuxPeerRcvBuf, "B", "receive buffer that the peer's kernel granted"},
	{AuxPeerSndBuf, "B", "send buffer that the peer's kernel granted"},
	{AuxReads, "", "clock readings among which the steps were seen"},
	{AuxReceived, "", "datagrams received"},
	{AuxReceivers, "", "receivers of a gap stream"},
	{AuxRepetitions, "", "repetitions"},
	{AuxSegment, "B", "segment of the streams"},
	{AuxSend, "ns", "flood: time that the slowest sender took to send its part of the burst; gap: a send once the stream is steady"},
	{AuxSent, "", "datagrams sent"},
	{AuxSentBeforeStall, "B", "bytes taken before the exchange stood still"},
	{AuxSpan, "ns", "from the first to the last arrival"},
	{AuxSpread, "ns", "median absolute deviation of the offset over the better half of its exchanges"},
	{AuxStreams, "", "imported: parallel streams"},
	{AuxTrips, "", "round trips made, of which ns holds some"},
	{AuxWindow, "ns", "the part of the stream that is counted"},
	{AuxWindowChunks, "", "chunks of this stream in that part"},
	{AuxWindowMessages, "", "messages, of all receivers, or segments in that part"},
	{AuxWork, "", "steps of the computation"},
}

// Unknown returns an error that names what a line holds and the tables do not: its phase, a factor or an auxiliary value.
func Unknown(experiment, phase string, factors map[string]int64, aux map[string]float64) error {
	if !slices.ContainsFunc(Phases, func(p Phase) bool { return p.Experiment == experiment && p.Name == phase }) {
		return fmt.Errorf("experiment %q has no phase %q in the tables of package names", experiment, phase)
	}
	for f := range factors {
		if !listed(Factors, f) {
			return fmt.Errorf("%s: factor %q is not in the tables of package names", experiment, f)
		}
	}
	for a := range aux {
		if !listed(AuxValues, a) {
			return fmt.Errorf("%s: auxiliary value %q is not in the tables of package names", experiment, a)
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
	for i, t := range [][]Phase{Phases, StopPhases} {
		if i > 0 {
			b.WriteString("\nStops in run.json have two phases more:\n\n")
		}
		b.WriteString("| exp | phase | one value of `ns` is |\n|---|---|---|\n")
		for _, p := range t {
			fmt.Fprintf(&b, "| %s | %s | %s |\n", p.Experiment, p.Name, p.Timings)
		}
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
