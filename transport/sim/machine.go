package sim

import (
	"cmp"
	"math"
	"slices"

	"calib/internal/plane"
	"calib/internal/units"
)

// CopyTime is what a copy of n bytes takes: Fixed + PerByte·n.
type CopyTime struct {
	Fixed   units.Nanos
	PerByte float64 // ns/B
}

// What a host's memory is like. A copy from memory takes the same wherever it goes.
var (
	CacheToCache   = CopyTime{20, 0.05}
	CacheToMemory  = CopyTime{60, 0.15}
	MemoryToMemory = CopyTime{100, 0.30}
	caches         = []units.Bytes{32 * units.KiB, units.MiB, 8 * units.MiB}
)

// LoopFactor is how many times PerByte a byte takes when copied byte by byte.
const LoopFactor = 4

type machine struct{ g *Group }

func (g *Group) Machine() plane.Machine { return machine{g} }

// Place implements bench.Group: every rank has a host of its own.
func (g *Group) Place() plane.Place { return plane.Place{CPU: -1, On: -1} }

// StayAwake implements plane.Machine. Simulated CPUs do not sleep.
func (machine) StayAwake() (release func(), err error) { return func() {}, nil }
func (m machine) CPUs() int                            { return m.g.w.opt.CPUs }
func (m machine) Caches() []units.Bytes                { return slices.Clone(caches) }

// Compute takes a nanosecond a step. On the CPU that the network interrupts it takes O_r longer for each packet that
// was handled meanwhile.
func (m machine) Compute(work int64, cpus ...int) (units.Nanos, error) {
	w, p := m.g.w, m.g.self
	n, one := cmp.Or(len(cpus), w.opt.CPUs), units.Nanos(work)
	if len(cpus) > 0 && !slices.Contains(cpus, interrupted) {
		return units.Nanos(n) * one, m.g.WaitUntil(m.g.Now() + one)
	}
	alone := fromNanos(one)
	var handled instant
	err := m.g.alone("compute", func() error {
		began, before := w.now, p.kernelTime
		for {
			handled = p.kernelTime - before
			if w.now >= began+alone+handled {
				return nil
			}
			if err := w.sleep(p, began+alone+handled); err != nil {
				return err
			}
		}
	})
	return units.Nanos((instant(n)*alone + handled + perNano/2) / perNano), err
}

// Work takes the time of steps on the CPU that the network interrupts.
func (m machine) Work(steps int64) (units.Nanos, error) { return m.Compute(steps, interrupted) }

// interrupted is the CPU that handles what arrives.
const interrupted = 0

// Received implements plane.Machine by the time [ns] that CPU has spent on it.
func (m machine) Received() []int64 {
	m.g.w.mu.Lock()
	defer m.g.w.mu.Unlock()
	out := make([]int64, m.g.w.opt.CPUs)
	out[interrupted] = int64(m.g.self.kernelTime / perNano)
	return out
}

// Cold implements plane.Machine: simulated copies take no memory.
func (machine) Cold() units.Bytes { return 0 }

func (m machine) Copy(c plane.Copy, n int) (units.Nanos, error) {
	w, p := m.g.w, m.g.self
	one := CacheToCache
	switch {
	case c.ColdFrom:
		one = MemoryToMemory
	case c.ColdTo:
		one = CacheToMemory
	}
	if c.Loop {
		one.PerByte *= LoopFactor
	}
	t := instant(math.Round(float64(n) * (float64(one.Fixed) + one.PerByte*float64(c.Bytes)) * perNano))
	err := m.g.alone("copy", func() error { return w.sleep(p, w.now+t) })
	return units.Nanos((t + perNano/2) / perNano), err
}
