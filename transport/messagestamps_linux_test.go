package transport

import (
	"testing"

	"calib/internal/needs"
	"calib/internal/plane"
	"calib/internal/units"

	"golang.org/x/sys/unix"
)

// stamping returns two warm groups whose messages are stamped.
func stamping(t *testing.T, host string) []*Group {
	t.Helper()
	g := testGroups(t, testMeshes(t, host, 2, nil), 5*units.Second)
	openAll(t, g)
	for k := range g {
		if err := g[k].StampMessages(1-k, true); err != nil {
			t.Fatal(err)
		}
	}
	return g
}

// passStamped sends b to and fro until all stamps are there: the kernel begins to stamp what arrives a little after it
// was asked.
func passStamped(t *testing.T, g []*Group, b []byte, polls bool) (began, ended units.Nanos, d plane.Departure, a plane.Arrival) {
	t.Helper()
	for range 1000 {
		ahead, _ := g[0].StampClock()
		began = Now() + ahead
		var err error
		if err = g[0].Send(1, b); err == nil {
			a, err = g[1].RecvStamped(0, make([]byte, len(b)), polls)
		}
		if err != nil {
			t.Fatal(err)
		}
		ended = Now() + ahead
		if d, err = g[0].Departure(1, units.Second); err != nil {
			t.Fatal(err)
		}
		if d.Scheduled != 0 && d.Sent != 0 && a.Taken != 0 {
			return began, ended, d, a
		}
	}
	t.Fatalf("stamps are missing after 1000 messages: %+v, %+v", d, a)
	return
}

// The stamps of a message over the loopback are those of the last message sent, in the order of its way.
func TestMessageStamps(t *testing.T) {
	for _, host := range loopbacks() {
		g := stamping(t, host)
		for i, size := range []int{1, 700, 9000, 1} {
			for range 3 { // whose stamps nobody asks for
				if err := g[0].Send(1, make([]byte, 5)); err != nil {
					t.Fatal(err)
				}
				if err := g[1].Recv(0, make([]byte, 5)); err != nil {
					t.Fatal(err)
				}
			}
			began, ended, d, a := passStamped(t, g, make([]byte, size), i%2 == 1)
			_, bound := g[0].StampClock()
			times := []units.Nanos{began - 2*bound, d.Scheduled, d.Sent, a.Taken, ended + 2*bound}
			for k := 1; k < len(times); k++ {
				if times[k] < times[k-1] {
					t.Errorf("%s, %d B: step %d of began, scheduled, sent, taken, ended: %v (bound %v)", host, size, k, times, bound)
				}
			}
			if d.NIC != 0 || a.NIC != 0 {
				t.Errorf("%s: the loopback has no clock: %+v, %+v", host, d, a)
			}
		}
	}
}

// A kernel that counts from what is not acknowledged names the same bytes.
func TestMessageStampsBeforeLinux62(t *testing.T) {
	g := stamping(t, "127.0.0.1")
	c := g[0].conns[1]
	if err := sysStampMessages(c.fd, 0); err != nil {
		t.Fatal(err)
	}
	if err := c.messages.beginUnacked(c, softwareStamps); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		passStamped(t, g, make([]byte, 300), false)
	}
}

// Stamps end when they are switched off, with nothing left behind, and with the group.
func TestMessageStampsEnd(t *testing.T) {
	meshes := testMeshes(t, "127.0.0.1", 2, nil)
	g := testGroups(t, meshes, 5*units.Second)
	openAll(t, g)
	on := func(g []*Group) bool {
		v, err := unix.GetsockoptInt(g[0].conns[1].fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPING)
		if err != nil {
			t.Fatal(err)
		}
		return v != 0
	}
	set := func(value bool) {
		if err := g[0].StampMessages(1, value); err != nil {
			t.Fatal(err)
		}
	}
	set(true)
	if err := g[0].Send(1, make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	c := g[0].conns[1]
	set(false)
	if on(g) {
		t.Error("stamps after they were switched off")
	}
	var s messageStamps
	if s.drop(c.fd) {
		t.Error("a stamp is left in the error queue")
	}
	if _, err := g[0].Departure(1, 0); err == nil {
		t.Error("Departure without StampMessages")
	}
	if _, err := g[0].RecvStamped(1, make([]byte, 1), false); err == nil {
		t.Error("RecvStamped without StampMessages")
	}
	set(true)
	for _, rank := range g {
		rank.Close()
	}
	g = testGroups(t, meshes, 5*units.Second)
	openAll(t, g)
	if on(g) {
		t.Error("stamps in the next group")
	}
}

// Sending, receiving and reading stamps allocates nothing.
func TestMessageStampsDoNotAllocate(t *testing.T) {
	needs.Allocations(t)
	g := stamping(t, "127.0.0.1")
	b := make([]byte, 100)
	n := testing.AllocsPerRun(100, func() {
		err := g[0].Send(1, b)
		if err == nil {
			_, err = g[1].RecvStamped(0, b, false)
		}
		if err == nil {
			_, err = g[0].Departure(1, 0)
		}
		if err != nil {
			t.Error(err)
		}
	})
	if n != 0 {
		t.Errorf("%g allocations a message", n)
	}
}

// The wall clock stands still against the monotonic clock unless somebody sets it.
func TestStampClock(t *testing.T) {
	g := testGroups(t, testMeshes(t, "127.0.0.1", 2, nil), units.Second)
	a, boundA := g[0].StampClock()
	b, boundB := g[1].StampClock()
	if d := a - b; d > boundA+boundB || -d > boundA+boundB || boundA <= 0 {
		t.Errorf("%v ± %v, then %v ± %v", a, boundA, b, boundB)
	}
}

// Whatever the kernel writes, reading control messages ends within them.
func FuzzControlMessages(f *testing.F) {
	var in messageReader
	for m := (controlMessages{rest: in.control[:]}); m.next(); {
		f.Fatal("a message in an empty buffer")
	}
	f.Add([]byte{20, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 37, 0, 0, 0, 1, 2, 3, 4, 0, 0, 0, 0})
	f.Add([]byte{16, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 65, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		n := copy(in.control[:], b)
		in.hdr.SetControllen(n)
		sum := 0
		for m := in.messages(); m.next(); {
			sum += unix.SizeofCmsghdr + len(m.body)
		}
		if sum > n {
			t.Errorf("%d bytes of messages in %d", sum, n)
		}
		in.read()
		in.arrival()
	})
}
