package dataset

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// slot makes a slot of n samples.
func slot(id, n int) []Sample {
	out := make([]Sample, n)
	for i := range out {
		out[i] = Sample{
			Exp: "pingpong", Point: Point{"bytes": int64(1 << i)}, Ranks: []int{0, 1}, Round: id / 10, Slot: id,
			NS: []int64{int64(id), int64(i)},
		}
	}
	return out
}

// written writes slots of 1, 2, 3, … samples and returns the path and the file's length after the header and each slot.
func written(t testing.TB, dir string, slots int) (path string, ends []int64) {
	t.Helper()
	path = filepath.Join(dir, "samples.jsonl")
	w, err := Create(path, testHeader())
	if err != nil {
		t.Fatal(err)
	}
	for id := 0; ; id++ {
		st, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		ends = append(ends, st.Size())
		if id == slots {
			break
		}
		if err := w.Append(slot(id, id+1)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path, ends
}

// TestResumeAnywhere cuts a file at every byte. Whatever is left, Resume keeps the whole slots before the cut, and what
// is appended then reads as if nothing had happened.
func TestResumeAnywhere(t *testing.T) {
	path, ends := written(t, t.TempDir(), 3)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for cut := range len(text) + 1 {
		write(t, path, string(text[:cut]))
		w, d, err := Resume(path)
		if int64(cut) < ends[0] {
			if !errors.Is(err, ErrNoHeader) {
				t.Fatalf("cut at %d, in the header: %v", cut, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		whole := 0
		for whole+1 < len(ends) && ends[whole+1] <= int64(cut) {
			whole++
		}
		if want := whole * (whole + 1) / 2; len(d.Samples) != want {
			t.Fatalf("cut at %d: %d samples left, want %d of %d slots", cut, len(d.Samples), want, whole)
		}
		for id := whole; id < 3; id++ {
			if err := w.Append(slot(id, id+1)); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if again, err := os.ReadFile(path); err != nil || string(again) != string(text) {
			t.Fatalf("cut at %d: the finished file differs: %s", cut, cmp.Diff(string(text), string(again)))
		}
	}
}

// TestResumeForeign: a file may have been written by another program, with other spacing and order of keys.
func TestResumeForeign(t *testing.T) {
	line := func(part, parts int) string {
		return fmt.Sprintf(`{ "slot": 4, "part": %d, "parts": %d, "ns": [1,  2], "exp": "x", "more": 1 }`+"\n", part, parts)
	}
	for _, c := range []struct {
		name, keep, drop string
		samples          int
	}{
		{"whole", line(0, 2) + line(1, 2), "", 2},
		{"half a slot", "", line(0, 2), 0},
		{"half a slot after one", line(0, 1), line(0, 3) + line(1, 3), 1},
		{"the same slot again, cut off", line(0, 2) + line(1, 2), line(0, 2), 2},
		{"the same slot again, whole", line(0, 2) + line(1, 2) + line(0, 2) + line(1, 2), "", 4},
		{"torn in the second line of a slot", line(0, 1), line(0, 2) + line(1, 2)[:9], 1},
		{"no parts", strings.ReplaceAll(line(0, 0), `"part": 0, "parts": 0, `, ""), "", 1},
		{"a part too few before", "", line(5, 7), 0},
	} {
		path := filepath.Join(t.TempDir(), "samples.jsonl")
		write(t, path, goldenHeader+c.keep+c.drop)
		w, d, err := Resume(path)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if err != nil || string(text) != goldenHeader+c.keep || len(d.Samples) != c.samples {
			t.Errorf("%s: %d samples, %v: %s", c.name, len(d.Samples), err, cmp.Diff(goldenHeader+c.keep, string(text)))
		}
	}
}

func TestResumeFaults(t *testing.T) {
	path := filepath.Join(t.TempDir(), "samples.jsonl")
	if _, _, err := Resume(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
	bad := goldenHeader + `{"exp":"x","ranks":[9]}` + "\n"
	write(t, path, bad)
	if _, _, err := Resume(path); err == nil || !strings.Contains(err.Error(), path+": line 2: rank 9") {
		t.Errorf("bad sample: %v", err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != bad {
		t.Errorf("a file that cannot be read was changed: %q, %v", text, err)
	}
}

func TestCreateRefuses(t *testing.T) {
	path, ends := written(t, t.TempDir(), 1)
	if _, err := Create(path, testHeader()); !errors.Is(err, os.ErrExist) {
		t.Errorf("got %v, want a refusal to overwrite", err)
	}
	if st, err := os.Stat(path); err != nil || st.Size() != ends[1] {
		t.Errorf("the file was touched: %v", err)
	}
	if _, err := Create(filepath.Join(t.TempDir(), "no", "samples.jsonl"), Header{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no such folder: %v", err)
	}
}

// TestAppendRefuses: a sample that Read would refuse must not get into the file.
func TestAppendRefuses(t *testing.T) {
	path, ends := written(t, t.TempDir(), 1)
	w, _, err := Resume(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Sample){
		"a rank the header has not": func(s *Sample) { s.Ranks = []int{0, 2} },
		"no experiment":             func(s *Sample) { s.Exp = "" },
		"a negative round":          func(s *Sample) { s.Round = -1 },
		"a NaN":                     func(s *Sample) { s.Aux = map[string]float64{"x": math.NaN()} },
		"a line too long":           func(s *Sample) { s.Phase = strings.Repeat("x", maxLine) },
	} {
		bad := slot(7, 2)
		change(&bad[1])
		if err := w.Append(bad); err == nil || !strings.Contains(err.Error(), "append slot 7, part 1: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := w.Append(nil); err != nil {
		t.Errorf("an empty slot: %v", err)
	}
	if st, err := os.Stat(path); err != nil || st.Size() != ends[1] {
		t.Errorf("%d bytes, want %d: something was written", st.Size(), ends[1])
	}
	if err := errors.Join(w.Append(slot(1, 2)), w.Close()); err != nil {
		t.Errorf("a good slot after the bad ones: %v", err)
	}
}

// A link in place of the file is not followed: another file would be cut off.
func TestResumeFollowsNoLink(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "precious"), filepath.Join(dir, "samples.jsonl")
	text := goldenHeader + "torn"
	if err := errors.Join(os.WriteFile(target, []byte(text), 0o600), os.Symlink(target, link)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Resume(link); err == nil || !strings.Contains(err.Error(),
		"is a symbolic link: put the file itself there") {
		t.Errorf("resumed through a link: %v", err)
	}
	if got, err := os.ReadFile(target); err != nil || string(got) != text {
		t.Errorf("the target now holds %q, %v", got, err)
	}
}
