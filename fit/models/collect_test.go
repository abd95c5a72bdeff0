package models

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"calib/fit"
	"calib/fit/hyperbolic"
	"calib/internal/dataset"
	"calib/params"
)

func TestCollect(t *testing.T) {
	fits := sparcFits()
	d := sparcDataset()
	d.Header.Hosts[3].Version = "v0.0.9"
	p := fit.Collect(fit.Prepare(d, fit.Settings{}), fits)
	if got := slices.Sorted(maps.Keys(p.Parameters)); !slices.Equal(got,
		[]string{"a", "a_c", "b", "b_c", "r_inf", "t_clock"}) {
		t.Errorf("parameters %q", got)
	}
	if p.Parameters["a"].Model != "hyperbolic-network" {
		t.Errorf("a belongs to %s", p.Parameters["a"].Model)
	}
	written, err := params.Decode(bytes.NewReader(encodeParams(t, p)))
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Pairs) != 28 || len(written.Pairs) != 28 || written.Fits[1].Pairs != nil || len(fits[1].Pairs) != 28 {
		t.Error("pairs are listed once, and the fit given keeps its own")
	}
	if r := p.Run; r.Rounds != 5 || r.Batches != 20 || r.Timings != 60 || len(r.Hosts) != 8 {
		t.Errorf("run %+v", r)
	}
	if len(p.Findings) != 1 || !warns(p.Findings, params.MixedVersions, `["v0.0.9" "v0.1.0"]`) {
		t.Errorf("findings %v", p.Findings)
	}
	if p.Network == nil || *p.Network != (params.Network{Packets: params.Shared, Streams: params.Shared}) {
		t.Errorf("network %v, want that of the one fit that tells", p.Network)
	}
	want := []string{"cpu.model", "kernel", "tcp.congestion"}
	if got := slices.Sorted(maps.Keys(p.Environment.Common)); !slices.Equal(got, want) {
		t.Errorf("common %q, want %q", got, want)
	}
	governor := p.Environment.Differences["cpu.governor"]
	if _, there := governor["h7"]; there || len(governor) != 7 {
		t.Errorf("governor %v: h7 did not report one", governor)
	}
	if p.Environment.Differences["nic.mtu"]["h5"] != "9000" {
		t.Errorf("mtu %v", p.Environment.Differences["nic.mtu"])
	}
	if empty := fit.Collect(fit.Prepare(&dataset.Dataset{}, fit.Settings{}), nil); validate(t,
		encodeParams(t, empty)) != nil {
		t.Error("an empty collection does not match the schema")
	}
}

// No host is called slow in ordinary noise.
func TestNoSlowHost(t *testing.T) {
	for seed := range uint64(20) {
		w := sparc()
		w.Hosts, w.Seed, w.Between, w.Within, w.Reps = 6, seed+1, 0.03, 0.1, 9
		w.Sizes = []float64{1, 1000, 100000}
		if slow := fit.Prepare(w.Dataset(), fit.Settings{}).Slow(); len(slow.Findings) > 0 {
			t.Errorf("seed %d: %v", seed+1, slow.Findings)
		}
	}
}

func TestDisturbed(t *testing.T) {
	for _, tc := range []struct {
		flagged, want int // rounds of six
	}{{1, 1}, {3, 0}} {
		w := sparc()
		w.Hosts, w.Rounds = 2, 6
		d := w.Dataset()
		for i := range d.Samples {
			if s := &d.Samples[i]; s.Exp == "pingpong" && s.Round < tc.flagged {
				s.Flags = []string{dataset.FlagPreempt}
			}
		}
		f := fitWith(t, hyperbolic.Hockney, d, 200)
		if got := f.LeftOutWhy[dataset.FlagPreempt]; got != tc.want*15*w.Reps {
			t.Errorf("%d rounds of 6 preempted: %d timings left out", tc.flagged, got)
		}
		if notes(f.Findings, params.DisturbedTimings, "preempted") != (tc.want == 0) ||
			warns(f.Findings, params.ManyLeftOut, "left out") != (tc.want > 0) {
			t.Errorf("%d rounds of 6 preempted: findings %v", tc.flagged, f.Findings)
		}
	}
}

func TestSizeName(t *testing.T) {
	for n, want := range map[int64]string{0: "0B", 1: "1B", 1449: "1449B", 1024: "1KiB", 65536: "64KiB", 1 << 20: "1MiB",
		1536 << 10: "1536KiB"} {
		if got := fit.SizeName(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}

// What models share is made once, whoever asks first, and so is its error.
func TestShared(t *testing.T) {
	p := fit.Prepare(&dataset.Dataset{}, fit.Settings{})
	var made atomic.Int32
	failed := errors.New("failed")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			v, err := fit.Shared(p, func(*fit.Prepared) (int, error) { return int(made.Add(1)), failed })
			if v != 1 || !errors.Is(err, failed) {
				t.Errorf("%d, %v: want what the first made, and its error", v, err)
			}
		})
	}
	wg.Wait()
	if v, err := fit.Shared(p, func(*fit.Prepared) (string, error) { return "other", nil }); v != "other" || err != nil {
		t.Errorf("another type: %q, %v", v, err)
	}
}
