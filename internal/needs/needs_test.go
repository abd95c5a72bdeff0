package needs

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// verdict is a test that keeps what it was told.
type verdict struct{ skipped, failed string }

func (v *verdict) Skip(args ...any)  { v.skipped = fmt.Sprint(args...); runtime.Goexit() }
func (v *verdict) Fatal(args ...any) { v.failed = fmt.Sprint(args...); runtime.Goexit() }

// judge runs a test to its end.
func judge(test func(T)) verdict {
	var v verdict
	done := make(chan struct{})
	go func() {
		defer close(done)
		test(&v)
	}()
	<-done
	return v
}

func TestMissing(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	record := filepath.Join(t.TempDir(), "skipped")
	t.Setenv("CALIB_SKIPPED", record)
	test := func(t T) { Program(t, "chromium") }
	if _, err := find("chromium"); err == nil {
		t.Fatal("chromium is found outside PATH")
	}
	const reason = "chromium is not installed: apt-get install chromium"
	t.Setenv("CI", "")
	if v := judge(test); v.skipped != reason || v.failed != "" {
		t.Errorf("%+v, want it skipped: %s", v, reason)
	}
	if text, err := os.ReadFile(record); err != nil || !strings.HasPrefix(string(text), "SKIPPED ") ||
		!strings.HasSuffix(string(text), reason+"\n") {
		t.Errorf("recorded %q, %v", text, err)
	}
	t.Setenv("CI", "true")
	if v := judge(test); v.skipped != "" || !strings.HasPrefix(v.failed, reason) {
		t.Errorf("%+v, want it failed: %s", v, reason)
	}
	if v := judge(func(t T) { Namespaces(t) }); v.skipped != "" ||
		!strings.Contains(v.failed, "is not installed: apt-get install ") {
		t.Errorf("without any program: %+v", v)
	}
}

func TestProgram(t *testing.T) {
	dir := t.TempDir()
	want := filepath.Join(dir, "chromium")
	if err := os.WriteFile(want, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	if got := Program(t, "chromium"); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if v := judge(func(t T) { Program(t, "nosuch") }); !strings.Contains(v.failed, "no row for nosuch") {
		t.Errorf("%+v", v)
	}
}

// TestTools: every row of the table is whole, and scripts/setup can read it.
func TestTools(t *testing.T) {
	row := regexp.MustCompile(`^(#.*|[a-z0-9-]+ +[a-z0-9,-]+ +\S.*)\n$`)
	for line := range strings.Lines(tools) {
		if !row.MatchString(line) {
			t.Errorf("row %q", line)
		}
	}
}

// TestOneWayToSkip: no other test decides for itself what may be missing. rapid's Skip draws another case, and is no
// test's.
func TestOneWayToSkip(t *testing.T) {
	root := filepath.Join("..", "..")
	skip := regexp.MustCompile(`\b[tb]\.(Skip|Skipf|SkipNow)\(|\[!?exec:|^\[.*\] *(stop|skip)|^(stop|skip)\b`)
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		if !strings.HasSuffix(rel, "_test.go") && !strings.HasSuffix(rel, ".txtar") ||
			filepath.Dir(rel) == filepath.Join("internal", "needs") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		drawn := strings.Contains(string(text), "t *rapid.T")
		for i, line := range strings.Split(string(text), "\n") {
			if skip.MatchString(line) && !drawn {
				t.Errorf("%s:%d: %s: ask internal/needs", rel, i+1, strings.TrimSpace(line))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
