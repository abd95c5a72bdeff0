package fit

import (
	"fmt"
	"slices"

	"calib/internal/dataset"
)

// What the models that compare settings share (Fragment, Buffer, Nodelay), and LogGP with them: a table whose points have
// names instead of numbers, and settings chosen with the uncertainty of the choice.

// grid is a table of points with keys of any kind. Its points are durations on one clock: no offset bears on them, and
// the directions of a round stay apart.
type grid[K comparable] struct {
	table
	index map[K]int
}

// point returns the index of the point of k, made on first use.
func (g *grid[K]) point(k K) int {
	i, ok := g.index[k]
	if !ok {
		if g.index == nil {
			g.index = map[K]int{}
		}
		i = g.at(float64(len(g.index)))
		g.points[i].apart = true
		g.index[k] = i
	}
	return i
}

// addLine adds the timings of one line.
func (g *grid[K]) addLine(k K, b *batch) {
	g.add(g.point(k), b.dir, b.round, b.timings(), seconds(b.lines[0].NS)...)
}

// linesOf returns the usable lines of one experiment and phase between hosts that are not slow. Phase "" is any.
func (f *Fit) linesOf(d *dataset.Dataset, exp, phase string, slow slowHosts) []batch {
	slow.said = nil // once for a fit, not once for a phase
	return f.withoutSlow(f.usable(lineBatches(d, exp, phase)), slow)
}

// choiceShare is the share of replicates from which a setting belongs to the interval of a choice.
const choiceShare = 0.025

// choice is a setting picked from several, and the smallest and largest that replicates pick.
type choice struct {
	value  float64
	lo, hi float64
}

// choose picks a setting from the estimates, and its interval: the settings that at least 2.5% of the replicates pick,
// from the smallest to the largest, and the choice itself. pick returns an index into settings, which ascend, from the
// values of points.
func (s *sampled) choose(settings []float64, points []int, pick func(times []float64) int) choice {
	best := pick(s.pick(points))
	count := make([]int, len(settings))
	for _, r := range s.replicates {
		count[pick(pickPoints(r, points))]++
	}
	c := choice{settings[best], settings[best], settings[best]}
	for i, n := range count {
		if float64(n) >= choiceShare*float64(len(s.replicates)) {
			c.lo, c.hi = min(c.lo, settings[i]), max(c.hi, settings[i])
		}
	}
	return c
}

// pick returns the estimates of some points.
func (s *sampled) pick(points []int) []float64 { return pickPoints(s.values, points) }

func pickPoints(values []float64, points []int) []float64 {
	out := make([]float64, len(points))
	for i, p := range points {
		out[i] = values[p]
	}
	return out
}

// chosen records a choice as a parameter.
func (f *Fit) chosen(name, unit, label string, c choice) {
	f.found(name, unit, label, c.value, [2]float64{c.lo, c.hi})
	if c.lo == c.hi {
		p := f.Parameters[name]
		p.Why = "no interval: every replicate chooses the same of the settings measured"
		f.Parameters[name] = p
	}
}

// smallest is the index of the least of times.
func smallest(times []float64) int { return slices.Index(times, slices.Min(times)) }

// tabulated records point i as measured. There is no model of it: fitted is the value itself.
func (f *Fit) tabulated(s *sampled, series string, x float64, i int) {
	v := s.values[i]
	ci := s.interval(v, s.replicates, i)
	f.Residuals = append(f.Residuals, Residual{
		Series: series, X: x, XName: "bytes", Measured: v, Lo: ci[0], Hi: ci[1], Fitted: v, N: s.n[i],
	})
}

// judgeTable states the quality of a table: there is no curve that could miss it.
func (f *Fit) judgeTable() {
	f.note("the table is the result: no curve is fitted through it, so that there are no errors to state")
	f.Quality = &Quality{}
}

// sizeName writes a size without loss in the unit that divides it: 64KiB, 1MiB, 1449B.
func sizeName(n int64) string { return sizeText(n, "") }

// sizeWords is sizeName with a space, for people.
func sizeWords(n int64) string { return sizeText(n, " ") }

func sizeText(n int64, space string) string {
	switch {
	case n > 0 && n%(1<<20) == 0:
		return fmt.Sprintf("%d%sMiB", n>>20, space)
	case n > 0 && n%(1<<10) == 0:
		return fmt.Sprintf("%d%sKiB", n>>10, space)
	}
	return fmt.Sprintf("%d%sB", n, space)
}
