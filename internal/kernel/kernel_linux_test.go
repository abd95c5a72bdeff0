package kernel

import (
	"net/netip"
	"runtime"
	"runtime/debug"
	"testing"

	"golang.org/x/sys/unix"

	"calib/internal/units"
)

func TestPin(t *testing.T) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		runtime.LockOSThread() // the thread ends with the goroutine
		testPin(t)
	}()
	<-ended
}

func testPin(t *testing.T) {
	var before, during unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		t.Error(err)
		return
	}
	cpu := 0
	for !before.IsSet(cpu) {
		cpu++
	}
	if err := Pin(cpu); err != nil {
		t.Error(err)
	}
	slack, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0)
	if err != nil || slack != 1 {
		t.Errorf("timer slack %d ns (%v), want 1", slack, err)
	}
	if err := unix.SchedGetaffinity(0, &during); err != nil || during.Count() != 1 || !during.IsSet(cpu) {
		t.Errorf("pinned to CPU %d, but may use %d CPUs (%v)", cpu, during.Count(), err)
	}
	if on := CPU(); on != cpu {
		t.Errorf("the thread is on CPU %d, pinned to %d", on, cpu)
	}
	if err := Pin(1023); err == nil {
		t.Error("pinned to CPU 1023")
	}
}

func TestQuietRestores(t *testing.T) {
	percent := debug.SetGCPercent(77)
	defer debug.SetGCPercent(percent)
	limit := debug.SetMemoryLimit(-1)
	restore := Quiet(64 * units.MiB)
	if now := debug.SetGCPercent(-1); now != -1 {
		t.Errorf("collector at %d%% during the slot", now)
	}
	if now := debug.SetMemoryLimit(-1); now >= limit {
		t.Error("no memory limit while the collector is off")
	}
	restore()
	if now := debug.SetGCPercent(77); now != 77 {
		t.Errorf("collector at %d%% afterwards, want 77%%", now)
	}
	if now := debug.SetMemoryLimit(-1); now != limit {
		t.Errorf("memory limit %d afterwards, want %d", now, limit)
	}
}

func TestClock(t *testing.T) {
	var ts unix.Timespec
	before := Now()
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		t.Fatal(err)
	}
	// The two readings differ by the offset's error, two clock readings at most, beside their order.
	if k, after := units.Nanos(ts.Nano()), Now(); k < before-units.Millisecond || k > after+units.Millisecond {
		t.Errorf("the kernel's clock says %d between our %d and %d", k, before, after)
	}
	for _, spin := range []units.Nanos{0, DefaultSpin, units.Second} {
		until := Now() + 200*units.Microsecond
		if err := WaitUntil(until, spin); err != nil {
			t.Fatal(err)
		}
		if now := Now(); now < until {
			t.Errorf("spin %v: returned %v early", spin, until-now)
		}
	}
	if err := WaitUntil(0, 0); err != nil {
		t.Errorf("a time long past: %v", err)
	}
}

func TestParseSteal(t *testing.T) {
	for text, want := range map[string]int64{
		"cpu  10 2 3 4 5 6 7 88 9 0\ncpu0 1 2 3 4 5 6 7 8 9 0\n": 88,
		"cpu  10 2 3 4 5 6 7\n":                                  0,
		"intr 1 2 3 4 5 6 7 8 9 10":                              0,
		"cpu 1 2 3 4 5 6 7 many 9":                               0,
		"":                                                       0,
		"cpu0 1 2 3 4 5 6 7 8 9 10 11 12 13":                     0,
	} {
		if got := parseSteal([]byte(text)); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

func TestSockaddrKeepsZones(t *testing.T) {
	for text, want := range map[string]string{
		"[fe80::1%12]:7":       "[fe80::1%12]:7",
		"[::ffff:10.0.0.1]:80": "10.0.0.1:80",
		"10.0.0.1:80":          "10.0.0.1:80",
		"[2001:db8::5]:80":     "[2001:db8::5]:80",
	} {
		if got := AddrPort(sockaddr6(netip.MustParseAddrPort(text))).String(); got != want {
			t.Errorf("%s became %s, want %s", text, got, want)
		}
	}
}
