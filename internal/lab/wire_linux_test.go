package lab

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// startWire runs a wire over socket pairs in the place of devices, and returns the hosts' ends.
func startWire(t *testing.T, w func([]tun) (*wire, error)) (*wire, []int) {
	t.Helper()
	tuns, ends := make([]tun, 4), make([]int, 4)
	for i := range tuns {
		pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := unix.SetNonblock(pair[0], true); err != nil {
			t.Fatal(err)
		}
		// A host that waits in vain fails the test rather than hangs it.
		if err := unix.SetsockoptTimeval(pair[1], unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 10}); err != nil {
			t.Fatal(err)
		}
		tuns[i], ends[i] = tun{fd: pair[0]}, pair[1]
	}
	wire, err := w(tuns)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- wire.run() }()
	t.Cleanup(func() {
		wire.halt()
		if err := <-done; err != nil {
			t.Error(err)
		}
		for _, fd := range append(ends, wire.wakeup, wire.epoll) {
			unix.Close(fd)
		}
		for _, d := range tuns {
			unix.Close(d.fd)
		}
	})
	return wire, ends
}

func TestWire(t *testing.T) {
	w, host := startWire(t, func(tuns []tun) (*wire, error) { return newWire("w", testSpec(switched), tuns) })
	to := func(i int) []byte { return Addr(i).AsSlice() }
	for _, p := range [][]byte{
		ip4(to(1), 17, 0, udp(500)...),
		ip4([]byte{224, 0, 0, 22}, 2, 0, 1, 2, 3), // a stray
		ip4(to(9), 17, 0, udp(5)...),              // no such host
		ip4(to(1), 6, 0, tcp(0x11, nil, 0)...),    // FIN: behind the datagram
		ip4(to(1), 17, 0, udp(20)...),
	} {
		if _, err := unix.Write(host[0], p); err != nil {
			t.Fatal(err)
		}
	}
	b := make([]byte, 2000)
	for i, want := range []int{20 + 8 + 500, 20 + 20, 20 + 8 + 20} {
		n, err := unix.Read(host[1], b)
		if err != nil || n != want {
			t.Fatalf("packet %d has %d B, want %d (%v)", i, n, want, err)
		}
	}
	s := w.currentStats()
	a, z := s.Hosts[0], s.Hosts[1]
	if a.SentPackets != 3 || a.SentFree != 1 || a.SentBytes != 520 || z.RecvPackets != 3 || z.RecvBytes != 520 ||
		s.Strays != 2 || s.Lateness.Count != 2 || s.Lab != "w" || z.PortQueueMax == 0 || a.Host != "w-h0" {
		t.Errorf("counters: %+v", s)
	}
}

func TestWireWithoutMemory(t *testing.T) {
	const buffers = 64
	w, host := startWire(t, func(tuns []tun) (*wire, error) {
		w, err := newWire("w", testSpec(), tuns)
		if err == nil {
			w.pool.spare = w.pool.spare[:buffers]
		}
		return w, err
	})
	for range buffers + 10 {
		if _, err := unix.Write(host[0], ip4(Addr(1).AsSlice(), 17, 0, udp(1)...)); err != nil {
			t.Fatal(err)
		}
	}
	b := make([]byte, 2000)
	var s Stats
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); {
		if s = w.currentStats(); s.Overruns+s.Hosts[1].RecvPackets == buffers+10 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	for range s.Hosts[1].RecvPackets {
		if _, err := unix.Read(host[1], b); err != nil {
			t.Fatal(err)
		}
	}
	if s.Overruns+s.Hosts[1].RecvPackets != buffers+10 {
		t.Errorf("%d dropped and %d delivered, %d sent", s.Overruns, s.Hosts[1].RecvPackets, buffers+10)
	}
	if s.Overruns > 0 && !Judge(s).Late {
		t.Error("packets without memory, and the lab is not judged late")
	}
}
