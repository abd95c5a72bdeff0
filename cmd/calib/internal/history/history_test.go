package history

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"calib/internal/history"
	"calib/internal/stats"
	"calib/params"
)

// stepTimeline is a metric of n runs that takes another level with run at; a negative at is none.
func stepTimeline(name, to string, n, at int, share float64) *timeline {
	t := &timeline{metric: history.Followed{Name: name, To: to, Unit: "s", Better: params.BetterLower}}
	if to != "" {
		t.metric.From = "a"
	}
	for i := range n {
		v := 1 + 0.001*float64(i*7%5)
		if at >= 0 && i >= at {
			v *= 1 + share
		}
		t.readings = append(t.readings, history.Reading{Run: fmt.Sprintf("r%02d", i), At: nightOf(i), Value: v})
	}
	t.search(nil)
	return t
}

func nightOf(i int) time.Time { return time.Date(2026, 1, 1+i, 2, 0, 0, 0, time.UTC) }

func namesOf(all []*timeline) []string {
	out := []string{}
	for _, t := range all {
		out = append(out, t.metric.Name+t.metric.To)
	}
	return out
}

func TestSearch(t *testing.T) {
	for _, c := range []struct {
		n, at int
		share float64
		want  []int
	}{{30, 12, 0.1, []int{12}}, {30, -1, 0, []int{}}, {30, 12, 0.02, []int{}}, {9, 4, 0.5, []int{}}, {0, -1, 0, []int{}}} {
		got := []int{}
		for _, found := range stepTimeline("m", "", c.n, c.at, c.share).changes {
			got = append(got, found.index)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%d runs, %+.0f%% at %d: changes at %v, want %v", c.n, 100*c.share, c.at, got, c.want)
		}
	}
}

func TestAcknowledge(t *testing.T) {
	ack := func(id int64, metric, link string, run int) history.Ack {
		return history.Ack{ID: id, Metric: metric, Link: link, Run: fmt.Sprintf("r%02d", run), At: nightOf(run),
			Reason: fmt.Sprint("reason ", id)}
	}
	for name, c := range map[string]struct {
		acks []history.Ack
		want int64 // that covers the change, 0 is none
	}{
		"none":                  {nil, 0},
		"its run":               {[]history.Ack{ack(1, "m", "", 12)}, 1},
		"within reach":          {[]history.Ack{ack(1, "", "", 7)}, 1},
		"beyond reach":          {[]history.Ack{ack(1, "", "", 6)}, 0},
		"the last":              {[]history.Ack{ack(1, "", "", 9), ack(2, "m", "", 17), ack(3, "", "", 18)}, 2},
		"of another metric":     {[]history.Ack{ack(1, "q", "", 12)}, 0},
		"of a link":             {[]history.Ack{ack(1, "", "a→b", 12)}, 0},
		"a run that is gone":    {[]history.Ack{{ID: 1, Run: "gone", At: nightOf(12).Add(-time.Hour), Reason: "x"}}, 1},
		"a run before all":      {[]history.Ack{{ID: 1, Run: "old", At: nightOf(-9), Reason: "x"}}, 0},
		"a run behind the last": {[]history.Ack{{ID: 1, Run: "new", At: nightOf(99), Reason: "x"}}, 0},
	} {
		m := stepTimeline("m", "", 30, 12, 0.1)
		m.acknowledge(c.acks)
		var got int64
		if a := m.changes[0].Ack; a != nil {
			got = a.ID
		}
		if got != c.want {
			t.Errorf("%s: acknowledgement %d covers the change, want %d", name, got, c.want)
		}
	}
}

// A page holds the network and the links that changed most; what is asked for comes first by its change.
func TestChoose(t *testing.T) {
	v := &survey{}
	for i := range maxFigures + 3 {
		at := -1
		if i > maxFigures {
			at = 6
		}
		v.network = append(v.network, stepTimeline(fmt.Sprintf("p%02d", i), "", 12, at, 0.2))
	}
	for i := range maxLinkFigures + 5 {
		v.links = append(v.links, stepTimeline("rate", fmt.Sprintf("h%02d", i), 12, 6, 0.1+0.01*float64(i)))
	}
	v.links = append(v.links, stepTimeline("rate", "steady", 12, -1, 0))
	got := namesOf(v.choose(false))
	if len(got) != maxFigures || got[0] != "p00" || got[maxFigures-maxLinkFigures-1] != fmt.Sprintf("p%d", maxFigures+2) {
		t.Errorf("not the network first, with what changed in it: %v", got)
	}
	if links := got[maxFigures-maxLinkFigures:]; links[0] != "rateh05" || links[maxLinkFigures-1] != "rateh16" {
		t.Errorf("not the links that changed most: %v", links)
	}
	if got := namesOf(v.choose(true)); len(got) != maxFigures || !slices.Contains(got, "rateh00") ||
		slices.Contains(got, "ratesteady") {
		t.Errorf("asked for: %v", got)
	}
	if got := namesOf((&survey{links: v.links[maxLinkFigures+5:]}).choose(true)); !slices.Equal(got,
		[]string{"ratesteady"}) {
		t.Errorf("a link without a change that was asked for: %v", got)
	}
}

func TestLinkWindow(t *testing.T) {
	for _, c := range [][3]int{{500, 0, 500}, {500, 400, 500}, {500, 1000, maxLinkReadings / 1000},
		{500, 8064, minLinkRuns}, {20, 80640, 20}} {
		if got := linkWindow(c[0], c[1]); got != c[2] {
			t.Errorf("%d runs, %d series of links: searched in %d runs, want %d", c[0], c[1], got, c[2])
		}
	}
}

func TestLogLines(t *testing.T) {
	events := []history.Event{{At: nightOf(1), Kind: history.EventAdded, Subject: "r1"},
		{At: nightOf(5), Kind: history.EventAdded, Subject: "r2"}}
	changes := []change{{At: nightOf(9), Metric: "late"},
		{At: nightOf(3), Metric: "early", Ack: &history.Ack{Reason: "new cards"}}}
	for last, want := range map[int][]string{0: {"r1", "early", "r2", "late"}, 2: {"r2", "late"},
		9: {"r1", "early", "r2", "late"}} {
		got := []string{}
		for _, l := range logLines(events, changes, last) {
			got = append(got, l.Subject)
		}
		if !slices.Equal(got, want) {
			t.Errorf("last %d: %v, want %v", last, got, want)
		}
	}
}

// Two units of one metric are two figures; infinite shares never reach JSON.
func TestFigures(t *testing.T) {
	a, b := stepTimeline("m", "", 12, 6, 0.2), stepTimeline("m", "", 12, -1, 0)
	b.metric.Unit = "B"
	f := figuresOf([]*timeline{a, b})
	if f[0].ID != "m" || f[1].ID != "m-2" {
		t.Errorf("IDs %q and %q", f[0].ID, f[1].ID)
	}
	inf := stats.ChangePoint{Index: 6, Before: 5e-324, After: 1}
	inf.Effect = inf.After / inf.Before
	if c := a.change(inf); c.Share != nil || c.percent() != "–" || c.Verdict != "worse" {
		t.Errorf("an infinite share: %+v", c)
	}
	if c := a.changes[0]; c.Share == nil || c.Run != "r06" || c.Verdict != "worse" {
		t.Errorf("a change of a fifth: %+v", c)
	}
}

// The figure of a metric says and marks its last change, and its levels meet.
func TestTimeline(t *testing.T) {
	m := stepTimeline("latency", "b", 20, 12, 0.1)
	m.metric.Label = "half round trip"
	m.readings[3].CI95 = &[2]float64{0.9, 1.1}
	m.acknowledge([]history.Ack{{ID: 1, Run: "r12", At: nightOf(12), Reason: "new cable"}})
	f := m.figure()
	if want := "20 runs, the last 1.103 s. 1 change of level, the last +10.1%, for the worse (p = "; !strings.HasPrefix(
		f.Says, want) || !strings.HasSuffix(f.Says, ") with run r12, acknowledged: new cable.") {
		t.Errorf("says %q", f.Says)
	}
	if len(f.Marks) != 1 || f.Marks[0].Label != "+10.1%; known: new cable" || f.Marks[0].X != float64(nightOf(12).Unix()) {
		t.Errorf("marks %+v", f.Marks)
	}
	if len(f.Traces) != 3 || f.Traces[0].Points[1].X != f.Traces[1].Points[0].X || f.Traces[2].Points[3].Hi != 1.1 ||
		f.Traces[0].Points[0].Y >= f.Traces[1].Points[0].Y || f.Title != "latency a→b: half round trip" {
		t.Errorf("%q: %+v", f.Title, f.Traces)
	}
	one := stepTimeline("m", "", 1, -1, 0)
	const flat = "1 run, the last 1 s; no change of level around the median of 1 s."
	if f := one.figure(); f.Says != flat || len(f.Traces) != 1 {
		t.Errorf("%q: %+v", f.Says, f.Traces)
	}
}

// What was fitted to other sizes is no change of level.
func TestSameSizes(t *testing.T) {
	var all []history.Reading
	for i, sizes := range []string{"1B..256KiB", "", "1B..4MiB", "1B..4MiB"} {
		all = append(all, history.Reading{Value: float64(i), Sizes: sizes})
	}
	if got := sameSizes(all); len(got) != 3 || got[0].Value != 1 || got[2].Value != 3 {
		t.Errorf("%+v", got)
	}
	if got := sameSizes(nil); len(got) != 0 {
		t.Error(got)
	}
}

// Runs of two clusters in one store are two series: what one of them does is no change of the other's, nor is an
// acknowledgement of one for the other. Runs of one cluster, which may gain a host, are one.
func TestClustersApart(t *testing.T) {
	ctx := t.Context()
	s, err := history.Open(ctx, filepath.Join(t.TempDir(), "h.db"), true)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	made := func(id string, night int, v float64, hosts ...string) {
		p := &params.Params{Schema: params.Schema, Run: params.Run{ID: id, Plan: "quick", Hosts: hosts},
			Parameters: map[string]params.Parameter{"g": {Value: &v, Unit: "s", Status: params.StatusOK}}}
		if _, err := s.Add(ctx, history.Record{Entry: history.Entry{Started: nightOf(night)}, Params: p}); err != nil {
			t.Fatal(err)
		}
	}
	survey := func() *survey {
		of, err := s.Followed(ctx)
		v, failed := surveyRuns(ctx, s, history.Filter{}, of)
		if err != nil || failed != nil {
			t.Fatal(err, failed)
		}
		return v
	}
	for i := range 12 {
		made(fmt.Sprintf("a%02d", i), 2*i, 1+0.001*float64(i%3), append([]string{"a1", "a2"}, "a3")[:2+i%2]...)
	}
	if v := survey(); len(v.network) != 1 || v.network[0].cluster != "" || len(v.network[0].readings) != 12 {
		t.Errorf("one cluster: %+v", v.network)
	}
	for i := range 12 {
		made(fmt.Sprintf("b%02d", i), 2*i+1, []float64{3, 5}[i/6]+0.001*float64(i%3), "b1", "b2")
	}
	if _, err := s.Acknowledge(ctx, history.Ack{Run: "a06", Reason: "new switch"}); err != nil {
		t.Fatal(err)
	}
	v := survey()
	if len(v.network) != 2 || v.network[0].cluster != "b[1-2]" || v.network[1].cluster != "a[1-3]" {
		t.Fatalf("two clusters: %+v", v.network)
	}
	all := v.changes()
	if len(all) != 1 || all[0].Run != "b06" || all[0].subject() != "g of b[1-2]" || all[0].Ack != nil {
		t.Errorf("%+v", all)
	}
	if title := v.network[1].figure().Title; title != "g of a[1-3]" {
		t.Error(title)
	}
}

// A known change cuts the baselines of its own hosts, for all that read them.
func TestCut(t *testing.T) {
	ctx := t.Context()
	s, err := history.Open(ctx, filepath.Join(t.TempDir(), "h.db"), true)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	v := 1e-4
	made := func(id string, night int, hosts ...string) *params.Params {
		p := &params.Params{Schema: params.Schema, Run: params.Run{ID: id, Plan: "quick", Hosts: hosts},
			Parameters: map[string]params.Parameter{"g": {Value: &v, Unit: "s", Status: params.StatusOK}}}
		if _, err := s.Add(ctx, history.Record{Entry: history.Entry{Started: nightOf(night)}, Params: p}); err != nil {
			t.Fatal(err)
		}
		return p
	}
	first := made("first", 1, "a", "b")
	made("other", 2, "c", "d")
	last := made("last", 3, "b", "a")
	if err := s.SetBaseline(ctx, history.Baseline{Name: "good", Runs: []string{"first"}}); err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		at string
		of bool
	}{{"", true}, {"other", true}, {"last", false}} {
		if c.at != "" {
			if _, err := s.Acknowledge(ctx, history.Ack{Run: c.at, Reason: "new switch"}); err != nil {
				t.Fatal(err)
			}
		}
		b, err := readBaseline(ctx, s, "good")
		table, failed := since(ctx, s, last)
		if err != nil || failed != nil || b.Runs[0].Used != c.of || (table.Title != "") != c.of {
			t.Errorf("%d: %+v, %+v, %v, %v", i, b.Runs, table, err, failed)
		}
	}
	rough := first.Parameters["g"]
	rough.Status = params.StatusProvisional
	first.Parameters["g"], first.Run.ID = rough, "new"
	if err := s.SetBaseline(ctx, history.Baseline{Name: "good", Runs: []string{"last"}}); err != nil {
		t.Fatal(err)
	}
	if table, err := since(ctx, s, first); err != nil || table.Title != "" {
		t.Errorf("a rough number is held against good ones: %+v, %v", table, err)
	}
}
