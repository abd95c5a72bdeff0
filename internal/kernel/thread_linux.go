// Package kernel is what the data plane, the machine and the lab ask of Linux: sockets and their options by descriptor,
// waiting for them, the kernel's counters and timestamps, the monotonic clock, and what a thread that times is set to.
// It keeps nothing, and knows no connection, ticket or team.
package kernel

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"calib/internal/units"
)

// The clock is the runtime's monotonic reading, moved to the kernel's CLOCK_MONOTONIC. It costs one vDSO call (25 ns
// where clock_gettime as a system call costs 180 ns), allocates nothing, and agents on one machine share it.
var (
	clockBase   = time.Now()
	clockOffset = monotonicAt(clockBase)
)

// Now reads this host's monotonic clock. It does not jump when the wall clock is set.
func Now() units.Nanos { return clockOffset + units.Nanos(time.Since(clockBase)) }

// DefaultSpin is how long before its target a wait stops sleeping and spins: longer than a timer's usual lateness, and
// short enough not to starve a peer on the same CPU.
const DefaultSpin = 50 * units.Microsecond

// WaitUntil returns when the clock has reached t: it sleeps until spin before, then spins. Without spinning the
// lateness is that of a kernel timer and of waking up, some 50 µs at the usual timer slack and a few at 1 ns (Pin).
func WaitUntil(t, spin units.Nanos) error {
	for {
		left := t - Now()
		if left <= 0 {
			return nil
		}
		if left > spin {
			if err := sleepUntil(t - spin); err != nil {
				return err
			}
		}
	}
}

// monotonicAt returns CLOCK_MONOTONIC at base, to within the time of two clock readings.
func monotonicAt(base time.Time) units.Nanos {
	best, offset := time.Duration(1<<62), units.Nanos(0)
	for range 8 {
		var ts unix.Timespec
		before := time.Since(base)
		if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
			return 0
		}
		took := time.Since(base) - before
		if took < best {
			best, offset = took, units.Nanos(ts.Nano())-units.Nanos(before+took/2)
		}
	}
	return offset
}

// sleepUntil sleeps to an absolute time of CLOCK_MONOTONIC. A signal may end it early; WaitUntil then sleeps again.
func sleepUntil(t units.Nanos) error {
	ts := unix.NsecToTimespec(int64(t))
	err := unix.ClockNanosleep(unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, &ts, nil)
	if err != nil && !errors.Is(err, unix.EINTR) {
		return fmt.Errorf("sleep until %d ns: %w", int64(t), err)
	}
	return nil
}

// Pin binds the calling thread to one CPU (cpu < 0 leaves it free) and makes its timers exact (timer slack 1 ns instead
// of 50 µs). Both belong to the thread: the goroutine must be locked to it (runtime.LockOSThread), and end with it.
func Pin(cpu int) error {
	if cpu >= 0 {
		var allowed unix.CPUSet
		if err := unix.SchedGetaffinity(0, &allowed); err != nil {
			return fmt.Errorf("read the thread's CPUs: %w", err)
		}
		if err := bind(cpu, &allowed); err != nil {
			return err
		}
	}
	if err := unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("set the timer slack to 1 ns: %w", err)
	}
	return nil
}

// CPU is the number of the CPU that the calling thread is on; −1 where the kernel does not say.
func CPU() int {
	cpu := int32(-1)
	_, _, _ = unix.RawSyscall(unix.SYS_GETCPU, uintptr(unsafe.Pointer(&cpu)), 0, 0) // where it fails, cpu stays
	return int(cpu)
}

// Yield keeps the calling thread, when it wakes up, from preempting another that runs (SCHED_BATCH). Threads that share
// CPUs then do not delay each other between reading the clock and sending. The setting belongs to the thread.
func Yield() error {
	return Schedule(unix.SchedAttr{Policy: unix.SCHED_BATCH}, "set the scheduling class of batch work")
}

// Schedule sets how the calling thread is scheduled; it stays as nice as it is. what names it in an error.
func Schedule(attr unix.SchedAttr, what string) error {
	attr.Size = uint32(unsafe.Sizeof(attr))
	if p, err := unix.Getpriority(unix.PRIO_PROCESS, 0); err == nil {
		attr.Nice = int32(20 - p) // as the call itself returns it, 1 to 40
	}
	if err := unix.SchedSetAttr(0, &attr, 0); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// shortestSlice is the least that Linux lets a thread ask for [ns].
const shortestSlice = 100_000

// Hurry lets the calling thread, when it wakes up, take the CPU from another that computes, and not wait for the end of
// that one's time slice: Linux prefers threads that ask for short slices (EEVDF, since 6.12; kernels before ignore it).
// The setting belongs to the thread.
func Hurry() error {
	return Schedule(unix.SchedAttr{Policy: unix.SCHED_NORMAL, Runtime: shortestSlice}, "ask for short time slices")
}

// Divide gives each of several ranks that share a machine CPUs of its own, so that no two compute on the same one while
// another idles. The calling thread is bound to the first of its rank's share until restore is called. The rank's
// second thread belongs on own: the others of the share, or the same CPU where there is no other. Where there is
// nothing to divide, own is nil.
func Divide(rank, size int) (own *unix.CPUSet, restore func() error, err error) {
	var all unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		return nil, nil, fmt.Errorf("read the thread's CPUs: %w", err)
	}
	if all.Count() < 2 {
		return nil, func() error { return nil }, nil
	}
	share := shareOf(&all, rank, size)
	if err := bind(share[0], &all); err != nil {
		return nil, nil, err
	}
	own = &unix.CPUSet{}
	for _, cpu := range share[min(1, len(share)-1):] {
		own.Set(cpu)
	}
	return own, func() error { return unix.SchedSetaffinity(0, &all) }, nil
}

func CPUs(set *unix.CPUSet) (list []int) {
	for cpu := 0; len(list) < set.Count(); cpu++ {
		if set.IsSet(cpu) {
			list = append(list, cpu)
		}
	}
	return list
}

// shareOf lists the CPUs of one of several ranks: every size-th of all; of fewer CPUs than ranks, one that others have
// too.
func shareOf(all *unix.CPUSet, rank, size int) (share []int) {
	cpus := CPUs(all)
	for k := rank % len(cpus); k < len(cpus); k += size {
		share = append(share, cpus[k])
	}
	return share
}

func bind(cpu int, allowed *unix.CPUSet) error {
	if !allowed.IsSet(cpu) {
		return fmt.Errorf("pin to CPU %d: this process may not use it (it has %d CPUs; name one of them, an agent's by "+
			"cpu= in the hosts file)", cpu, allowed.Count())
	}
	var set unix.CPUSet
	set.Set(cpu)
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("pin to CPU %d: %w", cpu, err)
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

// Poll waits until a descriptor is ready. It returns how many are, 0 after limit or a signal. It allocates nothing.
func Poll(fds []unix.PollFd, limit units.Nanos) (ready int, err error) {
	ts := unix.NsecToTimespec(int64(max(limit, 0)))
	ready, err = unix.Ppoll(fds, &ts, nil)
	if err == unix.EINTR {
		return 0, nil
	}
	return ready, err
}

// WaitFor returns when one of events holds for fd, after limit, or after a signal.
func WaitFor(fd int, events int16, limit units.Nanos) error {
	fds := [1]unix.PollFd{{Fd: int32(fd), Events: events}}
	_, err := Poll(fds[:], limit)
	return err
}

// Ended reports whether the stream has nothing more to read and never will.
func Ended(fd int) bool {
	var b [1]byte
	n, errno := Recv(fd, b[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
	return n == 0 || n < 0 && errno != unix.EAGAIN && errno != unix.EINTR
}

// Ring adds one to an event counter, which wakes who awaits it.
func Ring(fd int) error {
	one := uint64(1)
	if _, err := unix.Write(fd, unsafe.Slice((*byte)(unsafe.Pointer(&one)), 8)); err != nil {
		return fmt.Errorf("wake the other thread: %w", err)
	}
	return nil
}

// Await sleeps until an event counter is above zero, and sets it to zero.
func Await(fd int) error {
	var n uint64
	for {
		switch _, err := unix.Read(fd, unsafe.Slice((*byte)(unsafe.Pointer(&n)), 8)); {
		case err == nil:
			return nil
		case err != unix.EINTR:
			return fmt.Errorf("wait for the other thread: %w", err)
		}
	}
}
