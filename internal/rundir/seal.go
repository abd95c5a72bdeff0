package rundir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"calib/internal/files"
)

// ErrChanged reports samples that are not those that were measured.
var ErrChanged = errors.New("not what was measured")

// Content is what a file held when it was finished.
type Content struct {
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"` // hexadecimal
}

// Seal keeps in run.json what samples.jsonl holds. A run that goes on has no seal until it ends again.
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

// Sealed returns an error of class ErrChanged where samples.jsonl was cut off or changed after the run ended. Runs of before there were seals
// have none.
func (d *Dir) Sealed() error {
	want := d.Run().Samples
	info, err := os.Stat(d.File(SamplesFile))
	if want == nil || err == nil && !info.Mode().IsRegular() { // a pipe can be read only once
		return nil
	}
	sum, size, err := files.SHA256(d.File(SamplesFile))
	switch {
	case errors.Is(err, fs.ErrNotExist): // parameters and reports do without
		return nil
	case err != nil:
		return fmt.Errorf("run %s: %w", d.path, err)
	case size < want.Bytes:
		return fmt.Errorf("run %s: %s is %w: it has %d bytes of %d", d.path, SamplesFile, ErrChanged, size, want.Bytes)
	case size != want.Bytes || sum != want.SHA256:
		return fmt.Errorf("run %s: %s is %w: it was changed after the run ended", d.path, SamplesFile, ErrChanged)
	}
	return nil
}
