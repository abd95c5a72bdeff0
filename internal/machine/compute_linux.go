package machine

import (
	"cmp"
	"runtime"
	"sync"
	"time"

	"calib/internal/kernel"
	"calib/internal/lists"
	"calib/internal/units"
)

// Compute implements plane.Machine. The first call starts a thread for each processor, which Close ends.
func (m *Machine) Compute(work int64, cpus ...int) (units.Nanos, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.workers == nil {
		c, err := startWorkers(m.cpus)
		if err != nil {
			return 0, err
		}
		m.workers = c
	}
	return m.workers.compute(work, cpus), nil
}

func (m *Machine) Work(n int64) (units.Nanos, error) { return timed(n), nil }

func timed(n int64) units.Nanos {
	begin := time.Now()
	result := steps(n)
	took := units.Nanos(time.Since(begin))
	runtime.KeepAlive(result)
	return took
}

type workers struct {
	tasks []chan int64 // by thread; closed to end it
	times chan units.Nanos
	ended sync.WaitGroup
}

func startWorkers(cpus []int) (*workers, error) {
	c := &workers{times: make(chan units.Nanos, len(cpus))}
	bound := make(chan error, len(cpus))
	for _, cpu := range cpus {
		tasks := make(chan int64, 1)
		c.tasks = append(c.tasks, tasks)
		c.ended.Go(func() { c.worker(cpu, tasks, bound) })
	}
	var first error
	for range cpus {
		first = cmp.Or(first, <-bound)
	}
	if first != nil {
		c.end()
		return nil, first
	}
	return c, nil
}

func (c *workers) worker(cpu int, tasks <-chan int64, bound chan<- error) {
	runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
	bound <- kernel.Pin(cpu)
	for work := range tasks {
		c.times <- timed(work)
	}
}

func (c *workers) compute(work int64, some []int) units.Nanos {
	tasks := c.tasks
	if len(some) > 0 {
		tasks = lists.Map(some, func(k int) chan int64 { return c.tasks[k] })
	}
	for _, t := range tasks {
		t <- work
	}
	var sum units.Nanos
	for range tasks {
		sum += <-c.times
	}
	return sum
}

func (c *workers) end() {
	for _, tasks := range c.tasks {
		close(tasks)
	}
	c.ended.Wait()
}

// steps is the computation: n times one step of Knuth's linear congruential generator and one multiplication and
// addition of floating-point numbers, each on the result of the step before, all in registers. A step takes as long as
// the floating-point pair does, some eight cycles. Not inlined and with its result used, it cannot be optimised away;
// the conversion keeps multiplication and addition apart where a processor could fuse them.
//
//go:noinline
func steps(n int64) float64 {
	x, y := uint64(0), 1.0
	for ; n > 0; n-- {
		x = x*6364136223846793005 + 1442695040888963407
		y = float64(y*0.999999) + 1e-6
	}
	return y + float64(x>>63)
}
