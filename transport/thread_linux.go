package transport

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"unsafe"

	"golang.org/x/sys/unix"

	"calib/internal/units"
)

// Pin binds the calling thread to one CPU (cpu < 0 leaves it free) and makes its timers exact (timer slack 1 ns instead
// of 50 µs). The goroutine must be locked to its thread (runtime.LockOSThread). restore undoes both, on the same
// thread.
func Pin(cpu int) (restore func() error, err error) {
	slack, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0)
	if err != nil {
		return nil, fmt.Errorf("read the timer slack: %w", err)
	}
	var was unix.CPUSet
	if err := unix.SchedGetaffinity(0, &was); err != nil {
		return nil, fmt.Errorf("read the thread's CPUs: %w", err)
	}
	if cpu >= 0 {
		if err := bind(cpu, &was); err != nil {
			return nil, err
		}
	}
	if err := setSlack(1); err != nil {
		return nil, errors.Join(err, unix.SchedSetaffinity(0, &was))
	}
	return func() error { return errors.Join(setSlack(slack), unix.SchedSetaffinity(0, &was)) }, nil
}

// Yield keeps the calling thread, when it wakes up, from preempting another that runs (SCHED_BATCH). Threads that share
// CPUs then do not delay each other between reading the clock and sending. The setting belongs to the thread.
func Yield() error {
	attr := unix.SchedAttr{Policy: unix.SCHED_BATCH}
	attr.Size = uint32(unsafe.Sizeof(attr))
	if err := unix.SchedSetAttr(0, &attr, 0); err != nil {
		return fmt.Errorf("set the scheduling class of batch work: %w", err)
	}
	return nil
}

// shortestSlice is the least that Linux lets a thread ask for [ns].
const shortestSlice = 100_000

// hurry lets the calling thread, when it wakes up, take the CPU from another that computes, and not wait for the end of
// that one's time slice: Linux prefers threads that ask for short slices (EEVDF, since 6.12; kernels before ignore it).
// The setting belongs to the thread.
func hurry() error {
	attr := unix.SchedAttr{Policy: unix.SCHED_NORMAL, Runtime: shortestSlice}
	attr.Size = uint32(unsafe.Sizeof(attr))
	if err := unix.SchedSetAttr(0, &attr, 0); err != nil {
		return fmt.Errorf("ask for short time slices: %w", err)
	}
	return nil
}

func bind(cpu int, allowed *unix.CPUSet) error {
	if !allowed.IsSet(cpu) {
		return fmt.Errorf("pin to CPU %d: this process may not use it (it has %d CPUs; set cpu= in the hosts file to one of them)",
			cpu, allowed.Count())
	}
	var set unix.CPUSet
	set.Set(cpu)
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("pin to CPU %d: %w", cpu, err)
	}
	return nil
}

func setSlack(ns int) error {
	if err := unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(ns), 0, 0, 0); err != nil {
		return fmt.Errorf("set the timer slack to %d ns: %w", ns, err)
	}
	return nil
}

// Quiet collects garbage now and turns the collector off, until restore is called or the heap has grown by room. Beyond
// room the collector runs again, so that a mistake disturbs one slot and does not exhaust the machine's memory. Not for
// concurrent use.
func Quiet(room units.Bytes) (restore func()) {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	limit := debug.SetMemoryLimit(-1)
	debug.SetMemoryLimit(min(limit, int64(m.Sys-m.HeapIdle)+int64(room)))
	percent := debug.SetGCPercent(-1)
	return func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	}
}
