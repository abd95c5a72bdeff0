package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// The statistic of rounded values at some splits is about that of the values at all: for changes that are short or
// long, and beside values far from all others.
func TestRoundedIsAboutExact(t *testing.T) {
	far := append(levels(1, 0.02, 700, 1), levels(2, 0.02, 300, 1.1)...)
	far[100], far[900] = 50, 3000
	for name, x := range map[string][]float64{
		"half":     append(levels(1, 0.02, 1000, 1), levels(2, 0.02, 1000, 1.05)...),
		"short":    append(levels(1, 0.02, 4000, 1), levels(2, 0.02, 30, 1.05)...),
		"early":    append(levels(1, 0.02, 13, 1), levels(2, 0.02, 600, 1.2)...),
		"far":      far,
		"few":      append(slices.Repeat([]float64{1}, 600), slices.Repeat([]float64{1, 2}, 100)...),
		"trend":    trend(1000),
		"negative": append(levels(1, 0.02, 300, -1), levels(2, 0.02, 300, -1.05)...),
	} {
		e := newEnergy(x, 5)
		_, want := e.best(e.order)
		r := newRounded(e)
		if got := r.most(r.order); math.Abs(got-want) > 0.04*want {
			t.Errorf("%s: %v, exactly %v", name, got, want)
		}
	}
}

// The test of rounded values finds about as many small changes as that of the values at all, by as many permutations.
func TestRoundedPower(t *testing.T) {
	const series, values = 40, 600
	rounded, exact := 0, 0
	for seed := range uint64(series) {
		for _, c := range []struct {
			from  int
			shift float64
		}{{values / 2, 0.3}, {values - 60, 0.5}, {values - 15, 1}} { // about in standard deviations
			x := append(levels(seed, 0.1, c.from, 10), levels(seed+series, 0.1, values-c.from, 10+c.shift)...)
			e := newEnergy(x, 5)
			l := newRounded(e)
			test := func() *divider {
				return &divider{ChangeOptions: ChangeOptions{}.defaults(), rng: rand.New(rand.NewPCG(seed, 1))}
			}
			if _, found := permute(test(), l.order, 99, l.most(l.order), l.most); found {
				rounded++
			}
			_, most := e.best(e.order)
			_, found := permute(test(), e.order, 99, most, func(order []int) float64 {
				_, most := e.best(order)
				return most
			})
			if found {
				exact++
			}
		}
	}
	t.Logf("of %d changes, rounded values show %d, all values %d", 3*series, rounded, exact)
	if float64(rounded) < 0.9*float64(exact) || exact == 3*series || exact < series {
		t.Errorf("of %d changes, rounded values show %d, all values %d", 3*series, rounded, exact)
	}
}

// Levels keep equal values together, in their order, and count all of them.
func TestRoundedLevels(t *testing.T) {
	x := append(slices.Repeat([]float64{3, 1, 2}, 200), 100)
	r := newRounded(newEnergy(x, 5))
	if want := []float64{200, 400, 600, 601}; !slices.Equal(r.upTo, want) {
		t.Errorf("values up to each level: %v, want %v", r.upTo, want)
	}
	if got := r.order[:4]; !slices.Equal(got, []uint8{2, 0, 1, 2}) {
		t.Errorf("levels %v", got)
	}
}

// Both ends are tried at every split, and the middle at steps.
func TestSplitsOf(t *testing.T) {
	got := splitsOf(1000, 5)
	if len(got) > 300 || !slices.IsSorted(got) || !slices.Contains(got, 6) || !slices.Contains(got, 994) || got[0] != 5 || got[len(got)-1] != 995 {
		t.Errorf("%d splits: %v", len(got), got)
	}
	for i := 1; i < len(got); i++ {
		if short := min(got[i], 1000-got[i-1]); got[i] <= got[i-1] || got[i]-got[i-1] > 1+int(2*splitsStep*float64(short)) {
			t.Errorf("from %d to %d", got[i-1], got[i])
		}
	}
	if got := splitsOf(20, 10); !slices.Equal(got, []int{10}) {
		t.Errorf("only one split: %v", got)
	}
}
