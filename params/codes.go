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
	SlowHost         Code = "slow-host"
	SlowUplink       Code = "slow-uplink"
	Undecided        Code = "undecided"
	LostSegments     Code = "lost-segments"
	OneRound         Code = "one-round"
	ManyLeftOut      Code = "many-left-out"
	DisturbedTimings Code = "disturbed-timings"
	TwoStates        Code = "two-states"
	NetworkUnknown   Code = "network-kind-unknown"
	NegativeAC       Code = "negative-contention"
	NotPredicted     Code = "not-predicted"
	SimulationMisses Code = "simulation-misses"
	RoundTripOff     Code = "round-trip"
	Eq18             Code = "eq18"
	SharedCPUs       Code = "shared-cpus"
)

// Quantity is what the points of a series are. formats.yaml of package glossary says what each means.
type Quantity string

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
