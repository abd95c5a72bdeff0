package rundir

import (
	"errors"
	"os"
	"strings"
	"testing"
)

// Samples that were cut off or changed after the run ended are told from those that were measured. A run that goes on
// appends.
func TestSeal(t *testing.T) {
	d := create(t)
	if err := d.Update(func(r *Run) { r.Status = StatusComplete }); err != nil {
		t.Fatal(err)
	}
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
	for text, want := range map[string]string{"one\n": "it has 4 bytes of 8", "one\ntwa\n": "it was changed",
		"one\ntwo\nthree\n": "it was changed"} {
		write(text)
		if err := d.Sealed(); !errors.Is(err, ErrChanged) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if err := os.Remove(path); err != nil || d.Sealed() != nil {
		t.Errorf("samples that were removed to save space: %v", d.Sealed())
	}
	if err := errors.Join(d.Update(func(r *Run) { r.Status = StatusInterrupted }), d.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := Resume(d.Path()); !errors.Is(err, ErrChanged) {
		t.Errorf("resumed without its samples: %v", err)
	}
	write("one\ntwo\n")
	again, err := Resume(d.Path())
	if err != nil || again.Run().Samples == nil {
		t.Fatalf("resumed: %v", err)
	}
	defer again.Close()
	if err := again.GoOn(); err != nil {
		t.Fatal(err)
	}
	write("one\ntwo\nthree\n")
	if err := again.Sealed(); err != nil {
		t.Errorf("a resumed run appends: %v", err)
	}
	write("one\ntwa\nthree\n")
	if err := again.Sealed(); !errors.Is(err, ErrChanged) {
		t.Errorf("what was there before was changed: %v", err)
	}
}
