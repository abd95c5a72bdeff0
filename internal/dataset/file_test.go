package dataset

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// many writes a samples.jsonl of several experiments, the phases of one interleaved, in more lines than a block has.
func many(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "samples.jsonl")
	w, err := Create(path, testHeader())
	if err != nil {
		t.Fatal(err)
	}
	for slot := range block {
		team := []int{slot % 2, 1 - slot%2}
		flags := map[int][]string{3: {FlagRetrans}, 5: {FlagTimeout}}[slot]
		err := w.Append([]Sample{
			{Exp: "a", Phase: "x", Ranks: team, Round: slot % 3, Slot: slot, NS: []int64{int64(slot), 2}, Flags: flags},
			{Exp: "a", Phase: "y", Ranks: team[:1], Round: slot % 3, Slot: slot, Aux: map[string]float64{"dir": 1},
				NS: []int64{int64(slot)}},
			{Exp: "b", Ranks: team, Round: slot % 3, Slot: slot, NS: []int64{}},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// What is read from the disk when it is asked for is what is held in memory.
func TestFile(t *testing.T) {
	path := many(t)
	whole, err := ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := index(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(whole.Head(), f.Head()); d != "" {
		t.Errorf("header (-memory +disk):\n%s", d)
	}
	if d := cmp.Diff(whole.Survey(), f.Survey()); d != "" {
		t.Errorf("survey (-memory +disk):\n%s", d)
	}
	for _, of := range [][2]string{{"a", ""}, {"a", "x"}, {"a", "y"}, {"b", ""}, {"a", "z"}, {"c", ""}} {
		if d := cmp.Diff(whole.Select(of[0], of[1]), f.Select(of[0], of[1])); d != "" {
			t.Errorf("%q (-memory +disk):\n%s", of, d)
		}
	}
	if err := f.Err(); err != nil {
		t.Error(err)
	}
	if got := len(f.Select("a", "x")); got != block {
		t.Errorf("%d samples, want %d", got, block)
	}
}

// A small file is held in memory.
func TestOpen(t *testing.T) {
	path := many(t)
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, memory := s.(*Dataset); !memory {
		t.Errorf("a small file is a %T", s)
	}
	if _, err := Open(path + "x"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
}

func TestIndexErrors(t *testing.T) {
	path := many(t)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, string(text)+"{")
	if f, err := index(path); err != nil || f.Survey().Lines != 3*block {
		t.Errorf("torn: %v", err)
	}
	write(t, path, string(text)+"{}\n")
	if _, err := index(path); err == nil {
		t.Error("a line that is no sample was taken")
	}
}

// A file that changes behind our back gives fewer samples, and says so.
func TestFileChanged(t *testing.T) {
	path := many(t)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"shorter": string(text[:len(text)/2]),
		"other samples": string(text[:len(text)/2]) + string(text), "no samples": "\n" + string(text[:len(text)-1])} {
		write(t, path, string(text))
		f, err := index(path)
		if err != nil {
			t.Fatal(err)
		}
		write(t, path, to)
		for _, phase := range []string{"", "x", "y"} {
			f.err = nil
			got := f.Select("a", phase)
			if !errors.Is(f.Err(), errChanged) || strings.Contains(f.Err().Error(), "line ") || len(got) >= 2*block {
				t.Errorf("%s, phase %q: %d samples, %v", name, phase, len(got), f.Err())
			}
		}
	}
	write(t, path, string(text))
	f, err := index(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if got := f.Select("b", ""); got != nil || !errors.Is(f.Err(), os.ErrNotExist) {
		t.Errorf("removed: %d samples, %v", len(got), f.Err())
	}
}

// A survey counts rounds, slots, hosts, pairs and teams by experiment, and what batches that were spoilt hold.
func TestSurvey(t *testing.T) {
	d := &Dataset{Samples: []Sample{
		{Exp: "a", Ranks: []int{1, 0}, Round: 0, Slot: 1, NS: []int64{1, 2}},
		{Exp: "a", Ranks: []int{0, 1}, Round: 1, Slot: 2, NS: []int64{1}, Flags: []string{FlagTimeout}},
		{Exp: "b", Ranks: []int{2, 0, 1}, Round: 1, Slot: 2},
		{Exp: "b", Ranks: []int{1, 0, 2}, Round: 1, Slot: 3},
	}}
	want := &Survey{Rounds: map[int]bool{0: true, 1: true}, Slots: map[int]bool{1: true, 2: true, 3: true}, Lines: 4,
		Timings: 3, Spoilt: 1,
		Experiments: map[string]*Seen{
			"a": {map[int]bool{0: true, 1: true}, map[int]bool{0: true, 1: true}, map[[2]int]bool{{0, 1}: true},
				map[string]bool{}},
			"b": {map[int]bool{1: true}, map[int]bool{0: true, 1: true, 2: true}, map[[2]int]bool{},
				map[string]bool{"[0 1 2]": true}},
		}}
	if diff := cmp.Diff(want, d.Survey()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
