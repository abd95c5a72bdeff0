package transport

import (
	"errors"
	"net"
	"testing"

	"calib/internal/kernel"
	"calib/internal/units"
)

// A coordinator may say of a host what it likes: datagrams go to who holds the ticket, at the address of its
// connection.
func TestDatagramsStayWithTheTicket(t *testing.T) {
	third, err := net.ListenPacket("udp", "127.0.0.9:0")
	if err != nil {
		t.Fatal(err)
	}
	defer third.Close()
	meshes := testMeshes(t, "127.0.0.1", 2, nil)
	for name, said := range map[string]string{"another address": third.LocalAddr().String(),
		"another port": net.JoinHostPort("127.0.0.1", "9")} {
		t.Run(name, func(t *testing.T) {
			for self, m := range meshes {
				s := testSession(meshes, self, nil)
				if self == 1 {
					s.Peers[0].Addr = said // host 0 dials, so host 1 does not see that nobody listens there
				}
				if err := m.SetSession(s); err != nil {
					t.Fatal(err)
				}
			}
			g := opened(t, meshes, units.Second)
			done := make(chan error, 1)
			go func() { done <- g[0].OpenDatagrams(openTimeout) }()
			m, err := g[1].newDatagrams()
			if err != nil {
				t.Fatal(err)
			}
			if to := m.proven[0].Addr().String(); to != "127.0.0.1" {
				t.Errorf("proofs go to %s", to)
			}
			if err := g[1].SendDatagram(0, []byte("flood")); !errors.Is(err, errNotOpen) {
				t.Errorf("sent before the port was shown: %v", err)
			}
			g[0].Abort()
			if err := <-done; err == nil {
				t.Error("datagrams are open with a host that has shown nothing")
			}
			g[1].Abort()
			own, err := net.Dial("udp", third.LocalAddr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer own.Close()
			if _, err := own.Write([]byte("mine")); err != nil {
				t.Fatal(err)
			}
			// What has come lies before what comes now.
			if n, from, err := third.ReadFrom(make([]byte, maxDatagram)); err != nil ||
				from.String() != own.LocalAddr().String() {
				t.Errorf("a third party got %d bytes from %v (%v)", n, from, err)
			}
			for _, rank := range g {
				rank.Close()
			}
		})
	}
}

// Proofs that come again while an experiment runs are not its datagrams.
func TestLateProofs(t *testing.T) {
	g := lettered(t, testMeshes(t, "127.0.0.1", 2, nil), units.Second)
	if err := g[0].sendProofs(g[0].datagrams, make([]confirmation, 2)); err != nil {
		t.Fatal(err)
	}
	letter(t, g[0], g[1], "mine")
}

// A rank that is ready sends at once, while the other still waits for the answer to its own proof: nothing of it is
// lost.
func TestDatagramsBeforeTheAnswer(t *testing.T) {
	g := opened(t, testMeshes(t, "127.0.0.1", 2, nil), units.Second)
	sent := make(chan error, 1)
	go func() { sent <- errors.Join(g[0].OpenDatagrams(openTimeout), g[0].SendDatagram(1, []byte("early"))) }()
	m, with := begun(t, g[1])
	if err := g[1].sendProofs(m, with); err != nil {
		t.Fatal(err)
	}
	for !with[0].heard {
		if err := g[1].takeProofs(m, with); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-sent; err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(g[1].takeProofs(m, with), g[1].prove(t.Context(), m, with)); err != nil {
		t.Fatal(err)
	}
	m.open = true
	b := make([]byte, maxDatagram)
	if d, err := g[1].RecvDatagram(b, kernel.Now()+units.Second); err != nil || string(b[:d.Bytes]) != "early" {
		t.Errorf("got %+v %q (%v)", d, b[:d.Bytes], err)
	}
}

// What a rank is still sent after it has given up, as on a path that is slower than it waits, is not what the next
// group receives first.
func TestAnswerAfterTheEnd(t *testing.T) {
	meshes := testMeshes(t, "127.0.0.1", 2, nil)
	g := opened(t, meshes, units.Second)
	done := make(chan error, 1)
	go func() { done <- g[0].OpenDatagrams(50 * units.Millisecond) }()
	m, with := begun(t, g[1])
	if err := <-done; !errors.Is(err, ErrTimeout) {
		t.Fatalf("without an answer: %v", err)
	}
	for err := error(nil); err == nil && !heard(with); {
		err = g[1].takeProofs(m, with)
	}
	for _, rank := range g {
		rank.Close()
	}
	g = opened(t, meshes, units.Second)
	b := make([]byte, 4)
	both(t, func() error { return g[1].Send(0, []byte("next")) }, func() error { return g[0].Recv(1, b) })
	if string(b) != "next" {
		t.Errorf("the next group heard %q", b)
	}
}

// A rank answers nobody while it still waits for the proof of another: who is answered may send, and it would read past
// that.
func TestAnswersComeLast(t *testing.T) {
	g := opened(t, testMeshes(t, "127.0.0.1", 3, nil), units.Second)
	var m [3]*datagrams
	var with [3][]confirmation
	together(t, g, func(g *Group) error {
		m[g.rank], with[g.rank] = begun(t, g)
		return nil
	})
	with[2][1].allowed = true // so it sends rank 1 no proof
	if err := errors.Join(g[0].sendProofs(m[0], with[0]), g[2].sendProofs(m[2], with[2])); err != nil {
		t.Fatal(err)
	}
	for !with[1][0].heard {
		if err := g[1].takeProofs(m[1], with[1]); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := g[0].Pending(1); n != 0 || err != nil {
		t.Errorf("%d bytes of an answer, while rank 2 has not been heard (%v)", n, err)
	}
	with[2][1].allowed = false
	together(t, g, func(g *Group) error {
		err := g.prove(t.Context(), m[g.rank], with[g.rank])
		m[g.rank].open = err == nil
		return err
	})
	letter(t, g[0], g[1], "mine")
}

// begun are a group's datagrams, and the nonces that it and the others have sent.
func begun(t *testing.T, g *Group) (*datagrams, []confirmation) {
	m, err := g.newDatagrams()
	if err != nil {
		t.Error(err)
	}
	with, err := g.swapNonces()
	if err != nil {
		t.Error(err)
	}
	return m, with
}

// A rank that sends back another nonce than it was given is not the one that took the datagram.
func TestForgedConfirmation(t *testing.T) {
	g := opened(t, testMeshes(t, "127.0.0.1", 2, nil), units.Second)
	done := make(chan error, 1)
	go func() { done <- g[0].OpenDatagrams(openTimeout) }()
	other := make([]byte, nonceSize)
	if err := errors.Join(g[1].Send(0, other), g[1].Recv(0, other), g[1].Send(0, other)); err != nil {
		t.Fatal(err)
	}
	if err := <-done; !errors.Is(err, ErrTicket) {
		t.Errorf("a forged confirmation: %v", err)
	}
}

func FuzzProof(f *testing.F) {
	f.Add([]byte(proofMagic), proofBytes)
	f.Add(make([]byte, proofBytes), proofBytes)
	f.Fuzz(func(t *testing.T, b []byte, n int) {
		if isProof(b, n) && n != proofBytes {
			t.Errorf("%d bytes are a proof: %x", n, b)
		}
	})
}
