package machine

import (
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"calib/internal/kernel"
	"calib/internal/needs"
	"calib/internal/plane"
	"calib/internal/units"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t *testing.T) *Machine {
	t.Helper()
	m, err := New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

func TestCompute(t *testing.T) {
	m := open(t)
	if n := m.CPUs(); n < 1 || n > runtime.NumCPU() || n > runtime.GOMAXPROCS(0) {
		t.Errorf("%d CPUs of %d", n, runtime.NumCPU())
	}
	for range 2 {
		if took, err := m.Compute(100_000); err != nil || took <= 0 {
			t.Errorf("%v, %v", took, err)
		}
		m.Close() // and again
	}
}

func TestMachineAllocatesNothing(t *testing.T) {
	needs.Allocations(t)
	m := open(t)
	m.caches = []units.Bytes{1 << 20}
	for name, call := range map[string]func() error{
		"compute": func() error { _, err := m.Compute(1000); return err },
		"copy":    func() error { _, err := m.Copy(plane.Copy{Bytes: 1000, ColdTo: true}, 10); return err },
	} {
		if err := call(); err != nil {
			t.Fatal(name, err)
		}
		if n := testing.AllocsPerRun(100, func() {
			if err := call(); err != nil {
				t.Error(name, err)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations a call, want none", name, n)
		}
	}
}

// A processor that the process may not use is an error, and leaves no thread behind.
func TestComputeOnNoCPU(t *testing.T) {
	m := newMachine([]int{0}, fstest.MapFS{})
	defer m.Close()
	m.cpus = []int{0, 1023}
	if _, err := m.Compute(1); err == nil || !strings.Contains(err.Error(), "CPU 1023") {
		t.Errorf("%v", err)
	}
}

func TestCopy(t *testing.T) {
	m := open(t)
	m.caches = []units.Bytes{32 << 10, 1 << 20} // 16 MiB to go through
	for _, c := range []plane.Copy{
		{Bytes: 1}, {Bytes: 4096}, {Bytes: 65536, Loop: true}, {Bytes: 100},
		{Bytes: 64, ColdTo: true}, {Bytes: 4096, ColdTo: true, Loop: true}, {Bytes: 3000, ColdFrom: true},
		{Bytes: 65536, ColdFrom: true, ColdTo: true}, {Bytes: 64, ColdFrom: true, ColdTo: true, Loop: true},
	} {
		for range 2 {
			if took, err := m.Copy(c, 300); err != nil || took <= 0 {
				t.Errorf("%+v: %v, %v", c, took, err)
			}
		}
	}
	m.Close()
	if m.hot != nil || m.cold != nil {
		t.Error("memory is kept after Close")
	}
}

func TestCopyRefuses(t *testing.T) {
	m := open(t)
	m.caches = []units.Bytes{1 << 20}
	for _, c := range []struct {
		copy plane.Copy
		n    int
		want string
	}{
		{plane.Copy{Bytes: 0}, 1, "want at least one"},
		{plane.Copy{Bytes: 64}, 0, "want at least one"},
		{plane.Copy{Bytes: 1 << 40}, 1, "want at least one"},
		{plane.Copy{Bytes: 8 << 20, ColdTo: true}, 1, "allow at most"},
	} {
		if _, err := m.Copy(c.copy, c.n); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v, %d times: %v", c.copy, c.n, err)
		}
	}
}

func TestColdBytes(t *testing.T) {
	for _, c := range []struct {
		caches []units.Bytes
		least  int
		most   int
	}{
		{nil, leastCold, mostCold},
		{[]units.Bytes{1 << 20}, leastCold, leastCold},
		{[]units.Bytes{48 << 10, 480 << 20}, leastCold, mostCold},
	} {
		m := &Machine{caches: c.caches}
		if n := int(m.Cold()); n < c.least || n > c.most || n%(2*window) != 0 {
			t.Errorf("%v: %d bytes", c.caches, n)
		}
	}
}

// Work on every CPU may be asked for by a thread that is pinned to one, as an agent's is.
func TestComputeFromAPinnedThread(t *testing.T) {
	m, err := New()
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // the thread ends with the goroutine
		err := kernel.Pin(m.cpus[0])
		if err == nil {
			_, err = m.Compute(1000)
		}
		done <- err
	}()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
