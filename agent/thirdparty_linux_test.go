package agent

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"calib/bench"
	"calib/internal/plane"
	"calib/internal/units"
)

// An agent that is told of a host where no ticket is, beside one that has the ticket and says it is that host, sends
// the third party nothing, whatever it is told to measure.
func TestNothingLeavesForAThirdParty(t *testing.T) {
	udp, err := net.ListenPacket("udp", "127.0.0.9:0")
	if err != nil {
		t.Fatal(err)
	}
	defer udp.Close()
	tcp := listen(t, "tcp", udp.LocalAddr().String())
	defer tcp.Close()
	ctx := context.Background()
	var clients [2]*Client
	peers := make([]plane.Peer, 2)
	for i := range clients {
		s, err := NewServer(ServerOptions{Data: "127.0.0.1:0", Shared: true})
		if err != nil {
			t.Fatal(err)
		}
		ours, theirs := net.Pipe()
		served := make(chan error, 1)
		go func() { served <- s.ServeStream(ctx, theirs, theirs) }()
		clients[i] = NewClient([]string{"attacker", "daemon"}[i], ours, ClientOptions{})
		t.Cleanup(func() {
			clients[i].Close()
			<-served
		})
		h, err := clients[i].Hello(ctx, false)
		if err != nil {
			t.Fatal(err)
		}
		peers[i] = plane.Peer{Host: i, Addr: h.Addr, Consent: h.Consent}
	}
	key := plane.Ticket{A: 0, B: 1, Key: [32]byte{9}, MaxBytes: units.GiB, Expires: time.Now().Add(time.Hour).Unix()}
	told := []plane.Peer{peers[0], peers[1]}
	told[0].Addr = udp.LocalAddr().String()
	for i, c := range clients {
		s := plane.Session{Run: "r1", Self: i, Peers: [][]plane.Peer{peers, told}[i], Tickets: []plane.Ticket{key}}
		if err := c.Prepare(ctx, s); err != nil {
			t.Fatal(err)
		}
	}
	x := bench.Task{Run: "r1", Exp: "flood", Team: []int{0, 1},
		Points:   []bench.Point{{"bytes": 1000, "packets": 1024, "senders": 1}},
		Deadline: 2 * units.Second}
	var wg sync.WaitGroup
	for i, c := range clients {
		mine := x
		mine.Rank = i
		wg.Go(func() {
			if _, err := c.Run(ctx, mine); err == nil {
				t.Errorf("rank %d measured", i)
			}
		})
	}
	wg.Wait()
	// What has come lies before what comes now.
	for network, l := range map[string]net.Addr{"udp": udp.LocalAddr(), "tcp": tcp.Addr()} {
		own, err := net.Dial(network, l.String())
		if err != nil {
			t.Fatal(err)
		}
		defer own.Close()
		var from net.Addr
		if network == "udp" {
			if _, err = own.Write([]byte("mine")); err == nil {
				_, from, err = udp.ReadFrom(make([]byte, 1500))
			}
		} else {
			var c net.Conn
			if c, err = tcp.Accept(); err == nil {
				from = c.RemoteAddr()
				c.Close()
			}
		}
		if err != nil || from.String() != own.LocalAddr().String() {
			t.Errorf("%s: the third party heard %v (%v)", network, from, err)
		}
	}
}
