package rundir

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"calib/internal/dataset"
	"calib/internal/files"
	"calib/params"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

var started = time.Date(2026, 3, 1, 10, 15, 0, 0, time.UTC)

func sample() Run {
	return Run{
		ID: DefaultName(started), Plan: "quick", Seed: 42, Version: "v0.1.0", Build: "5f2c",
		Args: []string{"run", "--local", "2"},
		Hosts: []dataset.Host{
			{Name: "h1", Addr: "10.0.0.1:0", Version: "v0.1.0", Env: map[string]string{"kernel": "6.12.9"}}, {Name: "h2"}},
		Detail: json.RawMessage(`{"rounds": 3}`), Slots: Slots{Planned: 12}, Started: started,
	}
}

func create(t *testing.T) *Dir {
	t.Helper()
	d, err := Create(filepath.Join(t.TempDir(), "runs", "one"), sample())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return strings.Join(out, " ")
}

func finish(t *testing.T, d *Dir) {
	t.Helper()
	slot := 7
	err := d.Update(func(r *Run) {
		r.Slots.Done, r.Slots.Failed = 11, 1
		r.Failures = []dataset.Failure{{Slot: &slot, Host: "h2", Error: "no answer within 5 s"}}
		r.End(StatusPartial, 4, started.Add(time.Minute))
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestRunGolden(t *testing.T) {
	d := create(t)
	finish(t, d)
	got, err := os.ReadFile(d.File(RunFile))
	if err != nil {
		t.Fatal(err)
	}
	got = regexp.MustCompile(`pid \d+ on [^"]+`).ReplaceAll(got, []byte("pid 1 on here"))
	const path = "testdata/run.json"
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("run.json (run with -update if it is meant):\n%s", diff)
	}
}

func TestRunMatchesSchema(t *testing.T) {
	s, err := JSONSchema()
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	d := create(t)
	for _, step := range []func(){func() {}, func() { finish(t, d) }} {
		step()
		b, err := os.ReadFile(d.File(RunFile))
		if err != nil {
			t.Fatal(err)
		}
		var v map[string]any
		if err := json.Unmarshal(b, &v); err != nil {
			t.Fatal(err)
		}
		if err := r.Validate(v); err != nil {
			t.Errorf("%v\n%s", err, b)
		}
		v["status"] = "fine"
		if r.Validate(v) == nil {
			t.Error("a status that does not exist is accepted")
		}
	}
}

func TestLife(t *testing.T) {
	d := create(t)
	if got := names(t, d.Path()); got != ".lock run.json" {
		t.Errorf("a new run holds %s", got)
	}
	if d.Run().Status != StatusRunning {
		t.Errorf("status %s", d.Run().Status)
	}
	finish(t, d)
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(d.Close(), files.Replace(d.File(ReportFile), []byte("text"))); err != nil {
		t.Errorf("after closing: %v", err)
	}
	if got := names(t, d.Path()); got != "report.txt run.json" {
		t.Errorf("a finished run holds %s", got)
	}
	read, err := Open(d.File(ReportFile))
	if err != nil {
		t.Fatal(err)
	}
	if r := read.Run(); r.Status != StatusPartial || *r.ExitCode != 4 || len(r.Failures) != 1 ||
		!r.Started.Equal(started) {
		t.Errorf("read back %+v", r)
	}
	if read.Update(func(*Run) {}) == nil {
		t.Error("a run opened for reading was changed")
	}
	edited, err := Edit(d.Path())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Resume(d.Path()); !errors.Is(err, ErrLocked) {
		t.Errorf("resume while run.json is changed: %v", err)
	}
	if err := errors.Join(edited.Update(func(r *Run) { r.Detail = json.RawMessage(`{"rounds":4}`) }), edited.Close()); err != nil {
		t.Fatal(err)
	}
	if read, err = Open(d.Path()); err != nil || string(read.Run().Detail) == string(d.Run().Detail) ||
		read.Run().Status != StatusPartial {
		t.Errorf("changed to %+v, %v", read.Run(), err)
	}
	if err := os.WriteFile(d.File(SamplesFile), []byte("header\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	again, err := Resume(d.Path())
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if r := again.Run(); r.Status != StatusPartial {
		t.Errorf("not yet resumed %+v", r)
	}
	if err := again.GoOn(); err != nil {
		t.Fatal(err)
	}
	if r := again.Run(); r.Status != StatusRunning || r.ExitCode != nil || r.Ended != nil || r.Slots.Done != 11 {
		t.Errorf("resumed %+v", r)
	}
}

// A run that never began leaves nothing of its own, and nothing else is taken away.
func TestDiscard(t *testing.T) {
	d := create(t)
	_, closeLog, err := d.OpenLog()
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(closeLog(), d.Discard()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(d.Path()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a directory that Create made is left: %v", err)
	}
	kept := t.TempDir()
	if d, err = Create(kept, Run{ID: "x"}); err == nil {
		err = errors.Join(os.WriteFile(d.File("notes.txt"), nil, 0o600), d.Discard())
	}
	if got := names(t, kept); err != nil || got != "notes.txt" {
		t.Errorf("left %q, %v", got, err)
	}
}

func TestLocked(t *testing.T) {
	d := create(t)
	pid := fmt.Sprintf("in use by pid %d on ", os.Getpid())
	if _, err := Resume(d.Path()); !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), pid) {
		t.Errorf("resume of a locked run: %v, want %q", err, pid)
	}
	if _, err := Create(d.Path(), sample()); !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), pid) {
		t.Errorf("second create: %v, want %q", err, pid)
	}
	if _, err := Open(d.Path()); err != nil {
		t.Errorf("reading a running run: %v", err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	// A coordinator that was killed leaves the file, but not the lock.
	if err := os.WriteFile(d.File(lockFile), []byte("pid 1 on gone\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	again, err := Resume(d.Path())
	if err != nil {
		t.Fatalf("stale lock file: %v", err)
	}
	again.Close()
}

// However many coordinators start at once on one directory, one gets it.
func TestLockRace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run")
	race(t, 16, func() (*Dir, error) { return Create(path, sample()) }).Close()
}

// race has so many coordinators begin a run at once, and returns the directory of the one that has it.
func race(t *testing.T, n int, begin func() (*Dir, error)) *Dir {
	t.Helper()
	var wg sync.WaitGroup
	won := make(chan *Dir, n)
	for range n {
		wg.Go(func() {
			d, err := begin()
			switch {
			case err == nil:
				won <- d
			case !errors.Is(err, ErrLocked) && !errors.Is(err, ErrExists):
				t.Errorf("loser: %v", err)
			}
		})
	}
	wg.Wait()
	close(won)
	if len(won) != 1 {
		t.Fatalf("%d coordinators hold the run", len(won))
	}
	return <-won
}

// Of those who at once make a run that was cut off anew one does, and nobody removes what it has begun.
func TestClearedAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run")
	d, err := Create(path, sample())
	if err == nil {
		err = errors.Join(os.WriteFile(d.File(SamplesFile), nil, 0o600), d.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	held := race(t, 8, func() (*Dir, error) {
		if err := Clear(path); err != nil {
			return nil, err
		}
		return Create(path, sample())
	})
	if got := names(t, path); got != lockFile+" "+RunFile {
		t.Fatalf("the run has %q", got)
	}
	held.Close()
	other := filepath.Join(t.TempDir(), "link")
	if err := errors.Join(os.Symlink(path, other), Clear(path+"-none")); err != nil {
		t.Error(err)
	}
	if err := Clear(other); err == nil || names(t, path) != RunFile {
		t.Errorf("cleared what a link names: %v", err)
	}
}

func TestCreateErrors(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	old := create(t)
	old.Close()
	for _, c := range []struct {
		name, path, want string
		is               error
	}{
		{"file in place", file, "a file is in the way, choose another --out", nil},
		{"file above", filepath.Join(file, "x"), "a file is in the way, choose another --out", nil},
		{"not writable", "/proc/calib-run", "choose another --out", nil},
		{"not empty", dir, "exists and is not empty (there is file in it); choose another --out", ErrExists},
		{"a run", old.Path(), "holds a run already: exists and is not empty; --resume continues it", ErrExists},
	} {
		_, err := Create(c.path, sample())
		if err == nil || !strings.Contains(err.Error(), c.want) || c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%s: %v, want it to say %q", c.name, err, c.want)
		}
		if err != nil && strings.Count(err.Error(), c.path) != 1 {
			t.Errorf("%s: names the path %d times: %v", c.name, strings.Count(err.Error(), c.path), err)
		}
	}
	if got := names(t, dir); got != "file" {
		t.Errorf("a directory that was refused now holds %s", got)
	}
	if hint := createError("d", &fs.PathError{Op: "mkdir", Path: "d", Err: fs.ErrPermission}).Error(); hint !=
		"run directory d: permission denied; it is not writable for this user, choose another --out" {
		t.Errorf("permission: %s", hint)
	}
}

func TestFindAndOpenErrors(t *testing.T) {
	empty := t.TempDir()
	bad := t.TempDir()
	for _, c := range []struct{ name, content, want string }{
		{"torn", "{", "run.json: unexpected end of JSON input"},
		{"no object", "[]", "run.json: an array where an object belongs"},
		{"other schema", `{"schema":"calib.run/9"}`, `run.json has schema "calib.run/9", this build reads "calib.run/1"`},
	} {
		if err := os.WriteFile(filepath.Join(bad, RunFile), []byte(c.content), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(bad); !errors.Is(err, ErrNotRun) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
		if _, err := Resume(bad); !errors.Is(err, ErrNotRun) {
			t.Errorf("%s: resume: %v", c.name, err)
		}
		if got := names(t, bad); got != RunFile {
			t.Errorf("%s: a refused directory holds %s", c.name, got)
		}
	}
	if _, err := Find(empty); !errors.Is(err, ErrNotRun) || !strings.Contains(err.Error(), "no run.json in it") {
		t.Errorf("empty directory: %v", err)
	}
	if _, err := Find(filepath.Join(empty, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
}

func TestFind(t *testing.T) {
	d := create(t)
	if err := files.Replace(d.File(ReportFile), nil); err != nil {
		t.Fatal(err)
	}
	for _, arg := range []string{d.Path(), d.Path() + "/", d.File(ReportFile), d.File(RunFile)} {
		got, err := Find(arg)
		if err != nil || filepath.Clean(got) != d.Path() {
			t.Errorf("Find(%s) = %s, %v", arg, got, err)
		}
	}
}

func TestParams(t *testing.T) {
	d := create(t)
	if _, err := d.ReadParams(); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "calib fit "+d.Path()) {
		t.Errorf("no params yet: %v", err)
	}
	want := &params.Params{
		Schema: params.Schema, Run: params.Run{ID: "r", Hosts: []string{"h1", "h2"}, Versions: []string{"v0.1.0"}},
		Environment: params.Environment{Common: map[string]string{},
			Differences: map[string]map[string]string{"kernel": {"h1": "6.12.9"}}},
		Parameters: map[string]params.Parameter{}, Functions: map[string]params.Function{}, Fits: []*params.Fit{},
		Validation: []params.Validation{}, Pairs: []params.Pair{},
	}
	if err := d.WriteParams(want); err != nil {
		t.Fatal(err)
	}
	got, err := d.ReadParams()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if err := os.WriteFile(d.File(ParamsFile), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := d.ReadParams(); !errors.Is(err, params.ErrParams) || !strings.Contains(err.Error(), d.File(ParamsFile)) {
		t.Errorf("broken params: %v", err)
	}
}

func TestLog(t *testing.T) {
	d := create(t)
	for _, msg := range []string{"first", "second"} {
		l, closeLog, err := d.OpenLog()
		if err != nil {
			t.Fatal(err)
		}
		l.Debug(msg, "slot", 3)
		if err := closeLog(); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(d.File(LogFile))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	if len(lines) != 2 {
		t.Fatalf("%d lines: %s", len(lines), b)
	}
	var e struct {
		Msg  string
		Slot int
	}
	if err := json.Unmarshal([]byte(lines[1]), &e); err != nil || e.Msg != "second" || e.Slot != 3 {
		t.Errorf("%+v %v", e, err)
	}
}

func TestDefaultName(t *testing.T) {
	if got := DefaultName(started); got != "calib-run-20260301-101500" {
		t.Error(got)
	}
}

// Two fits of one run take turns to write: neither puts its points.json beside the other's params.json.
func TestWriteParamsTakesTurns(t *testing.T) {
	d := create(t)
	dir, err := os.Open(d.Path())
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	if err := unix.Flock(int(dir.Fd()), unix.LOCK_EX); err != nil { // as the other fit does
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- d.WriteParams(&params.Params{Schema: params.Schema}) }()
	for waits := false; !waits; runtime.Gosched() {
		select {
		case err := <-done:
			t.Fatalf("written in the turn of another process: %v", err)
		default:
			stacks := make([]byte, 1<<20)
			stacks = stacks[:runtime.Stack(stacks, true)]
			waits = slices.ContainsFunc(strings.Split(string(stacks), "\n\n"), func(goroutine string) bool {
				return strings.Contains(goroutine, "(*Dir).WriteParams(") && strings.Contains(goroutine, "syscall.Flock(")
			})
		}
	}
	if _, err := os.Stat(d.File(PointsFile)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s was written in the turn of another process: %v", PointsFile, err)
	}
	if err := unix.Flock(int(dir.Fd()), unix.LOCK_UN); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if _, err := d.ReadParams(); err != nil {
		t.Error(err)
	}
}
