package lab

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"calib/internal/netspec"
	"calib/internal/units"
)

func TestBuckets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ns := rapid.Int64Range(0, 1<<40-1).Draw(t, "ns")
		b := bucketOf(ns)
		if up := upper(b); ns > up || float64(up) > float64(ns)*1.125+1 || bucketOf(up) != b ||
			bucketOf(up+1) != min(b+1, buckets-1) {
			t.Fatalf("%d ns is in bucket %d, up to %d", ns, b, up)
		}
	})
	if bucketOf(1<<62) != buckets-1 {
		t.Error("the last bucket takes all that is longer")
	}
}

func TestQuantiles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		times := rapid.SliceOfN(rapid.Int64Range(0, 1e10), 1, 200).Draw(t, "times")
		var h histogram
		for _, ns := range times {
			h.add(ns)
		}
		all := h.lateness()
		slices.Sort(times)
		for _, q := range []float64{0, 0.5, 0.9, 0.99, 1} {
			exact := times[max(0, int(q*float64(len(times))+0.999999)-1)]
			if got := all.quantile(q); got < exact || float64(got) > float64(exact)*1.125+1 {
				t.Fatalf("quantile %g is %d, exactly %d", q, got, exact)
			}
		}
	})
	if none := (&histogram{}).lateness(); none.P50 != 0 || none.Max != 0 {
		t.Error("quantile of nothing")
	}
}

func TestHistogramJSON(t *testing.T) {
	var h histogram
	h.add(-5)
	h.add(100)
	h.add(70_000)
	l := h.lateness()
	if l.Count != 3 || l.quantile(1) != 70_000 || l.Max != 70_000 || l.above(50_000) != 1 || l.above(80_000) != 0 {
		t.Errorf("counts: %+v", l)
	}
	text, err := json.Marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"count":3,"p50_ns":103,"p99_ns":70000,"p999_ns":70000,"max_ns":70000,"buckets_ns":[[0,1],[103,1],[73727,1]]}`
	if string(text) != want {
		t.Errorf("written as %s", text)
	}
	var back Lateness
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(l, back); diff != "" {
		t.Error(diff)
	}
}

func TestJudge(t *testing.T) {
	with := func(n int, late ...int64) Stats {
		var h histogram
		for range n {
			h.add(200)
		}
		for _, ns := range late {
			h.add(ns)
		}
		return Stats{Tolerated: 30 * units.Microsecond, Lateness: h.lateness()}
	}
	for _, c := range []struct {
		name  string
		stats Stats
		late  string // part of the reason; "" is on time
	}{
		{"nothing moved", Stats{}, ""},
		{"on time", with(1000), ""},
		{"5% at 40 µs", with(950, slices.Repeat([]int64{40_000}, 50)...), ""},
		{"6% at 40 µs", with(940, slices.Repeat([]int64{40_000}, 60)...), "60 of 1000 packets were more than 30 µs late, " +
			"5% may be"},
		{"one stall in a short run", with(100, 3_000_000), ""},
		{"2% at 3 ms", with(980, slices.Repeat([]int64{3_000_000}, 20)...), "20 of 1000 packets were more than 1 ms late"},
		{"one at 300 ms", with(100_000, 300_000_000), "more than 200 ms late, 0% may be"},
		{"no memory", Stats{Overruns: 3}, "no memory for 3 packets"},
	} {
		v := Judge(c.stats)
		if v.Late != (c.late != "") || !strings.Contains(v.String(), c.late) ||
			v.Late != strings.HasPrefix(v.String(), "LATE") {
			t.Errorf("%s: %v", c.name, v)
		}
	}
}

func TestTolerated(t *testing.T) {
	for name, want := range map[string]units.Nanos{"switch:4": 50_000, "sparc1994:4": 71_000, "hku2000:4": 38_000} {
		spec, err := netspec.Resolve(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := tolerated(spec); got < want-2_000 || got > want+2_000 {
			t.Errorf("%s: %v, want about %v", name, got, want)
		}
	}
}

func TestPool(t *testing.T) {
	const size, limit = 1500, firstBuffers + 64
	p := newPool(size, limit*size+size/2)
	var all []int32
	for {
		n, ok := p.get()
		if !ok {
			break
		}
		b := p.buffers[n]
		b[0], b[size-1] = byte(n), byte(n>>8)
		all = append(all, n)
	}
	if len(all) != limit {
		t.Fatalf("%d buffers, want %d", len(all), limit)
	}
	for _, n := range all {
		if b := p.buffers[n]; len(b) != size || b[0] != byte(n) || b[size-1] != byte(n>>8) {
			t.Fatalf("buffer %d is not its own", n)
		}
	}
	p.put(all[7])
	if n, ok := p.get(); !ok || n != all[7] {
		t.Error("a buffer given back is not handed out")
	}
}
