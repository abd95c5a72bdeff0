package transport

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"calib/internal/plane"
)

// intruder dials m and speaks the dialer's part by hand, under its own idea of the ticket. It returns all that m said.
func intruder(t *testing.T, m *Mesh, run string, ticket plane.Ticket, from, to uint32) []byte {
	t.Helper()
	c := knock(t, m)
	h := hello{Run: sha256.Sum256([]byte(run)), From: from, To: to, Nonce: newNonce()}
	said := exchange(c, encode(h), acceptSize)
	if len(said) < acceptSize {
		return said
	}
	var a accept
	if err := decode(said, &a); err != nil {
		t.Fatal(err)
	}
	p := proof(roleDial, &ticket, m.Consent(), &h, a.Nonce)
	c.Write(p[:])
	rest, _ := io.ReadAll(c)
	return append(said, rest...)
}

func knock(t *testing.T, m *Mesh) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", m.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// exchange writes a frame and reads the answer, short where the other side closed.
func exchange(c net.Conn, frame []byte, answer int) []byte {
	c.Write(frame)
	b := make([]byte, answer)
	n, _ := io.ReadFull(c, b)
	return b[:n]
}

func TestReceiverTurnsAway(t *testing.T) {
	good := testTicket(0, 1)
	otherKey, otherSize, otherTime := good, good, good
	otherKey.Key[5]++
	otherSize.MaxBytes++
	otherTime.Expires++
	for _, c := range []struct {
		name     string
		run      string
		ticket   plane.Ticket
		from, to uint32
		answer   int // bytes the receiver says
		why      string
	}{
		{"another run", "other", good, 0, 1, 0, "another run"},
		{"another host", "run", good, 0, 2, 0, "for host 2, this is host 1"},
		{"a stranger's index", "run", good, 0, 1 << 20, 0, "this is host 1"},
		{"the wrong way round", "run", good, 1, 0, 0, "the lower index dials"},
		{"itself", "run", good, 1, 1, 0, "the lower index dials"},
		{"another key", "run", otherKey, 0, 1, acceptSize, "does not have this run's ticket"},
		{"a larger allowance", "run", otherSize, 0, 1, acceptSize, "does not have this run's ticket"},
		{"a later expiry", "run", otherTime, 0, 1, acceptSize, "does not have this run's ticket"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := testMeshes(t, "127.0.0.1", 2, nil)[1]
			if said := intruder(t, m, c.run, c.ticket, c.from, c.to); len(said) != c.answer {
				t.Errorf("the receiver said %d bytes, want %d", len(said), c.answer)
			}
			if f := m.Foreign(); f.Refused != 1 || !strings.Contains(f.Why, "refused") || !strings.Contains(f.Why, c.why) {
				t.Errorf("refused %+v", f)
			}
		})
	}
}

func TestReceiverTurnsAwayGarbage(t *testing.T) {
	m := testMeshes(t, "127.0.0.1", 2, nil)[1]
	for name, text := range map[string][]byte{
		"http":       []byte("GET / HTTP/1.1\r\nHost: node01.example.org:5000\r\nAccept: */*\r\nUser-Agent: x\r\n\r\n"),
		"zeros":      make([]byte, helloSize),
		"tls":        bytes.Repeat([]byte{0x16, 3, 1}, helloSize),
		"next calib": append([]byte("calibd4\n"), make([]byte, helloSize-8)...),
	} {
		if said := exchange(knock(t, m), text, 1); len(said) != 0 {
			t.Errorf("%s: answered %q", name, said)
		}
	}
	if f := m.Foreign(); f.Refused != 4 || !strings.Contains(f.Why, "ticket refused") {
		t.Errorf("refused %+v", f)
	}
}

// What a good dialer said once does not open a second connection.
func TestReplayIsRefused(t *testing.T) {
	m := testMeshes(t, "127.0.0.1", 2, nil)[1]
	ticket := testTicket(0, 1)
	h := hello{Run: sha256.Sum256([]byte("run")), From: 0, To: 1, Nonce: newNonce()}
	first := knock(t, m)
	var a accept
	if err := decode(exchange(first, encode(h), acceptSize), &a); err != nil {
		t.Fatal(err)
	}
	p := proof(roleDial, &ticket, m.Consent(), &h, a.Nonce)
	first.Write(p[:])
	c, err := m.Conn(context.Background(), 0)
	if err != nil {
		t.Fatalf("the original: %v", err)
	}
	c.Release()

	again := knock(t, m)
	if len(exchange(again, encode(h), acceptSize)) != acceptSize {
		t.Fatal("no answer to the repeated hello")
	}
	if said := exchange(again, p[:], 1); len(said) != 0 {
		t.Errorf("the repeated proof got %q", said)
	}
	if f := m.Foreign(); f.Refused != 1 || !strings.Contains(f.Why, "ticket refused") {
		t.Errorf("refused %+v", f)
	}
}

func TestTicketsThatDoNotFit(t *testing.T) {
	for _, c := range []struct {
		name string
		edit func(self int, s *plane.Session)
	}{
		{"another key", func(self int, s *plane.Session) { s.Tickets[0].Key[0] += byte(self) }},
		{"another run", func(self int, s *plane.Session) { s.Run += string(rune('a' + self)) }},
		{"another size", func(self int, s *plane.Session) { s.Tickets[0].MaxBytes += 1 << self }},
		{"expired", func(_ int, s *plane.Session) { s.Tickets[0].Expires = time.Now().Add(-time.Second).Unix() }},
		{"expired at the receiver", func(self int, s *plane.Session) {
			s.Tickets[0].Expires -= int64(self) * 7200
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			meshes := testMeshes(t, "127.0.0.1", 2, c.edit)
			_, err := meshes[0].Conn(context.Background(), 1)
			if !errors.Is(err, ErrTicket) || !strings.Contains(err.Error(), "host b") {
				t.Errorf("connect: %v", err)
			}
		})
	}
}

// An agent aimed at a third party sends it one hello, and nothing to whoever cannot show the ticket.
func TestDialerSendsNothingToAStranger(t *testing.T) {
	for name, answer := range map[string][]byte{
		"silent end":  nil,
		"garbage":     bytes.Repeat([]byte("x"), acceptSize),
		"wrong proof": encode(accept{}),
	} {
		t.Run(name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			heard := make(chan int, 1)
			go func() {
				c, err := l.Accept()
				if err != nil {
					heard <- -1
					return
				}
				defer c.Close()
				n, _ := io.ReadFull(c, make([]byte, helloSize))
				if answer == nil {
					heard <- n
					return
				}
				c.Write(answer)
				rest, _ := io.ReadAll(c)
				heard <- n + len(rest)
			}()
			m := testMeshes(t, "127.0.0.1", 2, func(_ int, s *plane.Session) { s.Peers[0].Addr = l.Addr().String() })[0]
			if _, err := m.Conn(context.Background(), 1); !errors.Is(err, ErrTicket) {
				t.Errorf("connect: %v", err)
			}
			if n := <-heard; n != helloSize {
				t.Errorf("the stranger got %d bytes, want the hello's %d", n, helloSize)
			}
		})
	}
}

func TestHandshakeEndsWithItsContext(t *testing.T) {
	a, _ := testPair(t, "127.0.0.1", plane.Socket{})
	ctx, cancel := context.WithTimeout(context.Background(), 0)
	defer cancel()
	if err := answerHandshake(ctx, a, "", nil); !errors.Is(err, ErrTimeout) {
		t.Errorf("a dialer that says nothing: %v", err)
	}
}

func FuzzHello(f *testing.F) {
	h := hello{Run: sha256.Sum256([]byte("run")), From: 3, To: 4}
	f.Add(encode(h))
	f.Add(make([]byte, helloSize))
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, b []byte) {
		if h, err := decodeHello(b); err == nil {
			if !bytes.Equal(encode(h), b) || h.From >= h.To {
				t.Errorf("%x decodes as %+v", b, h)
			}
		} else if !errors.Is(err, ErrTicket) {
			t.Errorf("error of no class: %v", err)
		}
	})
}

// No accept frame but the one that was made for a hello proves anything.
func FuzzAccept(f *testing.F) {
	ticket := testTicket(3, 4)
	h := hello{Run: sha256.Sum256([]byte("run")), From: 3, To: 4}
	a := accept{Nonce: [nonceSize]byte{1}}
	a.Proof = proof(roleAccept, &ticket, "consent", &h, a.Nonce)
	f.Add(encode(a))
	f.Add(make([]byte, acceptSize))
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, b []byte) {
		var got accept
		err := decode(b, &got)
		switch {
		case err != nil && !errors.Is(err, ErrTicket):
			t.Errorf("error of no class: %v", err)
		case err == nil && !bytes.Equal(encode(got), b):
			t.Errorf("%x decodes as %+v", b, got)
		case err == nil && got != a && sameProof(got.Proof, proof(roleAccept, &ticket, "consent", &h, got.Nonce)):
			t.Errorf("%+v proves a ticket", got)
		}
	})
}
