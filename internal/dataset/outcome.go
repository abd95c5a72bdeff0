package dataset

// Why an experiment was not measured further.
const (
	StopTargets = "targets" // the targets of the run were met, or beyond reach
	StopBudget  = "budget"  // time ended
	StopRounds  = "rounds"  // the plan's rounds ended
	StopOpen    = "open"    // the run was cut off
)

// Stop says why an experiment was not measured further. Earlier runs have an entry for each point, which may have the
// reason "target".
type Stop struct {
	Experiment string `json:"experiment"`
	Reason     string `json:"reason"`
	Rounds     int    `json:"rounds"` // in which it was measured
}

// Failure is a slot, a host, or the link between two hosts, that gave nothing.
type Failure struct {
	Slot  *int     `json:"slot,omitempty"`
	Host  string   `json:"host,omitempty"`
	Link  []string `json:"link,omitempty"`
	Error string   `json:"error"`
}
