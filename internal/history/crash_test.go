package history

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// Environment of the test binary when it is the process that is killed, or one of many.
const (
	childStore = "CALIB_TEST_STORE"
	childFirst = "CALIB_TEST_FIRST"
	childRuns  = "CALIB_TEST_RUNS"
)

// TestMain is also the process that adds runs until it is killed: it prints the ID of each that is committed.
func TestMain(m *testing.M) {
	if path := os.Getenv(childStore); path != "" {
		if err := addForever(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func addForever(path string) error {
	first, err := strconv.Atoi(os.Getenv(childFirst))
	if err != nil {
		return err
	}
	runs, err := strconv.Atoi(os.Getenv(childRuns))
	if err != nil {
		return err
	}
	s, err := Open(context.Background(), path, true)
	if err != nil {
		return err
	}
	for i := first; i < first+runs; i++ {
		if _, err := s.Add(context.Background(), testRecord(i, 1)); err != nil {
			return err
		}
		fmt.Printf("run-%05d\n", i)
	}
	return s.Close()
}

func child(t *testing.T, path string, first, runs int) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(exe)
	c.Env = append(os.Environ(), childStore+"="+path, childFirst+"="+strconv.Itoa(first), childRuns+"="+strconv.Itoa(runs))
	return c
}

// A writer that is killed in the middle of adding leaves a store that opens, is whole, and has every run it had
// committed.
func TestKilledWriterLosesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	var committed []string
	for round := range 6 {
		c := child(t, path, round*1000, 1000)
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for n := 0; lines.Scan(); n++ {
			committed = append(committed, lines.Text())
			if n == 3+5*round { // it is at its next run by now: anywhere in it
				if err := c.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := c.Wait(); err == nil {
			t.Fatal("it ended by itself")
		}
		check(t, path, committed)
	}
	if len(committed) < 6*4 {
		t.Errorf("only %d runs were committed", len(committed))
	}
}

func check(t *testing.T, path string, committed []string) {
	t.Helper()
	s, err := Open(t.Context(), path, true)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var verdict string
	if err := s.db.QueryRow("PRAGMA integrity_check").Scan(&verdict); err != nil || verdict != "ok" {
		t.Fatalf("integrity: %s %v", verdict, err)
	}
	for _, id := range committed {
		if _, _, err := s.Read(t.Context(), id); err != nil {
			t.Fatalf("a committed run is lost: %v", err)
		}
		if n := len(numbersOf(t, s, id)); n != 2+2*3 {
			t.Errorf("run %s has %d numbers", id, n)
		}
	}
}

// Processes that make one store and add to it at the same time all succeed.
func TestManyWriters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	const writers, runs = 4, 8
	errs := make([]error, writers)
	var wg sync.WaitGroup
	for i := range writers {
		c := child(t, path, i*runs, runs)
		var said bytes.Buffer
		c.Stderr = &said
		wg.Go(func() {
			if err := c.Run(); err != nil {
				errs[i] = fmt.Errorf("%w: %s", err, strings.TrimSpace(said.String()))
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	var all []string
	for i := range writers * runs {
		all = append(all, fmt.Sprintf("run-%05d", i))
	}
	check(t, path, all)
}

// A damaged store is said to be one, and is not changed.
func TestDamagedStore(t *testing.T) {
	s := filled(t, 30)
	if _, err := s.db.Exec("PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(s.Path)
	if err != nil {
		t.Fatal(err)
	}
	for i := 4096; i < len(text); i++ {
		text[i] ^= 0x5a
	}
	path := filepath.Join(t.TempDir(), "bad.db")
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
	if bad, err := Open(t.Context(), path, true); err == nil {
		_, err = bad.List(t.Context(), Filter{})
		if !errors.Is(err, ErrDamaged) {
			t.Errorf("list: %v", err)
		}
		bad.Close()
	} else if !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrNotStore) {
		t.Errorf("open: %v", err)
	}
}
