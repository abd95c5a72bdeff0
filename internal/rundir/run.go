package rundir

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"calib/internal/dataset"
	"calib/internal/files"
)

// Schema names the version of run.json. A reader refuses any other.
const Schema = "calib.run/1"

// Status of a run.
const (
	StatusRunning     = "running"     // under way, or its coordinator died: --resume continues it
	StatusComplete    = "complete"    // all of it was measured
	StatusPartial     = "partial"     // some hosts or slots failed
	StatusInterrupted = "interrupted" // stopped by the user
	StatusFailed      = "failed"      // ended before there was anything to keep
)

// Run is a whole run.json.
type Run struct {
	Schema string `json:"schema"`
	ID     string `json:"id"`
	Plan   string `json:"plan"` // its name
	Seed   uint64 `json:"seed"`
	// Version and Build identify the coordinator's binary; those of the agents are in Hosts.
	Version string   `json:"version"`
	Build   string   `json:"build"`
	Args    []string `json:"args,omitempty"` // command line, without the program
	// Hosts holds what each agent said of itself, with its environment fingerprint, in rank order.
	Hosts []dataset.Host `json:"hosts"`
	// Detail is the plan in full, as its package writes it: what --resume needs to go on with the same schedule. Its
	// member fit is how the run is fitted.
	Detail json.RawMessage `json:"detail,omitempty"`
	// Slots count the schedule: planned, measured, given up.
	Slots    Slots             `json:"slots"`
	Stops    []dataset.Stop    `json:"stops,omitempty"`
	Failures []dataset.Failure `json:"failures,omitempty"`
	Warnings []string          `json:"warnings,omitempty"`
	// Samples is what samples.jsonl held when the run ended. While it is resumed: what it began with then.
	Samples *Content `json:"samples,omitempty"`

	Status   string     `json:"status"`
	ExitCode *int       `json:"exit_code,omitempty"` // absent while running
	Started  time.Time  `json:"started"`
	Ended    *time.Time `json:"ended,omitempty"`
	// Coordinator is the process that wrote this file last.
	Coordinator string `json:"coordinator,omitempty"`
}

// Slots count a schedule.
type Slots struct {
	Planned int `json:"planned"`
	Done    int `json:"done"`
	Failed  int `json:"failed"`
}

// Missing is the share of the planned slots that were not measured; 0 where it is not known how many were planned.
func (s Slots) Missing() float64 {
	if s.Planned <= 0 {
		return 0
	}
	return max(0, 1-float64(s.Done)/float64(s.Planned))
}

// End sets how the run ended. code is the exit code of the command.
func (r *Run) End(status string, code int, at time.Time) {
	at = at.UTC()
	r.Status, r.ExitCode, r.Ended = status, &code, &at
}

// decodeRun reads the run.json of the directory dir.
func decodeRun(dir string, b []byte) (Run, error) {
	var r Run
	if err := files.JSON(b, &r); err != nil {
		return r, fmt.Errorf("run %s: %w: %s: %w", dir, ErrNotRun, RunFile, err)
	}
	if r.Schema != Schema {
		return r, fmt.Errorf("run %s: %w: %s has schema %q, this build reads %q", dir, ErrNotRun, RunFile, r.Schema, Schema)
	}
	return r, nil
}

// ErrNotRun reports a path that is not a run directory.
var ErrNotRun = errors.New("not a calib run directory")

// JSONSchema returns the JSON Schema (2020-12) of run.json.
func JSONSchema() (*jsonschema.Schema, error) {
	s, err := jsonschema.For[Run](&jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[json.RawMessage](): {Description: "the plan in full, and how the run is fitted (member fit)"},
		reflect.TypeFor[time.Time]():       {Type: "string", Format: "date-time"},
	}})
	if err != nil {
		return nil, fmt.Errorf("schema of run: %w", err)
	}
	s.Schema = "https://json-schema.org/draft/2020-12/schema"
	s.ID = "https://calib.invalid/schema/run-1.json"
	s.Title = "calib run"
	s.Description = "run.json: what a run was, on which hosts, and how far it came."
	s.Properties["schema"].Const = jsonschema.Ptr[any](Schema)
	s.Properties["status"].Enum = []any{StatusRunning, StatusComplete, StatusPartial, StatusInterrupted, StatusFailed}
	s.Properties["stops"].Items.Properties["reason"].Enum = []any{dataset.StopTargets, dataset.StopBudget, dataset.StopRounds, dataset.StopOpen}
	return s, nil
}
