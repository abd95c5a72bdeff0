package history

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// A full disk: what was being added is refused, what was there stays, and with room the next run is added.
func TestFullDisk(t *testing.T) {
	ctx, s := t.Context(), filled(t, 2)
	s.db.SetMaxOpenConns(1) // the limit is a connection's own
	var pages int
	if err := s.db.QueryRowContext(ctx, "PRAGMA page_count").Scan(&pages); err != nil {
		t.Fatal(err)
	}
	limit := func(pages int) {
		if _, err := s.db.ExecContext(ctx, fmt.Sprintf("PRAGMA max_page_count = %d", pages)); err != nil {
			t.Fatal(err)
		}
	}
	limit(pages + 2)
	have, err := 2, error(nil)
	for ; err == nil && have < 200; have++ {
		_, err = s.Add(ctx, testRecord(have, 1))
	}
	have-- // the last one failed
	if !errors.Is(err, ErrFull) {
		t.Fatalf("%d runs, then: %v", have, err)
	}
	if all, err := s.List(ctx, Filter{}); err != nil || len(all) != have {
		t.Errorf("%d runs, want %d: %v", len(all), have, err)
	}
	limit(1 << 20)
	if added, err := s.Add(ctx, testRecord(have, 1)); !added || err != nil {
		t.Errorf("with room again: %v %v", added, err)
	}
}

// Stores that are made at the same time are one.
func TestStoreIsMadeOnce(t *testing.T) { openTogether(t, filepath.Join(t.TempDir(), "new.db"), 6) }

// openTogether opens path n times at once, and adds a run by each.
func openTogether(t *testing.T, path string, n int) {
	t.Helper()
	errs, want := make([]error, n), make([]string, n)
	var wg sync.WaitGroup
	for i := range n {
		want[i] = fmt.Sprintf("run-%05d", i)
		wg.Go(func() {
			s, err := Open(context.Background(), path, true)
			if err == nil {
				_, err = s.Add(context.Background(), testRecord(i, 1))
				err = errors.Join(err, s.Close())
			}
			errs[i] = err
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	check(t, path, want)
}

// The database of another program is refused, and no byte of it or beside it is changed.
func TestForeignDatabaseIsNotTouched(t *testing.T) {
	ctx, path := t.Context(), filepath.Join(t.TempDir(), "other.db")
	s, err := connect(path, "mode=rwc")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.db.ExecContext(ctx, "CREATE TABLE t (a)"); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(ctx, path, true); !errors.Is(err, ErrNotStore) {
		t.Errorf("open: %v", err)
	}
	after, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("it was changed: %v", err)
	}
	if all, err := os.ReadDir(filepath.Dir(path)); err != nil || len(all) != 1 {
		t.Errorf("beside it: %v %v", all, err)
	}
}

// A name that means something in a URI is a name like any other.
func TestOddPaths(t *testing.T) {
	for _, name := range []string{"a b.db", "q?mode=ro.db", "h#x.db", "p%41.db", "ü→.db", "-x.db", "a;b&c=d.db", "'.db"} {
		path := filepath.Join(t.TempDir(), name)
		s, err := Open(t.Context(), path, true)
		if err == nil {
			_, err = s.Add(t.Context(), testRecord(1, 1))
			err = errors.Join(err, s.Close())
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if all, err := os.ReadDir(filepath.Dir(path)); err != nil || len(all) != 1 || all[0].Name() != name {
			t.Errorf("%s: %v %v", name, all, err)
		}
	}
}

// A cancelled add says so, whatever it was at, and stores nothing.
func TestCancelledAdd(t *testing.T) {
	ctx, s := t.Context(), filled(t, 1)
	cancelled, cancel := context.WithCancel(ctx)
	err := s.change(cancelled, "add", func(tx *transaction) error {
		r, text, err := complete(Record{Entry: Entry{ID: "late", Started: start}, Params: testParams("late", 3, 2, 1)})
		if err != nil {
			return err
		}
		if _, err := s.add(tx, r, text); err != nil {
			return err
		}
		cancel()
		return errors.New("sql: statement is closed") // what the library says of a statement that the rollback closed
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if _, err := s.Find(ctx, "late"); !errors.Is(err, ErrNotFound) {
		t.Errorf("it is there: %v", err)
	}
}
