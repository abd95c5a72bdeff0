package agent

import (
	"context"
	"fmt"
	"net"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain plays an agent where a test starts this binary as one.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "role=agent" {
		s, err := NewServer(ServerOptions{Data: "127.0.0.1:0"})
		if err == nil {
			err = s.ServeStream(context.Background(), os.Stdin, os.Stdout)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if len(os.Args) == 3 && os.Args[1] == crowdArg {
		fmt.Fprintln(os.Stderr, crowd(os.Args[2]))
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}

func TestOnlyLoopbackWithoutCredentials(t *testing.T) {
	for addr, ok := range map[string]bool{
		"127.0.0.1:7433": true, "127.8.9.1:0": true, "[::1]:7433": true, "localhost:7433": true,
		":7433": false, "0.0.0.0:7433": false, "[::]:7433": false, "192.168.1.9:7433": false, "node3:7433": false,
		"[::ffff:10.0.0.1]:1": false, "10.0.0.1%lo:1": false,
	} {
		switch err := loopbackOnly(addr); {
		case ok && err != nil:
			t.Errorf("%s: %v", addr, err)
		case !ok:
			mustBe(t, err, ErrOpen, addr, "credentials", "ssh")
		}
	}
	for _, addr := range []string{"", "127.0.0.1", "::1"} {
		if loopbackOnly(addr) == nil {
			t.Errorf("%q accepted", addr)
		}
	}
}

func TestDaemonServesOneRunAfterTheOther(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := newServer(ServerOptions{}, &fakePlane{})
	s.perform = script(quick).perform
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error)
	go func() { served <- s.serveTCP(ctx, l) }()
	dial := func() *Client {
		c, err := Dial(ctx, "node3", "calib://"+l.Addr().String(), ClientOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Hello(ctx); err != nil {
			t.Fatal(err)
		}
		return c
	}
	one, two := dial(), dial()
	if err := one.Prepare(ctx, session("r1")); err != nil {
		t.Fatal(err)
	}
	mustBe(t, two.Prepare(ctx, session("r2")), ErrBusy, "another run")
	if err := one.Close(); err != nil {
		t.Error(err)
	}
	if err := two.Prepare(ctx, session("r2")); err != nil {
		t.Errorf("after the first run: %v", err)
	}
	x := task()
	x.Run = "r2"
	if _, err := two.Run(ctx, x); err != nil {
		t.Error(err)
	}
	if err := two.Close(); err != nil {
		t.Error(err)
	}
	cancel()
	mustBe(t, <-served, context.Canceled)
}

func TestDialWrongAddress(t *testing.T) {
	if _, err := Dial(context.Background(), "node3", "calib://node3", ClientOptions{}); err == nil {
		t.Error("an address without a port was dialled")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close() // nobody listens there now
	if _, err := Dial(context.Background(), "node3", l.Addr().String(), ClientOptions{}); err == nil ||
		!contains(err.Error(), "calib agent --listen") {
		t.Errorf("dialling a closed port: %v", err)
	}
}

func TestServerOptionsAreChecked(t *testing.T) {
	for name, o := range map[string]ServerOptions{
		"cpu is not a number":  {CPU: "two"},
		"cpu is not there":     {CPU: "1023"},
		"data address":         {Data: "nowhere"},
		"data address is busy": {Data: busyPort(t)},
	} {
		if s, err := NewServer(o); err == nil {
			s.Close()
			t.Errorf("%s: %+v accepted", name, o)
		}
	}
}

func busyPort(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l.Addr().String()
}
