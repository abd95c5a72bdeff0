package rundir

import (
	"errors"
	"os"
	"strings"
	"testing"
)

// Samples that were cut off or changed after the run ended are told from those that were measured, and a run that goes on has no seal.
func TestSeal(t *testing.T) {
	d := create(t)
	path := d.File(SamplesFile)
	write := func(s string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(s), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(d.Seal(), d.Sealed()); err != nil || d.Run().Samples != nil {
		t.Errorf("without samples: %v", err)
	}
	write("one\ntwo\n")
	if err := errors.Join(d.Seal(), d.Sealed()); err != nil || d.Run().Samples.Bytes != 8 {
		t.Errorf("whole: %v, %+v", err, d.Run().Samples)
	}
	for text, want := range map[string]string{"one\n": "it has 4 bytes of 8", "one\ntwa\n": "it was changed", "one\ntwo\nthree\n": "it was changed"} {
		write(text)
		if err := d.Sealed(); !errors.Is(err, ErrChanged) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if err := os.Remove(path); err != nil || d.Sealed() != nil {
		t.Errorf("samples that were removed to save space: %v", d.Sealed())
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Resume(d.Path())
	if err != nil || again.Run().Samples != nil {
		t.Errorf("resumed: %v, %+v", err, again.Run().Samples)
	}
	again.Close()
}
