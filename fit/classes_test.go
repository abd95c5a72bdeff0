package fit

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"calib/fit/fault"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/params"
)

// TestHostCosts: a of a kind of hosts is (T(1 B) − a_c)/2, wherever a_c is in its interval.
func TestHostCosts(t *testing.T) {
	ac := 10e-6
	all := &params.Params{Parameters: map[string]params.Parameter{
		"a_c": {Value: &ac, CI95: &[2]float64{9e-6, 15e-6}, Status: params.StatusOK}}}
	c := params.Class{Parameters: map[string]params.Parameter{}}
	hostCosts(&c, params.Residual{Measured: 110e-6, Lo: 109e-6, Hi: 111e-6}, all)
	if v := c.Parameters["a"].Value; v == nil || math.Abs(*v-50e-6) > 1e-12 {
		t.Errorf("%+v", c.Parameters["a"])
	}
}

// TestClassesLeaveSlowHostsOut: a slow host is in no class, and what parts the classes leaves no pair out of its own.
func TestClassesLeaveSlowHostsOut(t *testing.T) {
	d := &dataset.Dataset{}
	for a := range 4 {
		d.Header.Hosts = append(d.Header.Hosts, dataset.Host{Name: fmt.Sprint(a)})
		for b := range a {
			d.Samples = append(d.Samples, dataset.Sample{Exp: names.Pingpong, Point: dataset.Point{names.FactorBytes: 1},
				Ranks: []int{b, a}, NS: []int64{1000}})
		}
	}
	var used []int // lines of each class
	counting := Model{Needs: []string{names.Pingpong}, Fit: func(p *Prepared) (*params.Fit, error) {
		used = append(used, len(p.New("counting", names.Pingpong, "").Lines(names.Pingpong, "")))
		return nil, ErrNeeds
	}}
	halves := [][]int{{0, 1}, {2, 3}}
	for _, c := range []struct {
		judged fault.Judgement
		want   string
	}{{fault.Judgement{Groups: halves, Apart: 2}, "[1 2]"}, {fault.Judgement{Kinds: [][]int{{0, 1}, {2, 3}}}, "[1 1]"}} {
		p := Prepare(d, Settings{})
		slow := &SlowHosts{Hosts: map[int]bool{3: true}, judged: c.judged, group: fault.Numbers(c.judged.Groups),
			kind: fault.Numbers(c.judged.Kinds)}
		p.Slow = func() *SlowHosts { return slow }
		used = nil
		p.classify([]Model{counting}, &params.Params{})
		if got := fmt.Sprint(used); got != c.want {
			t.Errorf("%+v: %s lines of the classes are used, want %s", c.judged, got, c.want)
		}
	}
}

// A slow pair that no model has entered is named all the same.
func TestSlowPairIsNamed(t *testing.T) {
	d := &dataset.Dataset{Header: dataset.Header{Hosts: []dataset.Host{{Name: "a"}, {Name: "b"}, {Name: "c"}}}}
	p := Prepare(d, Settings{})
	slow := &SlowHosts{Pairs: map[[2]int]bool{{0, 1}: true, {1, 2}: true},
		why: map[[2]int]string{{0, 1}: "loss", {1, 2}: "rate"}}
	p.Slow = func() *SlowHosts { return slow }
	out := &params.Params{Pairs: []params.Pair{{From: "b", To: "a"}}}
	p.addSlow(out)
	want := []params.Pair{{From: "b", To: "a", Slow: "loss"}, {From: "b", To: "c", Slow: "rate"}}
	if !slices.Equal(out.Pairs, want) {
		t.Errorf("%+v", out.Pairs)
	}
}
