package params

import "fmt"

// Finding is something that a reader must know of a run or a fit. Programs look at Code, Values and Hosts; Message is for
// people, and nobody parses it.
type Finding struct {
	Code    Code   `json:"code"`
	Level   Level  `json:"level"`
	Message string `json:"message"`
	// Values are the numbers of the message, in SI units or relative, by name.
	Values map[string]float64 `json:"values,omitempty"`
	// Hosts are those that the finding is about; two are a pair.
	Hosts []string `json:"hosts,omitempty"`
}

// Level says how much a finding bears on the numbers.
type Level string

// Levels.
const (
	Warning Level = "warning" // the numbers may be wrong, or less certain than their intervals
	Note    Level = "note"    // worth knowing, and no fault
)

// Code identifies a kind of finding. Codes says what each means.
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
	NetworkKind       Code = "network-kind"
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

// Warnf makes a warning.
func Warnf(code Code, format string, args ...any) Finding {
	return Finding{Code: code, Level: Warning, Message: fmt.Sprintf(format, args...)}
}

// Notef makes a note.
func Notef(code Code, format string, args ...any) Finding {
	return Finding{Code: code, Level: Note, Message: fmt.Sprintf(format, args...)}
}

// With returns f with values: a name, then its number, and so on.
func (f Finding) With(name string, value float64) Finding {
	values := map[string]float64{name: value}
	for k, v := range f.Values {
		values[k] = v
	}
	f.Values = values
	return f
}

// About returns f with the hosts it is about.
func (f Finding) About(hosts ...string) Finding {
	f.Hosts = hosts
	return f
}

// Found is a finding with the model it comes from; "" is the run itself.
type Found struct {
	Finding
	Model string
}

// Findings lists those of a level: of the run, then of every fit in order.
func (p *Params) AllFindings(level Level) []Found {
	var out []Found
	add := func(list []Finding, model string) {
		for _, f := range list {
			if f.Level == level {
				out = append(out, Found{f, model})
			}
		}
	}
	add(p.Findings, "")
	for _, f := range p.Fits {
		add(f.Findings, f.Model)
	}
	return out
}
