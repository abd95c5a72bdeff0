package machine

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"

	"calib/internal/kernel"
	"calib/internal/lists"
	"calib/internal/plane"
	"calib/internal/units"
)

var _ plane.Machine = (*Machine)(nil)

// Machine is this host. It implements plane.Machine; calls from several goroutines wait for one another.
type Machine struct {
	cpus   []int
	caches []units.Bytes

	mu      sync.Mutex
	workers *workers // nil until something is to be computed
	hot     []byte
	cold    *rotation // nil until a cold copy is asked for
}

// New looks at the host: the processors that the calling thread may use now, and the caches of the first of them. Call
// it before any thread is bound to a processor of its own.
func New() (*Machine, error) {
	cpus, err := allowed()
	if err != nil {
		return nil, fmt.Errorf("read which CPUs this process may use: %w", err)
	}
	return newMachine(cpus, os.DirFS("/sys/devices/system/cpu")), nil
}

// newMachine takes at most as many of the processors as the Go runtime runs threads on at once: it goes by the quota of
// the process's control group too, and beyond that threads would take turns.
func newMachine(cpus []int, sys fs.FS) *Machine {
	return &Machine{cpus: cpus[:min(len(cpus), runtime.GOMAXPROCS(0))], caches: dataCaches(sys, cpus[0])}
}

func (m *Machine) CPUs() int             { return len(m.cpus) }
func (m *Machine) Caches() []units.Bytes { return slices.Clone(m.caches) }

// Close ends the threads and gives the memory back. The machine can be used again, which takes them anew.
func (m *Machine) Close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.workers != nil {
		m.workers.end()
		m.workers = nil
	}
	free(m.hot)
	m.hot = nil
	if m.cold != nil {
		free(m.cold.memory)
		m.cold = nil
	}
}

func allowed() ([]int, error) {
	var set unix.CPUSet
	err := unix.SchedGetaffinity(0, &set)
	return kernel.CPUs(&set), err
}

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
	_ = unix.Munmap(memory) // fails only for what reserve did not return, as where there is none
}

// binaryUnits turns the kernel's sizes, such as 48K, into those of units.ParseBytes.
var binaryUnits = strings.NewReplacer("K", "KiB", "M", "MiB", "G", "GiB")

// dataCaches reads the sizes of a processor's data and unified caches, by level, from Linux's description of the
// processors (/sys/devices/system/cpu). A cache that it does not describe, as in many virtual machines, is left out.
func dataCaches(sys fs.FS, cpu int) []units.Bytes {
	dirs, _ := fs.Glob(sys, fmt.Sprintf("cpu%d/cache/index*", cpu)) // the pattern is good
	read := collector{root: sys}.read
	found := map[int]units.Bytes{} // by level
	for _, dir := range dirs {
		level, err := strconv.Atoi(read(dir + "/level"))
		size, bad := units.ParseBytes(binaryUnits.Replace(read(dir + "/size")))
		kind := read(dir + "/type")
		if err == nil && bad == nil && size > 0 && (kind == "Data" || kind == "Unified") {
			found[level] = size
		}
	}
	return lists.Map(slices.Sorted(maps.Keys(found)), func(level int) units.Bytes { return found[level] })
}

// latencyFile takes the longest time [µs] that any CPU may need to wake up, a 32-bit number, for as long as it is open.
// Source: Linux, Documentation/power/pm_qos_interface.rst.
const latencyFile = "/dev/cpu_dma_latency"

func (m *Machine) StayAwake() (release func(), err error) { return stayAwake(latencyFile) }

func stayAwake(file string) (release func(), err error) {
	f, err := os.OpenFile(file, os.O_WRONLY, 0)
	if err != nil {
		return nil, fmt.Errorf("keep the CPUs awake: %w", err)
	}
	if _, err := f.Write(make([]byte, 4)); err != nil {
		f.Close()
		return nil, fmt.Errorf("keep the CPUs awake: %w", err)
	}
	return func() { _ = f.Close() }, nil // the kernel withdraws the request whatever close returns
}

// Received implements plane.Machine by the kernel's counts of receive softirqs.
func (m *Machine) Received() []int64 { return receiveSoftirqs(procfs.DefaultMountPoint, m.cpus) }

// receiveSoftirqs returns the counts of some processors, 0 for one that is not listed; nil where there are none.
func receiveSoftirqs(proc string, cpus []int) []int64 {
	root, err := procfs.NewFS(proc)
	if err != nil {
		return nil
	}
	all, err := root.Softirqs()
	if err != nil || all.NetRx == nil {
		return nil
	}
	out := make([]int64, len(cpus))
	for i, cpu := range cpus {
		if cpu < len(all.NetRx) {
			out[i] = int64(all.NetRx[cpu])
		}
	}
	return out
}
