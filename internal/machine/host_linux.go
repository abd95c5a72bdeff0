package machine

import (
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// systemCPUs is Linux's description of the processors.
func systemCPUs() fs.FS { return os.DirFS("/sys/devices/system/cpu") }

// allowed lists the processors that the calling thread may use.
func allowed() ([]int, error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil, err
	}
	var cpus []int
	for cpu := 0; len(cpus) < set.Count(); cpu++ {
		if set.IsSet(cpu) {
			cpus = append(cpus, cpu)
		}
	}
	return cpus, nil
}

// bind binds the calling thread to a processor.
func bind(cpu int) error {
	var set unix.CPUSet
	set.Set(cpu)
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("bind a thread to CPU %d, which this process could use when it started: %w", cpu, err)
	}
	return nil
}

// hostMemory is the size of the host's memory [B], 0 if unknown.
func hostMemory() int64 {
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) != nil {
		return 0
	}
	return int64(info.Totalram) * int64(info.Unit)
}

// reserve returns memory from outside the heap, touched from first to last, until free.
func reserve(bytes int) ([]byte, error) {
	memory, err := unix.Mmap(-1, 0, bytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return nil, fmt.Errorf("reserve %d bytes to copy in: %w", bytes, err)
	}
	for i := 0; i < len(memory); i += pageSize {
		memory[i] = byte(i / pageSize)
	}
	return memory, nil
}

func free(memory []byte) {
	_ = unix.Munmap(memory) // fails only for what reserve did not return
}
