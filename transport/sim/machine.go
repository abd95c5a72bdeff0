package sim

import (
	"cmp"
	"math"
	"slices"

	"calib/internal/plane"
	"calib/internal/units"
)

// Host is what every host's processors and memory are like. Zero values are replaced by those given.
type Host struct {
	CPUs     int           // 2
	Caches   []units.Bytes // 32 KiB, 1 MiB, 8 MiB
	StepTime units.Nanos   // of one step of Compute on one CPU; 1 ns

	// One copy of n bytes takes Fixed + PerByte·n: within the cache (20 ns, 0.05 ns/B), from the cache to memory (60
	// ns, 0.15 ns/B), and from memory, wherever to (100 ns, 0.30 ns/B).
	CacheToCache, CacheToMemory, MemoryToMemory CopyTime
	// LoopFactor is how many times PerByte a byte takes when copied byte by byte; 4.
	LoopFactor float64
}

type CopyTime struct {
	Fixed   units.Nanos
	PerByte float64 // ns/B
}

func (h *Host) setDefaults() {
	h.CPUs = cmp.Or(h.CPUs, 2)
	h.StepTime = cmp.Or(h.StepTime, 1)
	h.CacheToCache = cmp.Or(h.CacheToCache, CopyTime{20, 0.05})
	h.CacheToMemory = cmp.Or(h.CacheToMemory, CopyTime{60, 0.15})
	h.MemoryToMemory = cmp.Or(h.MemoryToMemory, CopyTime{100, 0.30})
	h.LoopFactor = cmp.Or(h.LoopFactor, 4)
	if h.Caches == nil {
		h.Caches = []units.Bytes{32 * units.KiB, 1024 * units.KiB, 8 * 1024 * units.KiB}
	}
}

type machine struct{ g *Group }

func (g *Group) Machine() plane.Machine { return machine{g} }

// Place implements bench.Group: every rank has a host of its own.
func (g *Group) Place() plane.Place { return plane.Place{CPU: -1, On: -1} }

// StayAwake implements plane.Machine. Simulated CPUs do not sleep.
func (machine) StayAwake() (release func(), err error) { return func() {}, nil }
func (m machine) CPUs() int                            { return m.g.w.opt.Host.CPUs }
func (m machine) Caches() []units.Bytes                { return slices.Clone(m.g.w.opt.Host.Caches) }

// Compute takes the time of work steps. On the CPU that the network interrupts it takes O_r longer for each packet that
// was handled meanwhile.
func (m machine) Compute(work int64, cpus ...int) (units.Nanos, error) {
	w, p, h := m.g.w, m.g.self, &m.g.w.opt.Host
	n := cmp.Or(len(cpus), h.CPUs)
	if len(cpus) > 0 && !slices.Contains(cpus, interrupted) {
		return units.Nanos(n) * units.Nanos(work) * h.StepTime, m.g.WaitUntil(m.g.Now() + units.Nanos(work)*h.StepTime)
	}
	alone := fromNanos(units.Nanos(work) * h.StepTime)
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
	out := make([]int64, m.g.w.opt.Host.CPUs)
	out[interrupted] = int64(m.g.self.kernelTime / perNano)
	return out
}

// Cold implements plane.Machine: simulated copies take no memory.
func (machine) Cold() units.Bytes { return 0 }

func (m machine) Copy(c plane.Copy, n int) (units.Nanos, error) {
	w, p, h := m.g.w, m.g.self, &m.g.w.opt.Host
	one := h.CacheToCache
	switch {
	case c.ColdFrom:
		one = h.MemoryToMemory
	case c.ColdTo:
		one = h.CacheToMemory
	}
	if c.Loop {
		one.PerByte *= h.LoopFactor
	}
	t := instant(math.Round(float64(n) * (float64(one.Fixed) + one.PerByte*float64(c.Bytes)) * perNano))
	err := m.g.alone("copy", func() error { return w.sleep(p, w.now+t) })
	return units.Nanos((t + perNano/2) / perNano), err
}
