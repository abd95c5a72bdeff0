package params

// Names of terms of uncertainty of type B.
const (
	TermClockReading = "clock reading" // the cost of reading the clock, and its step
	TermClockOffset  = "clock offset"  // between two hosts
	TermLabHosts     = "lab hosts"     // what kernel and agents of an emulated cluster take beside the network that is known
	TermLabWire      = "lab wire"      // how exactly the emulated network keeps its times
)
