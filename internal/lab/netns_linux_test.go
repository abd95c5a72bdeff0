package lab

import (
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"calib/internal/netspec"
)

// The first thread of a process never ends, so whatever it entered it would stay in.
func TestOnThreadLeavesTheFirst(t *testing.T) {
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 500 {
				_ = onThread(func() error {
					if unix.Gettid() == unix.Getpid() {
						t.Error("on the first thread")
					}
					return nil
				})
			}
		})
	}
	wg.Wait()
}

// A queue of the network, or of the one that it stands for, is no loss.
func TestLeastRTO(t *testing.T) {
	spec := func(hosts int, perByte, slowdown float64) *netspec.Spec {
		return &netspec.Spec{Hosts: hosts, MSS: 1448, Mode: netspec.Switched, Host: netspec.Block{B: perByte},
			Slowdown: slowdown}
	}
	slowHost := spec(8, 8e-9, 0)
	slowHost.Overrides = map[int]netspec.Block{3: {B: 1e-6}}
	for _, c := range []struct {
		what string
		spec *netspec.Spec
		want time.Duration // 0 is the kernel's
	}{
		{"a host whose 7 messages take 459 ms", slowHost, 458752 * time.Microsecond},
		{"Gigabit", spec(64, 8e-9, 0), 0},
		{"as it is", spec(64, 8e-9, 1), 0},
		{"twice as slow", spec(4, 8e-9, 2), 400 * time.Millisecond},
		{"20 times as slow", spec(4, 8e-9, 20), time.Second},
		{"3 messages in 197 ms", spec(4, 1e-6, 0), 0},
		{"7 messages in 459 ms", spec(8, 1e-6, 0), 458752 * time.Microsecond},
		{"256 kbit/s", spec(2, 31.25e-6, 0), time.Second},
	} {
		if got := tcpOf(c.spec, "reno").minRTO; got != c.want {
			t.Errorf("%s: %v, want %v", c.what, got, c.want)
		}
	}
}
