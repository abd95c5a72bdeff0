package params

// Code identifies a kind of finding. formats.yaml of package glossary says what each means.
type Code string

// Codes of findings that more than one place knows. The others are written where the finding is made.
const (
	Impossible       Code = "impossible"
	Contradiction    Code = "contradiction"
	ZeroInInterval   Code = "zero-in-interval"
	Provisional      Code = "provisional"
	OneMachine       Code = "one-machine"
	ModelFailed      Code = "model-failed"
	MixedVersions    Code = "mixed-versions"
	NotFinite        Code = "not-finite"
	SlowHost         Code = "slow-host"
	HostGroups       Code = "host-groups"
	HostKinds        Code = "host-kinds"
	LostSegments     Code = "lost-segments"
	OneRound         Code = "one-round"
	ManyLeftOut      Code = "many-left-out"
	LateWire         Code = "late-wire"
	DisturbedTimings Code = "disturbed-timings"
	TwoStates        Code = "two-states"
	Coalescing       Code = "interrupt-coalescing"
	NUMANode         Code = "numa-node"
	OffTheForm       Code = "off-the-form"
	SeveralSegments  Code = "several-segments"
	NotPositive      Code = "not-positive"
	ClockOffsets     Code = "clock-offsets"
	NetworkUnknown   Code = "network-kind-unknown"
	NegativeAC       Code = "negative-contention"
	NotPredicted     Code = "not-predicted"
	SimulationMisses Code = "simulation-misses"
	GathersUnchecked Code = "gathers-unchecked"
	Caches           Code = "caches"
	BufferCounts     Code = "buffer-counts"
	BufferAmbiguous  Code = "buffer-ambiguous"
	BufferMethods    Code = "buffer-methods"
	RoundTripOff     Code = "round-trip"
	Eq18             Code = "eq18"
	RemapPredicted   Code = "remaps-predicted"
	NagleCost        Code = "nagle-cost"
	SweepIncomplete  Code = "sweep-incomplete"
	SharedCPUs       Code = "shared-cpus"
)

// Quantity is what the points of a series are. formats.yaml of package glossary says what each means.
type Quantity string

// Quantities of series.
const (
	Time           Quantity = "time"
	FixedTime      Quantity = "fixed-time"
	TimePerByte    Quantity = "time-per-byte"
	ConnectionTime Quantity = "time-per-byte-by-connections"
	BurstTime      Quantity = "burst-time"
	CostOfSize     Quantity = "cost"
	TransferTime   Quantity = "transfer-time"
	GatherTime     Quantity = "gather-time"
	HalfRoundTrip  Quantity = "half-round-trip"
	Gap            Quantity = "gap"
	Overhead       Quantity = "overhead"
	TimedCall      Quantity = "timed-call"
	RemapTime      Quantity = "remap-time"
	ArrivalRatio   Quantity = "arrival-ratio"
	ProbedBuffer   Quantity = "probed-buffer"
	FragmentedTime Quantity = "fragmented-time"
	BufferedTime   Quantity = "buffered-time"
	NagleTime      Quantity = "time-with-nagle"
	TimerCost      Quantity = "timer-cost"
	TailTime       Quantity = "tail-time"
	ExchangeTime   Quantity = "exchange-time"
	HandedTime     Quantity = "handed-time"
	PenaltyFactor  Quantity = "penalty-factor"
	HidingGain     Quantity = "hiding-gain"
	SendFirstGain  Quantity = "send-first-gain"
	InTurnTime     Quantity = "in-turn-time"
)
