package coord_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"calib/agent/simagent"
	"calib/bench"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/netspec"
	"calib/internal/plane"
	"calib/run/coord"
	"calib/transport/sim"
)

// TestProbeOfSimulated: what a probe says of simulated networks is what their presets say.
func TestProbeOfSimulated(t *testing.T) {
	for preset, want := range map[string]struct{ latency, perByte float64 }{ // µs, ns
		"sparc1994": {2060, 1460}, // a + a_c and b + b_c of the paper
		"switch":    {1000, 600},
	} {
		spec, err := netspec.Preset(preset, 8)
		if err != nil {
			t.Fatal(err)
		}
		var agents []coord.Agent
		for _, a := range simagent.New(*spec, sim.Options{Seed: 1}) {
			agents = append(agents, a)
		}
		p, err := coord.Probe(t.Context(), agents, "test", 1, 0, 0, time.Now)
		if err != nil {
			t.Fatal(err)
		}
		if p.AtOnce != 4 || p.Pairs < 1 || p.Loss != 0 || p.Segment <= 0 || !p.Path().Known() {
			t.Errorf("%s: %+v", preset, p)
		}
		if math.Abs(p.PerByte/want.perByte-1) > 0.15 || math.Abs(p.Latency.Seconds()*1e6/want.latency-1) > 0.15 {
			t.Errorf("%s: %+v, want %+v", preset, p, want)
		}
	}
}

// looked is an agent that answers a probe: a byte takes 20 µs, and a byte of a burst 1 ns, times what it is slowed by
// when several pairs are asked at once.
type looked struct {
	slowed float64
	spared bool // the pair of host 0 is not slowed
	calls  *atomic.Int64
	fail   error
}

// aloneCalls is how often the agents of two pairs are asked alone, each twice.
const aloneCalls = 2 * 2 * 2

func (looked) Hello(context.Context, bool) (dataset.Host, error) { return dataset.Host{}, nil }
func (looked) Prepare(context.Context, plane.Session) error      { return nil }
func (looked) Close() error                                      { return nil }

func (a looked) Run(_ context.Context, t bench.Task) ([]dataset.Sample, error) {
	if a.calls.Add(1) <= aloneCalls || a.spared && slices.Contains(t.Team, 0) {
		a.slowed = 1
	}
	if a.fail != nil || t.Rank == 1 {
		return nil, a.fail
	}
	line := func(phase string, ns int64) dataset.Sample {
		return dataset.Sample{Exp: t.Exp, Phase: phase, Ranks: t.Team, NS: []int64{ns},
			Aux: map[string]float64{names.AuxBytes: 1e6},
			TCP: &dataset.TCP{MSS: 1448, DataSegsOut: 1000, Retrans: 10}}
	}
	return []dataset.Sample{line(names.PhaseTrip, int64(20_000*a.slowed)),
		line(names.PhaseRate, int64(40_000+1e6*a.slowed))}, nil
}

// TestAbreast: pairs look at once where some are not slowed by the others; else as many as fill the network do.
func TestAbreast(t *testing.T) {
	for _, c := range []struct {
		probed coord.Probed
		want   int
	}{
		{coord.Probed{AtOnce: 8, Slower: 1.05, Least: 1}, math.MaxInt},
		{coord.Probed{AtOnce: 8, Slower: 2, Least: 1}, math.MaxInt},
		{coord.Probed{}, 1},
		{coord.Probed{AtOnce: 8, Slower: 5.2, Least: 5}, 1}, // a hub
		{coord.Probed{AtOnce: 32, Slower: 4.4, Least: 4}, 7},
		{coord.Probed{AtOnce: 500, Slower: 4, Least: 1.2}, 125}, // uplinks of a quarter of the rate
		{coord.Probed{AtOnce: 2, Slower: 8927, Least: 8000}, 1},
	} {
		if got := c.probed.Abreast(); got != c.want {
			t.Errorf("%+v: %d, want %d", c.probed, got, c.want)
		}
	}
}

// severed is an agent whose pairs with host 0 fail.
type severed struct{ looked }

func (a severed) Run(ctx context.Context, t bench.Task) ([]dataset.Sample, error) {
	if slices.Contains(t.Team, 0) {
		return nil, errors.New("cut")
	}
	return a.looked.Run(ctx, t)
}

// TestProbePassesOver: a pair that fails does not keep the others from being looked at, alone and at once.
func TestProbePassesOver(t *testing.T) {
	for seed := range uint64(4) {
		a := severed{looked{slowed: 1, calls: new(atomic.Int64)}}
		p, err := coord.Probe(t.Context(), []coord.Agent{a, a, a, a, a, a}, "test", seed, 0, 0,
			func() time.Time { return time.Unix(1e9, 0) })
		if err != nil || p.Pairs != 2 || p.AtOnce != 2 || !p.Together {
			t.Errorf("seed %d: %+v, %v", seed, p, err)
		}
	}
}

// TestProbeTells: pairs that are slower at once than alone are not measured side by side, and share a medium if all of
// them are; loss is seen; a host that does not answer is an error.
func TestProbeTells(t *testing.T) {
	still := time.Unix(1e9, 0)
	probe := func(a looked) (*coord.Probed, error) {
		a.calls = new(atomic.Int64)
		return coord.Probe(t.Context(), []coord.Agent{a, a, a, a}, "test", 1, 0, 0, func() time.Time { return still })
	}
	p, err := probe(looked{slowed: 1})
	if err != nil || !p.Together || p.Shared() || p.Slower != 1 || p.Latency != 20_000 || math.Abs(p.PerByte-1) > 1e-9 ||
		p.Loss != 0.01 || p.Segment != 1448 || p.Pairs != 2 {
		t.Errorf("%+v, %v", p, err)
	}
	if p, err := probe(looked{slowed: 1.5}); err != nil || p.Together || !p.Shared() ||
		math.Abs(p.Slower-1.5) > 0.02 || p.Latency != 20_000 {
		t.Errorf("disturbed: %+v, %v", p, err)
	}
	if p, err := probe(looked{slowed: 2, spared: true}); err != nil || p.Together || p.Shared() {
		t.Errorf("one of two pairs is disturbed: %+v, %v", p, err)
	}
	if _, err := probe(looked{slowed: 1, fail: errBroken}); !errors.Is(err, errBroken) {
		t.Errorf("error %v", err)
	}
}
