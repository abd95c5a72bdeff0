package fit

import (
	"testing"

	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/params"
)

// Timings between hosts that share a CPU are used where there are no others, and are not missed where there are.
func TestPairsOnOneCPU(t *testing.T) {
	d := &dataset.Dataset{}
	for _, cpu := range []string{"0", "1", "0"} {
		d.Header.Hosts = append(d.Header.Hosts, dataset.Host{Boot: "m", CPU: cpu})
	}
	for _, ranks := range [][]int{{0, 2}, {0, 1}, {2, 0}} {
		d.Samples = append(d.Samples, dataset.Sample{Exp: names.Pingpong, Point: dataset.Point{names.FactorBytes: 1},
			Ranks: ranks, NS: []int64{1000, 1001}})
	}
	used := func() (*Result, []*Batch) {
		r := Prepare(d, Settings{}).New("hockney", names.Pingpong, "")
		b := r.Usable(r.Prepared.LineBatches(names.Pingpong, ""))
		r.Account(b)
		return r, b
	}
	r, b := used()
	if len(b) != 1 || b[0].Lines[0].Ranks[1] != 1 || r.LeftOutWhy[WhyOneCPU] != 4 {
		t.Errorf("used %d batches, left out %v", len(b), r.LeftOutWhy)
	}
	for _, f := range r.Findings {
		if f.Code == params.ManyLeftOut {
			t.Error(f)
		}
	}
	d.Samples = append(d.Samples[:1], d.Samples[2])
	if r, b = used(); len(b) != 2 || r.LeftOut != 0 {
		t.Errorf("where there are no others: used %d batches, left out %v", len(b), r.LeftOutWhy)
	}
}

// What was sent again between hosts that share a CPU is not lost: it would not have been used.
func TestLossOnOneCPU(t *testing.T) {
	d := &dataset.Dataset{}
	for _, cpu := range []string{"0", "1", "0"} {
		d.Header.Hosts = append(d.Header.Hosts, dataset.Host{Boot: "m", CPU: cpu})
	}
	for _, ranks := range [][]int{{0, 2}, {0, 1}, {2, 0}, {1, 2}} {
		d.Samples = append(d.Samples, dataset.Sample{Exp: names.Pingpong, Point: dataset.Point{names.FactorBytes: 1},
			Ranks: ranks, NS: []int64{1000, 1001}, Flags: []string{dataset.FlagRetrans}})
	}
	used := func() (*Result, int) {
		r := Prepare(d, Settings{}).New("hockney", names.Pingpong, "")
		return r, len(r.Usable(r.Prepared.LineBatches(names.Pingpong, "")))
	}
	d.Samples[1].Flags = nil
	if r, n := used(); n != 1 || r.LeftOutWhy[WhyOneCPU] != 4 || r.LeftOutWhy[dataset.FlagRetrans] != 2 {
		t.Errorf("used %d batches, left out %v", n, r.LeftOutWhy)
	}
	d.Samples[0].Flags, d.Samples[1].Flags = nil, d.Samples[2].Flags
	if r, n := used(); n != 1 || r.LeftOutWhy[WhyOneCPU] != 0 || r.LeftOutWhy[dataset.FlagRetrans] != 6 {
		t.Errorf("where all others lost something: used %d batches, left out %v", n, r.LeftOutWhy)
	}
}
