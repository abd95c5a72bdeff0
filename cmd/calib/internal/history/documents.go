package history

import (
	"time"

	"calib/cmd/calib/internal/command"
	"calib/fit"
	"calib/internal/history"
	"calib/reports/compare"
)

// What --json prints as the data of calib history and calib baseline. Values are in SI units, times in UTC.

// Documents are the schemas of them.
func Documents() map[string]command.Document {
	return map[string]command.Document{
		"data-baseline-list": command.DataOf[baselineList]("baseline list"), "data-baseline-remove": command.DataOf[historyRemoved]("baseline remove"),
		"data-baseline-set": command.DataOf[baselineSet]("baseline set"), "data-baseline-show": command.DataOf[baselineShown]("baseline show"),
		"data-history-ack": command.DataOf[historyAcks]("history ack"), "data-history-add": command.DataOf[historyAdditions]("history add"),
		"data-history-export": command.DataOf[historyExported]("history export"), "data-history-list": command.DataOf[historyRuns]("history list"),
		"data-history-log": command.DataOf[historyLog]("history log"), "data-history-metrics": command.DataOf[historyMetrics]("history metrics"),
		"data-history-plot": command.DataOf[historyPlot]("history plot"), "data-history-remove": command.DataOf[historyRemoved]("history remove"),
		"data-history-show": command.DataOf[historyRun]("history show"), "data-history-unack": command.DataOf[historyRemoved]("history unack"),
	}
}

// historyAdditions is of history add.
type historyAdditions struct {
	Store string         `json:"store"`
	Runs  []historyAdded `json:"runs"`
}

// historyAdded is one run that was to be added.
type historyAdded struct {
	ID      string    `json:"id"`
	Started time.Time `json:"started"`
	Path    string    `json:"path"`
	Added   bool      `json:"added"` // false: it was there already
}

// historyRuns is of history list: the runs, oldest first.
type historyRuns struct {
	Store string       `json:"store"`
	Runs  []historyRun `json:"runs"`
	More  bool         `json:"more"` // older ones were left out by --last
}

// historyRun is a stored run. It is the data of history show, whose params are the run's.
type historyRun struct {
	history.Entry
	Baselines []string `json:"baselines"` // that it is in, by name
}

// historyMetrics is of history metrics: what can be followed, of the whole network before that of links.
type historyMetrics struct {
	Store   string             `json:"store"`
	Metrics []history.Followed `json:"metrics"`
}

// historyPlot is of history plot.
type historyPlot struct {
	Format   string          `json:"format"`
	Files    []string        `json:"files"`
	Runs     int             `json:"runs"`     // that were looked at
	Searched int             `json:"searched"` // metrics, each link's counted
	Drawn    int             `json:"drawn"`
	LinkRuns int             `json:"link_runs"` // newest runs in which links were searched
	Changes  []historyChange `json:"changes"`   // newest first
}

// Verdicts of a historyChange.
const (
	changeBetter  = "better"
	changeWorse   = "worse"
	changeNeither = "" // nothing is better of this metric
)

// historyChange is a change of level that was found.
type historyChange struct {
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
}

// historyLog is of history log, in the order of time.
type historyLog struct {
	Store string           `json:"store"`
	Lines []historyLogLine `json:"lines"`
}

// historyLogLine is something that was done to the history or, with Change, a change of level that was found now.
type historyLogLine struct {
	At      time.Time      `json:"at"`
	Kind    string         `json:"kind"`    // an event's, or "change"
	Subject string         `json:"subject"` // the run, the baseline, the metric
	Detail  string         `json:"detail,omitempty"`
	Change  *historyChange `json:"change,omitempty"`
}

// kindChange is the kind of a line of the log that tells of a change found.
const kindChange = "change"

// historyAcks is of history ack: the one that was made or, with --list, all.
type historyAcks struct {
	Store string        `json:"store"`
	Acks  []history.Ack `json:"acks"`
}

// historyRemoved is of history remove, history unack and baseline remove.
type historyRemoved struct {
	Store   string `json:"store"`
	Removed string `json:"removed"` // the run, the number of the acknowledgement, the baseline
}

// historyExported is of history export.
type historyExported struct {
	To       string   `json:"to"`
	File     string   `json:"file,omitempty"`
	Content  string   `json:"content,omitempty"` // where it was not written to a file
	Runs     int      `json:"runs"`
	Values   int      `json:"values,omitempty"` // rows of a CSV, without its header
	Warnings []string `json:"warnings"`
}

// baselineSet is of baseline set.
type baselineSet struct {
	Store    string           `json:"store"`
	Baseline history.Baseline `json:"baseline"`
	Added    []historyAdded   `json:"added"` // runs that were given as directories
}

// baselineList is of baseline list, by name.
type baselineList struct {
	Store     string             `json:"store"`
	Baselines []history.Baseline `json:"baselines"`
}

// baselineShown is of baseline show.
type baselineShown struct {
	Store    string           `json:"store"`
	Baseline history.Baseline `json:"baseline"`
	Runs     []baselineRun    `json:"runs"` // oldest first
	Noise    *compare.Floor   `json:"noise,omitempty"`
	Cut      *history.Ack     `json:"cut,omitempty"` // the newest known change of everything, if runs were before it
}

// baselineRun is a run of a baseline.
type baselineRun struct {
	history.Entry
	Used bool `json:"used"` // false: it was before Cut, and is not compared with
}

// verdictOf says whether a change of level is for the better.
func verdictOf(better string, before, after float64) string {
	switch {
	case better == fit.BetterNeither || before == after:
		return changeNeither
	case (after < before) == (better == fit.BetterLower):
		return changeBetter
	}
	return changeWorse
}
