package lab

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

func testState(dir string) *State {
	return &State{
		Name: "x", Spec: *testSpec(), Created: time.Unix(1e9, 0).UTC(), Launch: launchRoot,
		HostsPath: filepath.Join(dir, "x.hosts"), StatsPath: filepath.Join(dir, "x.sock"),
		LogPath: filepath.Join(dir, "x.log"),
	}
}

func TestStateRoundTrip(t *testing.T) {
	dir := t.TempDir()
	want := testState(dir)
	if err := want.save(dir); err != nil {
		t.Fatal(err)
	}
	got, err := load(dir, "x")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if names := got.Hosts(); len(names) != 4 || names[3] != "x-h3" {
		t.Errorf("hosts %v", names)
	}
	if got := launchOn(got, "x-h1", "true"); cmp.Diff([]string{"ip", "netns", "exec", "x-h1", "true"}, got) != "" {
		t.Errorf("launch %v", got)
	}
}

func TestLoadErrors(t *testing.T) {
	dir := t.TempDir()
	if _, err := Load(dir, "none"); !errors.Is(err, ErrNoLab) {
		t.Errorf("no lab: %v", err)
	}
	if err := Down(dir, "none"); !errors.Is(err, ErrNoLab) {
		t.Errorf("down of no lab: %v", err)
	}
	if _, err := Load(dir, "../etc/passwd"); !errors.Is(err, ErrUse) {
		t.Errorf("bad name: %v", err)
	}
	for _, text := range []string{"", "{", `{"name":"y"}`, `{"name":"torn","spec":{"hosts":-1}}`} {
		if err := os.WriteFile(filepath.Join(dir, "torn.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(dir, "torn"); err == nil || errors.Is(err, ErrNoLab) {
			t.Errorf("state %q: %v", text, err)
		}
	}
	labs, err := List(dir)
	if err != nil || len(labs) != 1 || labs[0].Name != "torn" || labs[0].Problem == "" {
		t.Errorf("list: %+v, %v", labs, err)
	}
	if labs, err := List(filepath.Join(dir, "nowhere")); err != nil || len(labs) != 0 {
		t.Errorf("list of nothing: %+v, %v", labs, err)
	}
}

// A process that has the number of the wire but is not the wire must survive Down.
func TestReusedNumber(t *testing.T) {
	dir := t.TempDir()
	self, err := processOf(os.Getpid())
	if err != nil || !self.alive() {
		t.Fatalf("this process: %+v, %v", self, err)
	}
	s := testState(dir)
	s.Wire = Process{PID: self.PID, Start: self.Start + 1}
	if err := s.save(dir); err != nil {
		t.Fatal(err)
	}
	st, err := Load(dir, "x")
	if err != nil || st.Up || st.Problem == "" {
		t.Errorf("found %+v, %v: want a dead wire", st, err)
	}
	if err := Down(dir, "x"); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory stays: %v", err)
	}
}

func TestEndStubborn(t *testing.T) {
	cmd := exec.Command("sh", "-c", `trap "" TERM; echo ready; while :; do read x || :; sleep 60 & wait; done`)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.SysProcAttr = &unix.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Kill(-cmd.Process.Pid, unix.SIGKILL) }()
	if _, err := out.Read(make([]byte, 6)); err != nil {
		t.Fatal(err)
	}
	p, err := processOf(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.end(time.Millisecond, 0); err != nil {
		t.Error(err)
	}
	if p.alive() {
		t.Error("alive after end") // it is a zombie now: its parent, this test, has not waited yet
	}
	_ = cmd.Wait()
	if err := p.end(time.Millisecond, 0); err != nil {
		t.Errorf("ending what has ended: %v", err)
	}
	if err := (Process{}).end(0, 0); err != nil {
		t.Errorf("ending nothing: %v", err)
	}
}

func TestLock(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d")
	unlock, err := lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	unlock()
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("unlocked, the empty directory is there: %v", err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := lock(dir); !errors.Is(err, ErrPermission) {
		t.Errorf("a directory anyone can write: %v", err)
	}
	link := filepath.Join(t.TempDir(), "l")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	if _, err := lock(link); !errors.Is(err, ErrPermission) {
		t.Errorf("a link: %v", err)
	}
}

func TestAdapt(t *testing.T) {
	w := wire{spin: minSpin}
	for range 1000 {
		w.adapt(80_000)
	}
	if w.spin < 80_000 || w.spin > 80_000+spinStep {
		t.Errorf("margin %d ns where every sleep is 80 µs late", w.spin)
	}
	for range 1000 {
		w.adapt(maxSpin * 2)
	}
	if w.spin != maxSpin {
		t.Errorf("margin %d ns where sleep is hopeless, want the bound", w.spin)
	}
	for range 100_000 {
		w.adapt(1000)
	}
	if w.spin != minSpin {
		t.Errorf("margin %d ns where sleep is good, want the least", w.spin)
	}
}

func TestSentAt(t *testing.T) {
	w := wire{}
	w.stats.PreciseSend = true
	const now = 3 << 32 * 1000 // the stamp has just wrapped for the third time
	stampOf := func(ns int64) uint32 { return uint32(ns / 1000) }
	for _, c := range []struct {
		name string
		p    packet
		want int64
	}{
		{"no stamp", packet{}, now},
		{"sent 30 µs before it was read, across the wrap", packet{stamped: true, stamp: stampOf(now - 30_000)}, now - 30_000},
		{"a stamp of something else", packet{stamped: true, stamp: stampOf(now - 2_000_000_000)}, now},
		{"a stamp of the future", packet{stamped: true, stamp: stampOf(now + 1_000_000_000)}, now},
	} {
		if got := w.sentAt(now, c.p); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

// launchOn returns the command that runs args on a host.
func launchOn(s *State, host string, args ...string) []string {
	return append(strings.Fields(strings.ReplaceAll(s.Launch, "{host}", host)), args...)
}
