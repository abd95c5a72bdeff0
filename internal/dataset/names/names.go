// Package names is the vocabulary of samples.jsonl: every experiment, phase, factor of a point and auxiliary value has its
// name here, once. Experiments write these names and models read them; neither spells one as a literal.
//
// The tables in tables.go say what each name means. docs/FORMATS.md is tested against them, and so is every line that an
// experiment writes.
package names

// Experiments.
const (
	Bcast    = "bcast"
	Buffer   = "buffer"
	Clock    = "clock"
	Copy     = "copy"
	Flood    = "flood"
	Fragment = "fragment"
	Gap      = "gap"
	Gather   = "gather"
	Load     = "load"
	NoDelay  = "nodelay"
	Overhead = "overhead"
	Paired   = "paired"
	Pingpong = "pingpong"
	PRTT     = "prtt"
)

// Phases: the parts of an experiment. An experiment with one kind of line has none.
const (
	PhaseArrivals    = "arrivals"
	PhaseBinomial    = "binomial"
	PhaseBoth        = "both"
	PhaseBurst       = "burst-pair"
	PhaseBurstStart  = "burst-start"
	PhaseCompute     = "compute"
	PhaseComputeIdle = "compute-idle"
	PhaseCost        = "cost"
	PhaseDelayed     = "delayed"
	PhaseFlood       = "flood"
	PhaseGap         = "gap"
	PhaseGather      = "gather"
	PhaseInterleaved = "interleaved"
	PhaseLoad        = "load"
	PhaseOffset      = "offset"
	PhaseOneWay      = "oneway"
	PhaseProbe       = "probe"
	PhaseProbeDrain  = "probe-drain"
	PhaseProbeIdle   = "probe-idle"
	PhasePRTT        = "prtt"
	PhaseReceive     = "receive"
	PhaseRecv        = "recv"
	PhaseSend        = "send"
	PhaseSkipped     = "skipped"
	PhaseSpaced      = "spaced"
	PhaseSpilled     = "spilled"
	PhaseStep        = "step"
	PhaseStream      = "stream"
)

// Phases that stand in run.json only: what several hosts' lines say together, which decides when a point of paired stops.
const (
	StopLastDelivery = "burst"
	StopAllStreams   = "stream-total"
)

// Factors of a point.
const (
	FactorBuffer   = "buffer"
	FactorBytes    = "bytes"
	FactorCold     = "cold"
	FactorDelayed  = "delayed"
	FactorFragment = "fragment"
	FactorHosts    = "hosts"
	FactorLoop     = "loop"
	FactorMerge    = "merge"
	FactorMessages = "messages"
	FactorNagle    = "nagle"
	FactorOffset   = "offset"
	FactorPackets  = "packets"
	FactorPairs    = "pairs"
	FactorProbe    = "probe"
	FactorRate     = "rate"
	FactorSegments = "segments"
	FactorSenders  = "senders"
	FactorSpaced   = "spaced"
	FactorStream   = "stream"
	FactorWindow   = "window"
	FactorWrites   = "writes"
)

// Auxiliary values of a line.
const (
	AuxAveraged        = "averaged"
	AuxBatch           = "batch"
	AuxBound           = "bound_ns"
	AuxBytes           = "bytes"
	AuxCache           = "cache_bytes"
	AuxCalls           = "calls"
	AuxChunk           = "chunk_bytes"
	AuxClock           = "clock_ns"
	AuxCompleted       = "completed"
	AuxCPUs            = "cpus"
	AuxDelay           = "delay_ns"
	AuxDirection       = "dir"
	AuxDrift           = "drift_ppm"
	AuxDropped         = "dropped"
	AuxFragment        = "fragment_bytes"
	AuxLastCache       = "last_cache_bytes"
	AuxMedian          = "median_ns"
	AuxMessages        = "messages"
	AuxMSS             = "mss"
	AuxOffsetBound     = "offset_bound_ns"
	AuxOffsetSpread    = "offset_spread_ns"
	AuxPairs           = "pairs"
	AuxPeerRcvBuf      = "peer_rcvbuf"
	AuxPeerSndBuf      = "peer_sndbuf"
	AuxReads           = "reads"
	AuxReceived        = "received"
	AuxReceivers       = "receivers"
	AuxRepetitions     = "reps"
	AuxSegment         = "segment_bytes"
	AuxSend            = "send_ns"
	AuxSent            = "sent"
	AuxSentBeforeStall = "sent_before_stall"
	AuxSpan            = "span_ns"
	AuxSpread          = "spread_ns"
	AuxStreams         = "streams"
	AuxTrips           = "trips"
	AuxWindow          = "window_ns"
	AuxWindowChunks    = "window_chunks"
	AuxWindowMessages  = "window_messages"
	AuxWork            = "work"
)
