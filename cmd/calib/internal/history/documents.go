package history

import (
	"calib/cmd/calib/internal/command"
	"calib/internal/history"
	"calib/reports/compare"
	"time"
)

// Documents are what --json prints as the data of calib history and calib baseline. Values are in SI units, times in UTC.
func Documents() []command.Document {
	return []command.Document{
		command.DataOf[baselineList]("baseline list"), command.DataOf[removed]("baseline remove"),
		command.DataOf[baselineSet]("baseline set"), command.DataOf[baselineShown]("baseline show"),
		command.DataOf[ackList]("history ack"), command.DataOf[additions]("history add"),
		command.DataOf[exported]("history export"), command.DataOf[runList]("history list"),
		command.DataOf[historyLog]("history log"), command.DataOf[metricList]("history metrics"),
		command.DataOf[plotted]("history plot"), command.DataOf[removed]("history remove"),
		command.DataOf[storedRun]("history show"), command.DataOf[removed]("history unack"),
	}
}

type additions struct {
	Store string     `json:"store"`
	Runs  []addition `json:"runs"`
}

type addition struct {
	ID      string    `json:"id"`
	Started time.Time `json:"started"`
	Path    string    `json:"path"`
	Added   bool      `json:"added"`             // false: it was there already
	Skipped []string  `json:"skipped,omitempty"` // what is not ok, with its status, and is not followed
}

type runList struct {
	Store string      `json:"store"`
	Runs  []storedRun `json:"runs"`
	More  bool        `json:"more"` // --last left out older ones
}

// storedRun is a stored run. It is the data of history show, beside the parameters of the run.
type storedRun struct {
	history.Entry
	Baselines []string `json:"baselines"` // that it is in, by name
}

// metricList is of history metrics: what can be followed, of the whole network before that of links.
type metricList struct {
	Store   string             `json:"store"`
	Metrics []history.Followed `json:"metrics"`
}

type plotted struct {
	Format   string   `json:"format"`
	Files    []string `json:"files"`
	Runs     int      `json:"runs"`     // that were looked at
	Searched int      `json:"searched"` // metrics; each link counts as one
	Drawn    int      `json:"drawn"`
	LinkRuns int      `json:"link_runs"` // newest runs in which links were searched
	Changes  []change `json:"changes"`   // newest first
}

type change struct {
	Metric  string       `json:"metric"`
	From    string       `json:"from,omitempty"` // with To, the link; else it is of the whole network
	To      string       `json:"to,omitempty"`
	Unit    string       `json:"unit"`
	Run     string       `json:"run"` // the first of the new level
	At      time.Time    `json:"at"`  // its start
	Before  float64      `json:"before"`
	After   float64      `json:"after"`           // medians up to the neighbouring changes
	Share   *float64     `json:"share,omitempty"` // (after − before)/|before|, over |after| where before is 0
	P       float64      `json:"p"`               // of the permutation test
	Verdict string       `json:"verdict"`         // better, worse, or empty where neither is
	Ack     *history.Ack `json:"ack,omitempty"`   // that covers it
	index   int          // of Run among the readings of the metric
}

type historyLog struct {
	Store string    `json:"store"`
	Lines []logLine `json:"lines"`
}

// logLine is something that was done to the history or, with Change, a change of level that was found now.
type logLine struct {
	At      time.Time `json:"at"`
	Kind    string    `json:"kind"`    // an event's, or "change"
	Subject string    `json:"subject"` // the run, the baseline, the metric
	Detail  string    `json:"detail,omitempty"`
	Change  *change   `json:"change,omitempty"`
}

type ackList struct {
	Store string        `json:"store"`
	Acks  []history.Ack `json:"acks"`
}

type removed struct {
	Store   string `json:"store"`
	Removed string `json:"removed"` // the run, the number of the acknowledgement, the baseline
}

type exported struct {
	To       string   `json:"to"`
	File     string   `json:"file,omitempty"`
	Content  string   `json:"content,omitempty"` // where it was not written to a file
	Runs     int      `json:"runs"`
	Values   int      `json:"values,omitempty"` // rows of a CSV, without its header
	Warnings []string `json:"warnings"`
}

type baselineSet struct {
	Store    string           `json:"store"`
	Baseline history.Baseline `json:"baseline"`
	Added    []addition       `json:"added"` // runs that were given as directories
}

type baselineList struct {
	Store     string             `json:"store"`
	Baselines []history.Baseline `json:"baselines"`
}

type baselineShown struct {
	Store    string           `json:"store"`
	Baseline history.Baseline `json:"baseline"`
	Runs     []baselineRun    `json:"runs"` // oldest first
	Noise    *compare.Floor   `json:"noise,omitempty"`
	Cut      *history.Ack     `json:"cut,omitempty"` // the newest known change of everything, if runs were before it
}

type baselineRun struct {
	history.Entry
	Used bool `json:"used"` // false: it was before Cut, and is not compared with
}
