// Package machine is the host itself as experiments use it beside its network: its processors, its caches, and copies
// within its memory (plane.Machine).
//
// Its opinions. A processor is measured by a thread that is bound to it and that times itself, so that what the scheduler
// does between processors is no part of the time. A copy is cold because the program has gone through so much other
// memory since, in an order that prefetchers do not follow, and not because an instruction flushed it: that is how memory
// becomes cold under an application. All memory and all threads are taken when first asked for and last until Close; the
// memory comes from outside the collected heap, so that it does not count against the room that the collector is given
// during measurements.
package machine

import (
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"sync"

	"calib/internal/plane"
	"calib/internal/units"
)

var _ plane.Machine = (*Machine)(nil)

// Machine is this host. It implements plane.Machine; calls from several goroutines wait for one another.
type Machine struct {
	cpus   []int
	caches []units.Bytes

	mu   sync.Mutex
	crew *crew // nil until something is to be computed
	hot  []byte
	cold *rotation // nil until a cold copy is asked for
}

// New looks at the host: the processors that the calling thread may use now, and the caches of the first of them. Call it
// before any thread is bound to a processor of its own.
func New() (*Machine, error) {
	cpus, err := allowed()
	if err != nil {
		return nil, fmt.Errorf("read which CPUs this process may use: %w", err)
	}
	return newMachine(cpus, systemCPUs()), nil
}

// newMachine takes at most as many of the processors as the Go runtime runs threads on at once: it goes by the quota of
// the process's control group too, and beyond that threads would take turns.
func newMachine(cpus []int, sys fs.FS) *Machine {
	return &Machine{cpus: cpus[:min(len(cpus), runtime.GOMAXPROCS(0))], caches: dataCaches(sys, cpus[0])}
}

// CPUs implements plane.Machine.
func (m *Machine) CPUs() int { return len(m.cpus) }

// Caches implements plane.Machine.
func (m *Machine) Caches() []units.Bytes { return slices.Clone(m.caches) }

// Close ends the threads and gives the memory back. The machine can be used again, which takes them anew.
func (m *Machine) Close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.crew != nil {
		m.crew.end()
		m.crew = nil
	}
	if m.hot != nil {
		free(m.hot)
		m.hot = nil
	}
	if m.cold != nil {
		free(m.cold.memory)
		m.cold = nil
	}
}
