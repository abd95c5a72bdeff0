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
	{Bcast, PhaseBinomial, "broadcast over a binomial tree, until the last host has confirmed it"},
	{Buffer, PhaseOneWay, "a message one way and a short reply, by socket buffer"},
	{Buffer, PhaseBoth, "both hosts send a message, then receive one"},
	{Buffer, PhaseInterleaved, "both hosts send and receive in turns, piece by piece"},
	{Clock, PhaseCost, "a block of clock readings in a row"},
	{Clock, PhaseStep, "a step of the clock between two readings"},
	{Clock, PhaseOffset, "offset of a host's clock from host 0's, before and after the slot"},
	{Copy, "", "copies in a row within a host, of one kind and size"},
	{Copy, PhaseSpilled, "the same where source and destination do not fit in the nearest cache"},
	{Flood, PhaseFlood, "interval between two datagrams of a burst at the receiver"},
	{Flood, PhaseProbe, "one-way time of a datagram through a port that TCP streams saturate"},
	{Flood, PhaseProbeIdle, "one-way time of a datagram through the idle port"},
	{Flood, PhaseProbeDrain, "interval between segments of the streams at the receiver"},
	{Flood, PhaseSkipped, "expected time of a burst that was not sent because it was beyond the limits"},
	{Fragment, "", "half round trip of a message sent and received in fragments"},
	{Gap, PhaseGap, "interval between messages of a stream"},
	{Gather, PhaseArrivals, "interval between messages that several senders stream to one root"},
	{Gather, PhaseGather, "time until the root has a message from every sender"},
	{Gather, PhaseSkipped, "expected time of a gather that was not begun because it was beyond the limits"},
	{Load, PhaseLoad, "half round trip of one pair while other pairs exchange messages too"},
	{NoDelay, "", "half round trip of a message sent in one or several writes"},
	{Overhead, PhaseSend, "time inside send with room in the buffer"},
	{Overhead, PhaseRecv, "time inside receive of what is already there"},
	{Overhead, PhaseComputeIdle, "a fixed computation on a host at which nothing arrives, summed over its CPUs"},
	{Overhead, PhaseCompute, "the same while messages arrive at a known rate"},
	{Paired, PhaseBurst, "from a sender's start to the delivery of its message, while n pairs send at once"},
	{Paired, PhaseBurstStart, "start of that sender after the common start"},
	{Paired, PhaseStream, "interval between chunks of one of n streams"},
	{Pingpong, "", "half round trip"},
	{PRTT, PhasePRTT, "n messages in a row and one reply"},
	{PRTT, PhaseSpaced, "the same, the sender waits before each but the first"},
	{PRTT, PhaseDelayed, "the same, the receiver waits before each but the first"},
	{PRTT, PhaseSend, "one send call of such a train"},
	{PRTT, PhaseReceive, "one receive call of such a train"},
}

// Factors lists every factor of a point.
var Factors = []Name{
	{FactorBuffer, "B", "socket buffer asked for; 0 leaves it to the kernel"},
	{FactorBytes, "B", "message"},
	{FactorCold, "", "copy: 0 from cache to cache, 1 from cache to memory, 2 from memory to memory"},
	{FactorDelayed, "", "prtt: 1 where the receiver waits"},
	{FactorFragment, "B", "fragment"},
	{FactorHosts, "", "hosts that take part"},
	{FactorLoop, "", "copy: 1 is byte by byte"},
	{FactorMerge, "", "gap: 1 where the kernel may merge messages into segments"},
	{FactorMessages, "", "prtt: messages in a row"},
	{FactorNagle, "", "1 with Nagle's algorithm"},
	{FactorOffset, "B", "nodelay: beside that many whole segments"},
	{FactorPackets, "", "flood: datagrams of a burst, of all senders together"},
	{FactorPairs, "", "pairs at once"},
	{FactorProbe, "", "flood: 1 is the probe behind streams"},
	{FactorRate, "1/s", "overhead: messages asked for"},
	{FactorSegments, "", "nodelay: whole segments of the message"},
	{FactorSenders, "", "senders to one root; of a probe, the prober is one of them"},
	{FactorSpaced, "", "prtt: 1 where the sender waits"},
	{FactorStream, "", "1 is a stream"},
	{FactorWindow, "", "gather: senders at once"},
	{FactorWrites, "", "nodelay: writes of a message"},
}

// AuxValues lists every auxiliary value.
var AuxValues = []Name{
	{AuxAveraged, "", "messages or chunks that one value of ns is the mean of"},
	{AuxBatch, "", "number of the batch in its slot, where there are several"},
	{AuxBound, "ns", "half the smallest round trip, within which the clock offset is certain"},
	{AuxBytes, "B", "nodelay: message"},
	{AuxCache, "B", "nearest data cache"},
	{AuxCalls, "", "clock readings of a block"},
	{AuxChunk, "B", "chunk of a stream"},
	{AuxClock, "ns", "one timed empty section"},
	{AuxCompleted, "", "exchanges that came to an end"},
	{AuxCPUs, "", "CPUs that compute"},
	{AuxDelay, "ns", "wait between messages"},
	{AuxDirection, "", "0 from lower to higher rank, 1 the other way"},
	{AuxDrift, "ppm", "rate of a clock against host 0's"},
	{AuxDropped, "", "datagrams that the receiver's own socket had no room for"},
	{AuxFragment, "B", "piece of an interleaved exchange"},
	{AuxLastCache, "B", "last cache before memory"},
	{AuxMedian, "ns", "median of one copy, with fractions"},
	{AuxMessages, "", "messages during the batch; of a computation, during one of them on average"},
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
	{AuxSend, "ns", "time that the senders took to hand over the batch"},
	{AuxSent, "", "datagrams sent"},
	{AuxSentBeforeStall, "B", "bytes taken before the exchange stood still"},
	{AuxSpan, "ns", "from the first to the last arrival"},
	{AuxSpread, "ns", "spread of the offset probes"},
	{AuxStreams, "", "imported: parallel streams"},
	{AuxTrips, "", "round trips made, of which ns holds some"},
	{AuxWindow, "ns", "window that all streams share"},
	{AuxWindowChunks, "", "chunks in that window"},
	{AuxWindowMessages, "", "messages in that window"},
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
