package machine

import (
	"fmt"
	"os"
)

// latencyFile takes the longest time [µs] that any CPU may need to wake up, a 32-bit number, for as long as it is open.
// Source: Linux, Documentation/power/pm_qos_interface.rst.
const latencyFile = "/dev/cpu_dma_latency"

// StayAwake implements plane.Machine.
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
