package agent

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"calib/bench"
	"calib/bench/experiments"
	"calib/internal/dataset"
	"calib/internal/plane"
	"calib/internal/units"
	"calib/run/coord"
	"calib/run/plan"
)

// crowdArg makes the test binary serve agents on a socket: as many as are dialled.
const crowdArg = "role=crowd"

// crowd serves an agent on every connection to the socket. Its agents measure nothing and answer at once.
func crowd(path string) error {
	l, err := net.Listen("unix", path)
	if err != nil {
		return err
	}
	for {
		conn, err := l.Accept()
		if err != nil {
			return err
		}
		s := newServer(ServerOptions{}, &fakePlane{})
		s.perform = script(instant).perform
		s.env = func(string) (map[string]string, dataset.Now) {
			return map[string]string{"arch": "amd64", "kernel": "6.1"}, dataset.Now{}
		}
		go func() {
			_ = s.ServeStream(context.Background(), conn, conn)
			s.Close()
		}()
	}
}

// instant is a task of which rank 0 has as many timings as an ordinary one.
func instant(_ context.Context, t bench.Task, _ func(int)) ([]dataset.Sample, error) {
	if t.Rank != 0 {
		return nil, nil
	}
	out := make([]dataset.Sample, len(t.Points))
	for i, p := range t.Points {
		out[i] = dataset.Sample{Exp: t.Exp, Point: p, Ranks: t.Team, Round: t.Round, Slot: t.Slot, NS: make([]int64, 50)}
	}
	return out, nil
}

// BenchmarkControl coordinates agents of another process over connections of their own: dialling, greeting, tickets,
// one round of the standard plan, and releasing. The process of the benchmark is the coordinator alone: heap-MB is what
// it holds at most between slots, the others are seconds.
func BenchmarkControl(b *testing.B) {
	for _, hosts := range []int{8, 64, 256, 1000} {
		b.Run(fmt.Sprint(hosts), func(b *testing.B) {
			for b.Loop() {
				coordinate(b, hosts)
			}
		})
	}
}

func coordinate(b *testing.B, hosts int) {
	b.Helper()
	path := filepath.Join(b.TempDir(), "crowd")
	exe, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	child := exec.Command(exe, crowdArg, path)
	child.Stderr = os.Stderr
	if err := child.Start(); err != nil {
		b.Fatal(err)
	}
	defer func() {
		_ = child.Process.Kill()
		_ = child.Wait() // which says that it was killed
	}()
	base := liveHeap()
	began := time.Now()
	lap := func(name string) {
		b.ReportMetric(time.Since(began).Seconds(), name)
		began = time.Now()
	}
	agents, peers := dialCrowd(b, path, hosts)
	lap("start-s")
	issuer := coord.NewIssuer(units.GiB, time.Now().Add(time.Hour))
	const atOnce = 32
	if err := errors.Join(coord.Prepare(b.Context(), agents, plane.Session{Run: "r1", Peers: peers}, issuer,
		atOnce)...); err != nil {
		b.Fatal(err)
	}
	lap("prepare-s")
	chosen, err := plan.Builtin(plan.Standard)
	if err != nil {
		b.Fatal(err)
	}
	chosen.Budget, chosen.Rounds = 0, plan.Rounds{Min: 1, Max: 1}
	s, err := plan.New(chosen, hosts, experiments.All)
	if err != nil {
		b.Fatal(err)
	}
	var most uint64
	slots := 0
	r, err := coord.Walk(b.Context(), agents, coord.Config{
		Progress: func(coord.Progress) {}, Slot: func(bench.Slot, time.Duration) {}, Note: func(string) {},
		Run: "r1", Schedule: s, Deadline: func(bench.Slot) units.Nanos { return 100 * units.Second },
		Sink: func([]dataset.Sample) error {
			if slots++; slots%max(s.Slots()/4, 1) == 0 {
				most = max(most, liveHeap()-base)
			}
			return nil
		},
	})
	if err != nil || r.Partial() {
		b.Fatal(r, err)
	}
	lap("round-s")
	if err := coord.CloseAll(agents, atOnce); err != nil {
		b.Fatal(err)
	}
	lap("stop-s")
	b.ReportMetric(float64(most)/1e6, "heap-MB")
	b.ReportMetric(float64(slots), "slots")
}

// dialCrowd reaches so many agents of a crowd, as soon as it listens.
func dialCrowd(b *testing.B, path string, hosts int) (agents []coord.Agent, peers []plane.Peer) {
	b.Helper()
	for i := range hosts {
		var conn net.Conn
		var err error
		for try := 0; try < 500; try++ {
			if conn, err = net.Dial("unix", path); err == nil {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		if err != nil {
			b.Fatal(err)
		}
		c := NewClient(fmt.Sprintf("node%04d", i), conn, ClientOptions{Silence: time.Minute}) // they share a machine
		h, err := c.Hello(b.Context(), false)
		if err != nil {
			b.Fatal(err)
		}
		agents = append(agents, c)
		peers = append(peers, plane.Peer{Host: i, Name: fmt.Sprintf("node%04d", i), Addr: h.Addr, Machine: h.Boot,
			Clock: h.Clock, Consent: h.Consent})
	}
	return slices.Clip(agents), peers
}

// liveHeap is what the collector cannot free.
func liveHeap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}
