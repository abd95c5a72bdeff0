package coord_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"calib/bench"
	"calib/internal/dataset"
	"calib/internal/plane"
	"calib/internal/units"
	"calib/run/coord"
)

func TestTickets(t *testing.T) {
	const hosts = 20
	expires := time.Unix(2e9, 0)
	issue := func() *coord.Issuer {
		return coord.NewIssuer(5*units.MiB, expires)
	}
	issuer := issue()
	pairs := map[[2]int]plane.Ticket{}
	keys := map[[32]byte]int{}
	for self := range hosts {
		mine := issuer.For(self, hosts)
		if len(mine) != hosts-1 {
			t.Fatalf("host %d: %d tickets", self, len(mine))
		}
		for _, k := range mine {
			if k.A >= k.B || k.A != self && k.B != self || k.MaxBytes != 5*units.MiB || k.Expires != expires.Unix() {
				t.Fatalf("host %d: ticket %+v", self, k)
			}
			if other, ok := pairs[[2]int{k.A, k.B}]; ok && other != k {
				t.Errorf("hosts %d and %d have different tickets", k.A, k.B)
			}
			pairs[[2]int{k.A, k.B}] = k
			keys[k.Key]++
		}
	}
	if want := hosts * (hosts - 1) / 2; len(pairs) != want || len(keys) != want {
		t.Errorf("%d pairs, %d keys, want %d", len(pairs), len(keys), want)
	}
	if a, b := issue().For(0, 2)[0], issuer.For(0, 2)[0]; a.Key == b.Key {
		t.Error("two runs have the same key")
	}
	if got := issuer.For(0, 1); len(got) != 0 {
		t.Errorf("a host alone has tickets %v", got)
	}
}

// counter is an agent that notes its session and how many of its kind are called at once.
type counter struct {
	host    int
	all     *sync.Map
	inside  *atomic.Int32
	most    *atomic.Int32
	full    int32
	open    func()
	arrived chan struct{} // holds the first calls until as many as may be inside are
}

func (c counter) call() {
	n := c.inside.Add(1)
	for m := c.most.Load(); n > m && !c.most.CompareAndSwap(m, n); m = c.most.Load() {
	}
	if n == c.full {
		c.open()
	}
	<-c.arrived
	c.inside.Add(-1)
}

func (c counter) Hello(context.Context, bool) (dataset.Host, error) { return dataset.Host{}, nil }

func (c counter) Prepare(_ context.Context, s plane.Session) error {
	c.call()
	c.all.Store(c.host, s)
	if c.host%3 == 1 {
		return errBroken
	}
	return nil
}

func (c counter) Run(context.Context, bench.Task) ([]dataset.Sample, error) { return nil, nil }

func (c counter) Close() error {
	c.call()
	if c.host == 2 {
		return errBroken
	}
	return nil
}

func TestPrepareAndClose(t *testing.T) {
	const hosts, atOnce = 10, 4
	var all sync.Map
	fleet := func() ([]coord.Agent, *atomic.Int32) {
		var inside, most atomic.Int32
		arrived := make(chan struct{})
		open := sync.OnceFunc(func() { close(arrived) })
		var agents []coord.Agent
		for h := range hosts {
			agents = append(agents, counter{h, &all, &inside, &most, atOnce, open, arrived})
		}
		return agents, &most
	}
	s := plane.Session{Run: "r", Socket: plane.Socket{Congestion: "reno"}}
	for h := range hosts {
		s.Peers = append(s.Peers, plane.Peer{Host: h, Name: fmt.Sprintf("n%d", h)})
	}
	issuer := coord.NewIssuer(1, time.Unix(2e9, 0))
	agents, most := fleet()
	errs := coord.Prepare(t.Context(), agents, s, issuer, atOnce)
	for h, err := range errs {
		if refused := h%3 == 1; errors.Is(err, errBroken) != refused || refused &&
			err.Error() != fmt.Sprintf("prepare n%d: broken", h) {
			t.Errorf("host %d: %v", h, err)
		}
		got, _ := all.Load(h)
		mine := got.(plane.Session)
		if mine.Self != h || mine.Run != "r" || len(mine.Peers) != hosts || len(mine.Tickets) != hosts-1 ||
			mine.Socket != s.Socket {
			t.Errorf("host %d: session %+v", h, mine)
		}
	}
	if most.Load() != atOnce {
		t.Errorf("%d agents prepared at once, want %d", most.Load(), atOnce)
	}
	agents, most = fleet()
	if err := coord.CloseAll(agents, atOnce); !errors.Is(err, errBroken) || most.Load() != atOnce {
		t.Errorf("close: %v, %d at once", err, most.Load())
	}
}
