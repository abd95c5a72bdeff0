package history

import (
	"bytes"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"calib/params"
)

// FuzzAdd: whatever the words and numbers of a run, it is refused or comes back.
func FuzzAdd(f *testing.F) {
	f.Add("id", "label", "a_c", "n1", "n2", 1.5)
	f.Add("'; DROP TABLE runs; --", "x", "g_s.c0", "→", "", math.Inf(1))
	s := hastyStore(f)
	f.Fuzz(func(t *testing.T, id, label, metric, from, to string, v float64) {
		p := testParams(id, 0, 0, 1)
		p.Parameters[metric] = params.Parameter{Value: &v, Unit: "s", Status: params.StatusOK}
		p.Pairs = []params.Pair{{From: from, To: to, Latency: &v}}
		r := Record{Entry: Entry{Started: start, Label: label}, Params: p}
		added, err := s.Add(t.Context(), r)
		if err != nil {
			if !errors.Is(err, ErrInvalid) {
				t.Fatal(err)
			}
			return
		}
		all, err := s.List(t.Context(), Filter{})
		if !added || err != nil || len(all) != 1 || all[0].Label != label {
			t.Fatalf("%v %+v %v", added, all, err)
		}
		if utf8.ValidString(id) && all[0].ID != id { // JSON holds nothing else
			t.Fatalf("run %q is stored as %q", id, all[0].ID)
		}
		e, err := s.Find(t.Context(), all[0].ID)
		if err != nil || e.ID != all[0].ID {
			t.Fatal(e, err)
		}
		numbersOf(t, s, e.ID)
		if err := s.Remove(t.Context(), e.ID); err != nil { // the next run finds the store empty
			t.Fatal(err)
		}
	})
}

// hastyStore is a store that waits for no disk, so that a fuzz target runs thousands of times a second.
func hastyStore(t testing.TB) *Store {
	t.Helper()
	s := testStore(t)
	s.db.SetMaxOpenConns(1) // synchronous is a setting of one connection
	if _, err := s.db.ExecContext(t.Context(), "PRAGMA synchronous = OFF"); err != nil {
		t.Fatal(err)
	}
	return s
}

// FuzzOpen: whatever a history file holds, it is read or refused with an error that names it.
func FuzzOpen(f *testing.F) {
	s := filled(f, 3)
	if _, err := s.db.ExecContext(f.Context(), "PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		f.Fatal(err)
	}
	whole, err := os.ReadFile(s.Path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(uint32(0), []byte{})
	f.Add(uint32(0), []byte("not a database"))
	f.Add(uint32(16), []byte{0xff, 0xff})
	f.Add(uint32(68), []byte{0, 0, 0, 1})
	f.Add(uint32(len(whole)/2), bytes.Repeat([]byte{0}, 600))
	path := filepath.Join(f.TempDir(), "history.db")
	// A database of random bytes is refused at once: what is changed is a part of a whole one.
	f.Fuzz(func(t *testing.T, at uint32, change []byte) {
		file := bytes.Clone(whole)
		copy(file[int(at)%len(file):], change)
		for _, name := range []string{path, path + "-wal", path + "-shm"} {
			if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Open(t.Context(), path, false)
		if err != nil {
			if !strings.Contains(err.Error(), path) {
				t.Errorf("an error that does not name the file: %v", err)
			}
			return
		}
		defer s.Close()
		entries, err := s.List(t.Context(), Filter{})
		if err != nil {
			return
		}
		for _, e := range entries {
			p, _, err := s.Read(t.Context(), e.ID)
			if err == nil && p == nil {
				t.Errorf("run %q: neither parameters nor an error", e.ID)
			}
		}
		followed, err := s.Followed(t.Context())
		if err != nil {
			return
		}
		for _, f := range followed {
			if _, err := s.Series(t.Context(), Filter{}, f); err != nil && !strings.Contains(err.Error(), path) {
				t.Errorf("an error that does not name the file: %v", err)
			}
		}
	})
}
