package params

// Names of terms of uncertainty.
const (
	TermRounds       = "rounds"           // the scatter that the bootstrap sees
	TermClockReading = "clock reading"    // the cost of reading the clock, and its step
	TermClockOffset  = "clock offset"     // between two hosts' clocks
	TermStartSkew    = "start skew"       // senders that should start together
	TermJitter       = "last of n"        // the last of n deliveries is late without contention
	TermFirst        = "first delivery"   // the first of n deliveries is late against the others
	TermSlowPairs    = "slow pairs"       // that took part and were left out
	TermLabHosts     = "lab hosts"        // what kernel and agents of an emulated cluster take beside the network that is known
	TermLabWire      = "lab wire"         // how exactly the emulated network keeps its times
	TermUnsteady     = "unsteady streams" // streams whose rate changed while it was counted
	TermEdges        = "window edges"     // bytes are counted in a window, and come a segment at a time
	TermStaircase    = "staircase"        // T grows by steps of a packet, through which a slope is laid
	// Of what a port holds.
	TermOwn     = "own service"
	TermIdle    = "idle one-way time"
	TermLevel   = "level of the full port"
	TermHeaders = "headers"
	TermKnee    = "misfit at the knee"
)
