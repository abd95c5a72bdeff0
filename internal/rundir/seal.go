package rundir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"calib/internal/dataset"
	"calib/internal/files"
)

// ErrChanged reports samples that are not those that were measured.
var ErrChanged = errors.New("not what was measured")

// Content is what a file held when it was finished.
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
