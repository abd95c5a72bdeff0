package transport

import (
	"errors"
	"runtime"
	"testing"

	"calib/internal/kernel"
	"calib/internal/units"
)

// pinned locks the benchmark to CPU 0 and opens a link.
func pinned(b *testing.B) []*Group {
	b.Helper()
	g := testGroups(b, testMeshes(b, "127.0.0.1", 2, nil), 10*units.Second)
	warm(b, g)
	pinHere(b)
	return g
}

func pinHere(b *testing.B) {
	runtime.LockOSThread() // and not unlocked: the pinned thread ends with the benchmark's goroutine
	if err := kernel.Pin(0); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkSendRecv64 is one message of 64 B sent and received by one thread: two system calls, nobody wakes.
func BenchmarkSendRecv64(b *testing.B) {
	g := pinned(b)
	msg := make([]byte, 64)
	for b.Loop() {
		if err := errors.Join(g[0].Send(1, msg), g[1].Recv(0, msg)); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPingPong64 is a round trip of 64 B between two threads on CPU 0. Its CPU profile optimises the build of
// calib:
//
//	go test -run '^$' -bench PingPong64 -cpuprofile cmd/calib/default.pgo ./transport
func BenchmarkPingPong64(b *testing.B) {
	g := pinned(b)
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // and not unlocked: the pinned thread ends with the goroutine
		err := kernel.Pin(0)
		msg := make([]byte, 64)
		for err == nil && msg[0] == 0 {
			if err = g[1].Recv(0, msg); err == nil {
				err = g[1].Send(0, msg)
			}
		}
		done <- err
	}()
	msg := make([]byte, 64)
	trip := func() {
		if err := errors.Join(g[0].Send(1, msg), g[0].Recv(1, msg)); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		trip()
	}
	msg[0] = 1
	trip()
	if err := <-done; err != nil {
		b.Fatal(err)
	}
}

// BenchmarkNow is the cost of one clock reading.
func BenchmarkNow(b *testing.B) {
	b.ReportAllocs()
	var sum units.Nanos
	for b.Loop() {
		sum += kernel.Now()
	}
	runtime.KeepAlive(sum)
}
