package tuned

import (
	"math"
	"slices"
	"strings"
	"testing"

	"calib/bench/pattern"
	"calib/params"
	"calib/predict"
	"calib/reports/export"
)

const us = 1e-6

// run is a shared medium, as the Ethernet of sparc1994, with intervals of so much on both sides, and patterns that were
// predicted with an error.
func run(half float64, validation ...params.Validation) *params.Params {
	p := &params.Params{Parameters: map[string]params.Parameter{}, Functions: map[string]params.Function{},
		Validation: validation,
		Network:    &params.Network{Packets: params.Shared, Streams: params.Shared}}
	p.Run.Hosts = []string{"0", "1", "2", "3", "4", "5", "6", "7"}
	for name, v := range map[string]float64{"a": 860 * us, "a_c": 346 * us, "b": 1.42 * us, "b_c": 0.92 * us,
		"packet": 1448} {
		q := params.Parameter{Value: &v, Status: params.StatusOK}
		if half > 0 && name != "packet" {
			q.CI95 = &[2]float64{v * (1 - half), v * (1 + half)}
		}
		p.Parameters[name] = q
	}
	return p
}

// graded is a pattern that was predicted with a relative error.
func graded(name string, e float64) params.Validation {
	return params.Validation{Model: predict.Sim, Pattern: name, Hosts: 8, Bytes: 1024, Predicted: 1 - e, Measured: 1,
		Error: e}
}

// decided returns the decision on a collective on eight hosts for some bytes.
func decided(t *testing.T, p *params.Params, collective string, bytes int) Decision {
	t.Helper()
	_, all, err := Rules(p, []int{8}, []int{bytes})
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(all, func(d Decision) bool { return d.Collective == collective })
	return all[i]
}

// What is taken instead of the default, and why the default stands.
func TestDecisions(t *testing.T) {
	good := graded("gather-direct", 0.01)
	for _, c := range []struct {
		name, collective string
		bytes            int
		p                *params.Params
		fastest, why     string
	}{
		// On a medium that all share, a gather down a tree carries blocks up to three times.
		{"sure", "gather", 8192, run(0.01, good), "basic_linear", ""},
		{"half of the vector for each pair", "allreduce", 4096, run(0.01, good), "rabenseifner", ""},
		{"the default", "allreduce", 8192, run(0.01, good), "rabenseifner", "the default is the fastest"},
		{"graded poor", "gather", 8192, run(0.01, graded("gather-direct", 0.3)), "basic_linear",
			"does not predict gather on this network: validation is 30% off"},
		{"one bad size", "gather", 8192, run(0.01, good, good, good, graded("gather-direct", 0.3)), "basic_linear",
			"not sure"},
		{"errors below the gain", "bcast", 65536, run(0.01, good, good, good, graded("bcast-binary", 0.1)),
			"split_binary_tree, segments of 4096", ""},
		{"errors of other operations count", "gather", 8192, run(0.01, good, graded("mg-overlap", 0.6)), "basic_linear",
			"not sure"},
		{"never validated", "gather", 8192, run(0.01), "basic_linear", "not sure"},
		{"no intervals", "gather", 8192, run(0, good), "basic_linear", "the parameters have no intervals"},
	} {
		d := decided(t, c.p, c.collective, c.bytes)
		if d.Fastest != c.fastest || !strings.Contains(d.Why, c.why) || (c.why == "") != (d.Why == "") ||
			(d.Why == "") != (d.taken.Algorithm != 0) {
			t.Errorf("%s: %s, %q, want %s, %q", c.name, d, d.Why, c.fastest, c.why)
		}
		if d.Model != predict.Sim || d.From != c.bytes || d.To != 2*c.bytes-1 {
			t.Errorf("%s: model %s, %d to %d bytes", c.name, d.Model, d.From, d.To)
		}
	}
}

// Every list of rules begins where its decisions do, in the sizes that Open MPI looks up.
func TestRules(t *testing.T) {
	rules, all, err := Rules(run(0.01, graded("gather-direct", 0.01)), []int{8, 4, 8}, []int{4096, 64})
	if err != nil {
		t.Fatal(err)
	}
	if len(rules) != 2*len(export.Collectives()) || len(all) != 2*len(rules) {
		t.Fatalf("%d lists of %d decisions", len(rules), len(all))
	}
	for _, r := range rules {
		first, until := 64, 8191
		if r.Collective.Blocks {
			first, until = first*r.Ranks, 8192*r.Ranks-1
		}
		if len(r.Rules) != 2 || r.Rules[0].Bytes != first || r.Until != until || r.Rules[0].Note == "" {
			t.Errorf("%s on %d ranks: %+v", r.Collective.Name, r.Ranks, r)
		}
	}
	if _, _, err := Rules(&params.Params{}, []int{8}, []int{64}); err == nil {
		t.Error("rules without parameters")
	}
}

// A default that changes within a range, or whose messages are no pattern, stands.
func TestUnknownDefault(t *testing.T) {
	_, all, err := Rules(run(0.01, graded("gather-direct", 0.01)), []int{8}, []int{64, 6000})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range all {
		if d.Collective == "bcast" && d.From == 64 && !strings.Contains(d.Why, "changes within") {
			t.Errorf("%+v", d)
		}
	}
	c := collective(t, "allreduce")
	if _, ok := schedule(c, Default(c, 200, 1000), 200, 1000); ok {
		t.Error("nonoverlapping is a pattern")
	}
	if _, ok := schedule(c, Option{Algorithm: 4}, 8, 100); ok {
		t.Error("a ring of 100 bytes, which may be fewer elements than ranks")
	}
}

// TestOverTCP: short messages get a header; long ones come in two parts, with an acknowledgement between.
func TestOverTCP(t *testing.T) {
	p, err := pattern.Find("alltoall", "pairwise")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ bytes, messages, sent int }{
		{1, 1, 1 + header}, {eager, 1, eager + header}, {eager + 1, 3, eager + 1 + 3*header}, {1 << 20, 3, 1<<20 + 3*header},
	} {
		s, err := pattern.Of(overTCP(p), 3, c.bytes)
		if err != nil {
			t.Fatal(err)
		}
		for w, x := range sent(s) {
			if want := (sums{c.messages, c.sent}); w.from != w.to && x != want {
				// Each rank also acknowledges what it receives of the other, on the same way as its own messages.
				t.Errorf("%d bytes, %d to %d: %+v, want %+v", c.bytes, w.from, w.to, x, want)
			}
		}
	}
}

// The times of both ends decide: an option that is faster at one end only is not taken.
func TestGain(t *testing.T) {
	d := decided(t, run(0.01, graded("gather-direct", 0.01)), "gather", 8192)
	if !(d.FastestSeconds < d.DefaultSeconds) || d.CI95 == nil ||
		!(d.CI95[0] > minGain && d.CI95[0] <= d.Gain && d.Gain <= d.CI95[1]) {
		t.Errorf("%+v", d)
	}
	if math.Abs(d.Gain-(d.DefaultSeconds/d.FastestSeconds-1)) > 0.1 {
		t.Errorf("a gain of %g from %g s and %g s", d.Gain, d.DefaultSeconds, d.FastestSeconds)
	}
	if s := d.String(); !strings.Contains(s, " s by basic_linear instead of ") {
		t.Error(s)
	}
}

func collective(t *testing.T, name string) export.Collective {
	for _, c := range export.Collectives() {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("no collective %q", name)
	return export.Collective{}
}
