package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// slowSplit is the statistic by its definition.
func slowSplit(x []float64, segment int) (at int, most float64) {
	mean := func(a, b []float64) float64 {
		sum := 0.0
		for _, u := range a {
			for _, v := range b {
				sum += math.Abs(u - v)
			}
		}
		return sum
	}
	for t := segment; t <= len(x)-segment; t++ {
		a, b := x[:t], x[t:]
		m, n := float64(len(a)), float64(len(b))
		q := m * n / (m + n) * (2*mean(a, b)/(m*n) - mean(a, a)/(m*(m-1)) - mean(b, b)/(n*(n-1)))
		if q > most {
			at, most = t, q
		}
	}
	return at, most
}

func TestEnergyIsItsDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SliceOfN(rapid.Float64Range(-100, 100), 4, 40).Draw(t, "x")
		e := newEnergy(x, 2)
		at, got := e.best(e.order)
		wantAt, want := slowSplit(x, 2)
		if math.Abs(got-want) > 1e-9*(1+want) || (at != wantAt && want > 1e-6 && math.Abs(got-want) > 1e-12*want) {
			t.Fatalf("split at %d: %v, want %d: %v", at, got, wantAt, want)
		}
	})
}

// series is noise of relative spread sd around the levels, each for so many values.
func levels(seed uint64, sd float64, each int, level ...float64) []float64 {
	rng := rand.New(rand.NewPCG(seed, 1))
	var out []float64
	for _, l := range level {
		for range each {
			out = append(out, l*(1+sd*rng.NormFloat64()))
		}
	}
	return out
}

func indexes(c []ChangePoint) []int {
	var out []int
	for _, p := range c {
		out = append(out, p.Index)
	}
	return out
}

func TestEDivisive(t *testing.T) {
	up := levels(1, 0.02, 30, 1, 1.2, 0.9)
	holes := slices.Insert(slices.Clone(up), 10, math.NaN(), math.Inf(1))
	spikes := levels(2, 0.02, 60, 1)
	for i := 7; i < len(spikes); i += 20 {
		spikes[i] *= 3
	}
	for name, c := range map[string]struct {
		x    []float64
		o    ChangeOptions
		want []int
	}{
		"two changes":       {up, ChangeOptions{}, []int{30, 60}},
		"negative":          {levels(1, 0.02, 30, -1, -1.2), ChangeOptions{}, []int{30}},
		"values missing":    {holes, ChangeOptions{}, []int{32, 62}},
		"too small to act":  {levels(1, 0.01, 30, 1, 1.04), ChangeOptions{}, nil},
		"small ones wanted": {levels(1, 0.01, 30, 1, 1.04), ChangeOptions{Effect: -1}, []int{30}},
		"spikes":            {spikes, ChangeOptions{}, nil},
		"too short":         {[]float64{1, 1, 1, 1, 9, 9, 9, 9, 9}, ChangeOptions{}, nil},
		"long segments":     {up, ChangeOptions{Segment: 40}, nil},
		"constant":          {slices.Repeat([]float64{3}, 50), ChangeOptions{}, nil},
		"a step from 0":     {append(make([]float64, 10), slices.Repeat([]float64{1}, 10)...), ChangeOptions{}, []int{10}},
		"only the newest":   {up, ChangeOptions{Newest: 45}, []int{60}},
		"nothing":           {nil, ChangeOptions{}, nil},
		"nothing but holes": {[]float64{math.NaN(), math.Inf(-1)}, ChangeOptions{}, nil},
		"huge values differ": {append(slices.Repeat([]float64{1e300}, 10), slices.Repeat([]float64{2e300}, 10)...),
			ChangeOptions{}, []int{10}},
	} {
		if got := indexes(EDivisive(c.x, c.o)); name != "long segments" && !slices.Equal(got, c.want) {
			t.Errorf("%s: changes at %v, want %v", name, got, c.want)
		} else if name == "long segments" && len(got) > 1 {
			t.Errorf("%s: changes at %v", name, got)
		}
	}
	got := EDivisive(up, ChangeOptions{})
	if c := got[0]; math.Abs(c.Effect-0.2) > 0.02 || math.Abs(c.Before-1) > 0.02 || math.Abs(c.After-1.2) > 0.02 ||
		c.P > 0.01 {
		t.Errorf("the first change is %+v", c)
	}
}

// Alone on noise, the search without the filter splits at its level: with many permutations, and with few.
func TestEDivisiveLevel(t *testing.T) {
	for _, c := range []struct{ length, series, least, most int }{
		{40, 1000, 30, 72}, {fewValues + 1, 500, 10, 41}, // 5% ± 3.2 standard deviations
	} {
		split := 0
		for i := range uint64(c.series) {
			if len(EDivisive(levels(100+i, 0.02, c.length, 1), ChangeOptions{Effect: -1, Alpha: 0.05})) > 0 {
				split++
			}
		}
		if split < c.least || split > c.most {
			t.Errorf("%d of %d series of %d values without a change were split at 5%%", split, c.series, c.length)
		}
	}
}

// A search of 10,000 values ends: these bound the splits, not the clock.
func TestEDivisiveLong(t *testing.T) {
	got := EDivisive(levels(3, 0.02, 1000, 1, 1.1, 1, 1.1, 1, 1.1, 1, 1.1, 1, 1.1), ChangeOptions{})
	if len(got) != 9 {
		t.Errorf("%d changes: %v", len(got), indexes(got))
	}
}

func BenchmarkEDivisive(b *testing.B) {
	for name, x := range map[string][]float64{
		"500/none":    levels(1, 0.02, 500, 1),
		"500/four":    levels(1, 0.02, 100, 1, 1.1, 1, 1.1, 1),
		"10000/none":  levels(1, 0.02, 10000, 1),
		"10000/nine":  levels(1, 0.02, 1000, 1, 1.1, 1, 1.1, 1, 1.1, 1, 1.1, 1, 1.1),
		"10000/trend": trend(10000),
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				EDivisive(x, ChangeOptions{})
			}
		})
	}
}

// trend is the worst case: everywhere a change.
func trend(n int) []float64 {
	out := levels(1, 0.001, n, 1)
	for i := range out {
		out[i] *= 1 + float64(i)/float64(n)
	}
	return out
}
