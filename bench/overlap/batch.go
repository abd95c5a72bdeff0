package overlap

import (
	"fmt"
	"slices"

	"calib/bench"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/units"
)

const (
	whole = 100 // of the factor granularity: computing takes as long as the transfer

	// budget is the time of a batch, and batchBytes what it moves, at effort 1; a set is one block of every way.
	budget     = 100 * units.Millisecond
	batchBytes = 32 * units.MiB
	batchSets  = 32
	minSets    = 2
	// A block lasts blockTime, within so many steps, of which a pair is the least.
	blockTime  = 2 * units.Millisecond
	blockSteps = 32
	minSteps   = 2
	// longest is what the least batch may take; above it nothing is measured at the point.
	longest = 10 * units.Second

	// The trial finds how long the transfer takes, after warmSteps in which the congestion window grows, and how long
	// the computation: a first look of trialSteps, and a longer one where the network is fast.
	warmSteps  = 10
	trialSteps = 8
	maxTrial   = 256
	trialTime  = 2 * units.Millisecond
	looks      = 3  // at the transfer and at the computation, of which the median counts
	attempts   = 64 // of Steps at most
)

// maxSets and maxSteps bound a batch of messages of m bytes: its blocks of one way, and their steps.
func maxSets(e bench.Effort) int { return e.Reps(batchSets, minSets) }

func maxSteps(e bench.Effort, m int64) int {
	byBytes := int(min(int64(e.Bytes(batchBytes, 0))/max(m, 1), 1<<20))
	return min(maxSets(e)*(leadSteps+blockSteps), max(byBytes, minSets*(leadSteps+minSteps)))
}

// plan is what a batch does.
type plan struct {
	work  int64 // of a step
	steps int   // of a block
	sets  int
	set   units.Nanos // estimated
}

// lead is rank 0.
func (x *pair) lead() error {
	before, err := x.G.Counters(x.peer)
	if err != nil {
		return err
	}
	b, err := x.plan()
	if err != nil {
		return fmt.Errorf("trial: %w", err)
	}
	ways := waysAt(x.P)
	times := make([][]int64, len(ways))
	for i := range times {
		times[i] = x.R.Buffer(b.sets)
	}
	for k := range b.sets {
		for i, w := range ways {
			if times[i][k], err = x.do(order{w, b.steps, b.work}); err != nil {
				return fmt.Errorf("%s: %w", phases[w], err)
			}
		}
	}
	if _, err := x.do(order{way: end}); err != nil {
		return err
	}
	tcp, err := bench.CountersSince(x.G, x.peer, before)
	if err != nil {
		return err
	}
	if err := bench.AddLosses(x.G, x.peer, tcp); err != nil {
		return err
	}
	if b.sets == 0 {
		x.add(names.PhaseSkipped, []int64{int64(b.set)}, b, nil)
		return nil
	}
	for i, w := range ways {
		x.add(phases[w], times[i], b, tcp)
	}
	return nil
}

// plan finds the computation of a step, and how many steps and blocks there is time for.
func (x *pair) plan() (b plan, err error) {
	if _, err := x.do(order{way: transferAlone, steps: warmSteps - leadSteps}); err != nil {
		return b, err
	}
	took, err := x.transferTime()
	if err != nil {
		return b, err
	}
	granularity := float64(x.P[names.FactorGranularity]) / whole
	m, ways := x.P[names.FactorBytes], len(waysAt(x.P))
	step := float64(took) * (1 + granularity)
	b.steps = even(float64(blockTime)/step, min(blockSteps, maxSteps(x.R.Effort, m)/minSets-leadSteps))
	b.set = units.Nanos(step * float64(ways*(b.steps+leadSteps)))
	if b.set > longest {
		return b, nil
	}
	if granularity > 0 {
		if b.work, err = x.workOf(float64(took) * granularity); err != nil {
			return b, err
		}
	}
	fit := int(x.R.Time(budget, 0) / max(1, b.set))
	least := minSets
	if b.set > longest/4 {
		least = 1
	}
	b.sets = max(least, min(fit, maxSets(x.R.Effort), maxSteps(x.R.Effort, m)/(b.steps+leadSteps)))
	return b, nil
}

// transferTime is how long a step of the transfer alone takes.
func (x *pair) transferTime() (units.Nanos, error) {
	first, err := x.do(order{way: transferAlone, steps: trialSteps - leadSteps - 1})
	if err != nil {
		return 0, err
	}
	took := units.Nanos(max(1, first))
	m := x.P[names.FactorBytes]
	most := int(min(maxTrial/(looks+1), int64(batchBytes)/(8*max(m, 1))))
	n := even(float64(trialTime)/float64(took), max(minSteps, most-leadSteps))
	if n <= trialSteps {
		return took, nil
	}
	t, err := x.look(order{way: transferAlone, steps: n})
	return units.Nanos(max(1, t)), err
}

// look is the median of some looks at how long a step takes [ns].
func (x *pair) look(o order) (t int64, err error) {
	var seen [looks]int64
	for i := range seen {
		if seen[i], err = x.do(o); err != nil {
			return 0, err
		}
	}
	slices.Sort(seen[:])
	return seen[looks/2], nil
}

// workOf is how many steps of computation take so many nanoseconds. They are found for trialTime, since a short
// computation shows less well how long it takes.
func (x *pair) workOf(ns float64) (int64, error) {
	steps, err := stepsFor(func(n int64) (units.Nanos, error) {
		t, err := x.do(order{compute, 1, n})
		return units.Nanos(t), err
	}, trialTime)
	if err != nil {
		return 0, err
	}
	t, err := x.look(order{compute, 1, steps})
	if err != nil {
		return 0, err
	}
	work := max(1, int64(float64(steps)*ns/float64(max(1, t))))
	if work > maxWork {
		return 0, fmt.Errorf("%d steps of computation for a message, the most is %d", work, int64(maxWork))
	}
	return work, nil
}

func (x *pair) add(phase string, ns []int64, b plan, tcp *dataset.TCP) {
	x.R.Add(bench.Batch{Phase: phase, Point: x.P, Ranks: x.Ranks(), NS: ns, TCP: tcp, Aux: map[string]float64{
		names.AuxWork: float64(b.work), names.AuxAveraged: float64(b.steps), names.AuxCPUs: float64(x.host.CPUs()),
	}})
}
