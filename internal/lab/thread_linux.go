package lab

import (
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// pin binds the calling thread to a CPU.
func pin(cpu int) error {
	var set unix.CPUSet
	set.Set(cpu)
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("pin the wire to CPU %d: %w", cpu, err)
	}
	return nil
}

// raisePriority makes the calling thread wake up as early as it is allowed to, and says how: "rr" is the real-time
// class at its lowest priority, which needs a second CPU, since the wire polls for up to 50 µs before each packet.
func raisePriority() string {
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0) // worth microseconds, and never an error for one's own thread
	if runtime.NumCPU() > 1 {
		attr := unix.SchedAttr{Policy: unix.SCHED_RR, Priority: 1}
		attr.Size = uint32(unsafe.Sizeof(attr))
		if unix.SchedSetAttr(0, &attr, 0) == nil {
			return "rr"
		}
	}
	if unix.Setpriority(unix.PRIO_PROCESS, 0, -20) == nil {
		return "nice"
	}
	return "normal"
}

// keepAwake asks the kernel not to let idle CPUs fall into states they leave slowly (PM QoS), until the process ends.
// It reports whether the kernel agreed; it takes root. To leave an idle state costs a host tens of microseconds in a
// virtual machine, at every packet it waits for.
func keepAwake() bool {
	fd, err := unix.Open("/dev/cpu_dma_latency", unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	var microseconds [4]byte
	if _, err := unix.Write(fd, microseconds[:]); err != nil {
		unix.Close(fd)
		return false
	}
	return true // the request lasts as long as the descriptor
}
