package rundir

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"calib/internal/dataset"
	"calib/internal/files"
	"calib/params"
)

// Schema names the version of run.json. A reader refuses any other.
const Schema = "calib.run/1"

const (
	StatusRunning     = "running"     // under way, or its coordinator died: --resume continues it
	StatusComplete    = "complete"    // all of it was measured
	StatusPartial     = "partial"     // some hosts or slots failed
	StatusInterrupted = "interrupted" // stopped by the user
	StatusFailed      = "failed"      // ended before there was anything to keep
)

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
	Failures []dataset.Failure `json:"failures,omitempty"`
	Warnings []string          `json:"warnings,omitempty"`
	// Samples is what samples.jsonl held when the run ended. While it is resumed: what it began with then.
	Samples *Content `json:"samples,omitempty"`

	Status   string     `json:"status"`
	ExitCode *int       `json:"exit_code,omitempty"` // absent while running
	Started  time.Time  `json:"started"`
	Ended    *time.Time `json:"ended,omitempty"`
	Resumed  bool       `json:"resumed,omitempty"` // it was stopped, and went on later
	// Coordinator is the process that wrote this file last.
	Coordinator string `json:"coordinator,omitempty"`
}

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

// Took is how long the run lasted; 0 where it is not known: while it is running, and where it was resumed.
func (r Run) Took() time.Duration {
	if r.Ended == nil || r.Resumed {
		return 0
	}
	return r.Ended.Sub(r.Started)
}

// End sets how the run ended. code is the exit code of the command.
func (r *Run) End(status string, code int, at time.Time) {
	r.Status, r.ExitCode, r.Ended = status, &code, new(at.UTC())
}

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

var ErrNotRun = errors.New("not a calib run directory")

func JSONSchema() (*jsonschema.Schema, error) {
	s, err := params.SchemaOf[Run]("run", Schema, "run.json: what a run was, on which hosts, and how far it came.",
		map[reflect.Type]*jsonschema.Schema{
			reflect.TypeFor[json.RawMessage](): {Description: "the plan in full, and how the run is fitted (member fit)"},
			reflect.TypeFor[time.Time]():       {Type: "string", Format: "date-time"},
		})
	if err != nil {
		return nil, err
	}
	s.Properties["status"].Enum = []any{StatusRunning, StatusComplete, StatusPartial, StatusInterrupted, StatusFailed}
	return s, nil
}

// ErrChanged reports samples that are not those that were measured.
var ErrChanged = errors.New("not what was measured")

type Content struct {
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"` // hexadecimal
}

// Seal keeps in run.json what samples.jsonl holds.
func (d *Dir) Seal() error {
	sum, size, err := files.SHA256(d.File(SamplesFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("run %s: %w", d.path, err)
	}
	return d.Update(func(r *Run) { r.Samples = &Content{Bytes: size, SHA256: sum} })
}

// Sealed returns an error of class ErrChanged where samples.jsonl was cut off or changed after it was sealed. A run
// that goes on appends to what was sealed. Runs of before there were seals have none.
func (d *Dir) Sealed() error {
	want := d.Run().Samples
	info, err := os.Stat(d.File(SamplesFile))
	switch {
	case want == nil, errors.Is(err, fs.ErrNotExist), // parameters and reports do without
		err == nil && !info.Mode().IsRegular(): // a pipe can be read only once
		return nil
	case err != nil:
		return fmt.Errorf("run %s: %w", d.path, err)
	}
	sum, size, err := files.SHA256First(d.File(SamplesFile), want.Bytes)
	switch longer := info.Size() > want.Bytes && d.Run().Status != StatusRunning; {
	case err != nil:
		return fmt.Errorf("run %s: %w", d.path, err)
	case size < want.Bytes:
		return fmt.Errorf("run %s: %s is %w: it has %d bytes of %d", d.path, SamplesFile, ErrChanged, size, want.Bytes)
	case longer || sum != want.SHA256:
		return fmt.Errorf("run %s: %s is %w: it was changed after the run ended", d.path, SamplesFile, ErrChanged)
	}
	return nil
}

// resumable returns an error of class ErrChanged where samples.jsonl no longer holds what was measured: to go on would
// take other samples for those of this run, or measure it anew over its own parameters.
func (d *Dir) resumable() error {
	begun, err := dataset.Begun(d.File(SamplesFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("run %s: %w", d.path, err)
	}
	if err = d.Sealed(); err == nil && !begun && (d.Run().Samples != nil || d.Run().Slots.Done > 0) {
		err = fmt.Errorf("run %s: %s is %w: it is missing or empty", d.path, SamplesFile, ErrChanged)
	}
	if errors.Is(err, ErrChanged) {
		return fmt.Errorf("%w; put back the file that was measured, or start a new run with --out", err)
	}
	return err
}
