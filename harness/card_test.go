package harness

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"calib/internal/units"
	"calib/params"
)

// record are the numbers that a user asks calib for: the latency and rate of messages, the hyperbolic and the cluster
// model and LogGP.
var record = strings.Fields("alpha beta a_prime_limits b_prime_limits p99 a b a_c b_c o_s o_r g G wakeup B_L")

// recordFunctions are those that depend on the size.
var recordFunctions = strings.Fields("T O_s U_r O_r g_s g_r L_cluster")

const cardHeader = "number | truth | value | 95% interval | status | why"

// card lists what a run says of every number of record. What has neither a value, nor a bound, nor a reason fails.
func card(_ *testing.T, r run) (out []line) {
	truths := map[string]float64{}
	if r.network.spec != nil {
		truths = known(r.network.spec)
	}
	left := regexp.MustCompile(`the budget has no room for [a-z, ]+`).FindString(r.told)
	add := func(name, truth, value, interval, status, why string) {
		l := line{cells: []string{name, truth, value, interval, status, why}, verdict: good}
		if value == "–" && why == "" {
			l.verdict = "**no reason**"
		}
		out = append(out, l)
	}
	for _, name := range record {
		q, there := r.p.Parameters[name]
		truth, value, interval := "", "–", ""
		if v, ok := truths[name]; ok {
			truth = units.Format(v, q.Unit)
		}
		if q.Value != nil {
			value = units.Format(*q.Value, q.Unit)
		} else if q.Bound != nil {
			value = "–"
			interval = fmt.Sprintf("within %s to %s", units.Format(q.Bound[0], q.Unit), units.Format(q.Bound[1], q.Unit))
		}
		if q.CI95 != nil && q.Value != nil {
			interval = fmt.Sprintf("%s to %s", units.Format(q.CI95[0], q.Unit), units.Format(q.CI95[1], q.Unit))
		}
		if !there {
			q.Status, q.Why = "absent", left
		}
		add(name, truth, value, interval, q.Status, short(q.Why))
	}
	for _, name := range recordFunctions {
		f, there := r.p.Functions[name]
		if !there {
			q := r.p.Parameters[name] // a function that could not be fitted leaves its reason here
			add(name, "", "–", "", "absent", short(cmp.Or(q.Why, left)))
			continue
		}
		add(name, "", strings.TrimPrefix(f.Words(name), name), "", f.Status, short(f.Why))
	}
	return out
}

// short is a reason without its details.
func short(why string) string {
	const most = 120
	why = strings.ReplaceAll(units.OneLine(why), "|", "/")
	if r := []rune(why); len(r) > most {
		return string(r[:most]) + " …"
	}
	return why
}

const alikeHeader = "rounds | ok of record | not ok | contradictions"

// mostNotOK is how many numbers of record may not be ok on an idle machine.
const mostNotOK = 3

// alike says which numbers of record are not ok, and which contradict each other. Every contradiction is a warning of
// the run, or it would not be seen here.
func alike(_ *testing.T, r run) []line {
	measured, bad := 0, []string{}
	for _, name := range record {
		if q, there := r.p.Parameters[name]; there {
			measured++
			if q.Status != params.StatusOK {
				bad = append(bad, name+" "+q.Status)
			}
		}
	}
	for _, name := range recordFunctions {
		if f, there := r.p.Functions[name]; there {
			measured++
			if f.Status != params.StatusOK {
				bad = append(bad, name+"() "+f.Status)
			}
		}
	}
	contradictions := 0
	count := func(list []params.Finding) {
		for _, f := range list {
			if f.Code == params.Contradiction {
				contradictions++
			}
		}
	}
	count(r.p.Findings)
	for _, f := range r.p.Fits {
		count(f.Findings)
	}
	slices.Sort(bad)
	l := line{cells: []string{strconv.Itoa(r.p.Run.Rounds), fmt.Sprintf("%d of %d", measured-len(bad), measured),
		strings.Join(bad, ", "), strconv.Itoa(contradictions)}, verdict: good}
	if len(bad) > mostNotOK {
		l.verdict = outside
	}
	return []line{l}
}

// A card has a row for each number, and one without a reason fails.
func TestCard(t *testing.T) {
	v := 2e-6
	p := &params.Params{Parameters: map[string]params.Parameter{
		"alpha": {Value: &v, Unit: "s", CI95: &[2]float64{1e-6, 3e-6}, Status: params.StatusOK},
		"b":     {Unit: "s/B", Status: params.StatusUnidentifiable, Why: "b_c is larger"},
		"a":     {Unit: "s", Status: params.StatusUnidentifiable},
	}}
	r := run{network: network{name: "x"}, p: p}
	want := map[string]string{"alpha": "ok", "b": "ok", "a": "**no reason**", "beta": "**no reason**",
		"T": "**no reason**"}
	lines := card(t, r)
	for _, l := range lines {
		if w := want[l.cells[0]]; w != "" && w != l.verdict {
			t.Errorf("%q is %s, want %s", l.cells, l.verdict, w)
		}
	}
	if lines[0].cells[2] != "2 µs" || lines[0].cells[3] != "1 µs to 3 µs" ||
		len(lines) != len(record)+len(recordFunctions) {
		t.Errorf("%d lines, the first %q", len(lines), lines[0].cells)
	}
	if l := alike(t, r)[0]; l.cells[1] != "1 of 3" || l.cells[2] != "a unidentifiable, b unidentifiable" ||
		l.verdict != good {
		t.Errorf("%q, %s", l.cells, l.verdict)
	}
}
