package transport

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"calib/internal/plane"
)

// An agent that is told of addresses tells nothing of them: a port that is open, one that is closed, and one that
// answers by another's rules are one error, at one time.
func TestDiscreetDialling(t *testing.T) {
	open, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	gone := newTestMesh(t, "127.0.0.1")
	closed := gone.Addr().String()
	gone.Close()
	said := map[string]error{}
	for name, addr := range map[string]string{"open": open.Addr().String(), "closed": closed,
		"no name": "nosuch.invalid:1"} {
		m := testMeshes(t, "127.0.0.1", 2, func(_ int, s *plane.Session) { s.Peers[0].Addr = addr })[0]
		var logged error
		m.options.Discreet = func(err error) { logged = err }
		m.patience = 200 * time.Millisecond
		begun := time.Now()
		_, err := m.Conn(context.Background(), 1)
		if took := time.Since(begun); took < m.patience {
			t.Errorf("%s: told after %v", name, took)
		}
		if !errors.Is(err, ErrConsent) || logged == nil {
			t.Errorf("%s: %v; logged: %v", name, err, logged)
		}
		said[name] = errors.New(strings.ReplaceAll(err.Error(), addr, "ADDR"))
	}
	for name, err := range said {
		if err.Error() != said["open"].Error() {
			t.Errorf("%s: %v; open: %v", name, err, said["open"])
		}
	}
}

// A host that has given no consent is not dialled.
func TestNoConsentNoDial(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	m := testMeshes(t, "127.0.0.1", 2, func(_ int, s *plane.Session) {
		s.Peers[0].Addr, s.Peers[0].Consent = l.Addr().String(), ""
	})[0]
	if _, err := m.Conn(context.Background(), 1); !errors.Is(err, ErrConsent) {
		t.Errorf("dialled: %v", err)
	}
}

// What a host has consented to is of no use to another process that holds the ticket.
func TestConsentIsOfOneProcess(t *testing.T) {
	meshes := testMeshes(t, "127.0.0.1", 2, func(_ int, s *plane.Session) { s.Peers[0].Consent = "of another" })
	if _, err := meshes[0].Conn(context.Background(), 1); !errors.Is(err, ErrTicket) {
		t.Errorf("connect: %v", err)
	}
	if f := meshes[1].Foreign(); f.Refused != 0 { // the dialer left before it proved anything
		t.Errorf("the listener counts %+v", f)
	}
}
