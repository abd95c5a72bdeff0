package main

import (
	"math"
	"os"
	"path/filepath"
	"testing"
)

// TestMeasuredBroadcasts: the median over rounds of the medians of a round, of the broadcasts over all hosts.
func TestMeasuredBroadcasts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "samples.jsonl")
	const text = `{"schema":"calib.samples/1","run":"r","seed":1,"plan":"p","hosts":[{"name":"h0"}]}
{"exp":"bcast","phase":"binomial","point":{"bytes":64,"hosts":8},"ranks":[0],"round":0,"slot":0,"part":0,"parts":4,"ns":[1000,3000,9000]}
{"exp":"bcast","phase":"binomial","point":{"bytes":64,"hosts":8},"ranks":[0],"round":1,"slot":0,"part":1,"parts":4,"ns":[5000]}
{"exp":"bcast","phase":"binomial","point":{"bytes":64,"hosts":8},"ranks":[0],"round":2,"slot":0,"part":2,"parts":4,"ns":[70000,70000]}
{"exp":"bcast","phase":"binomial","point":{"bytes":64,"hosts":4},"ranks":[0],"round":2,"slot":0,"part":3,"parts":4,"ns":[1]}
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := measuredBroadcasts(path, 8)
	if err != nil || len(got.times) != 1 || math.Abs(got.times[64]-5e-6) > 1e-15 {
		t.Errorf("%v, %v: want 5 µs for 64 B", got.times, err)
	}
	if _, err := measuredBroadcasts(path, 16); err == nil {
		t.Error("no broadcast over 16 hosts, and no error")
	}
}

func TestJudgeTraffic(t *testing.T) {
	m := traffic{label: "test", times: map[int]float64{1: 1, 2: 1, 3: 1}}
	for _, c := range []struct {
		got map[int]float64
		ok  bool
	}{
		{map[int]float64{1: 1, 2: 0.96, 3: 1.09}, true}, {map[int]float64{1: 1, 2: 1, 3: 1.11}, false},
		{map[int]float64{1: 1.06, 2: 0.94, 3: 1.06}, false}, {map[int]float64{1: 1, 2: 1}, false},
	} {
		if err := m.judge(c.got); (err == nil) != c.ok {
			t.Errorf("%v: %v, want ok %t", c.got, err, c.ok)
		}
	}
}
