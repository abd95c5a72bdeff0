package tuned

import (
	"bufio"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"calib/bench/pattern"
	"calib/reports/export"
)

// way is one direction between two ranks, sums what went there.
type way struct{ from, to int }

type sums struct{ messages, bytes int }

// TestTraffic: the patterns send what Open MPI's algorithms send, between the same ranks: as many messages, and as many
// bytes up to how whole bytes are dealt out to blocks. testdata/traffic.sh wrote what Open MPI counts.
func TestTraffic(t *testing.T) {
	f, err := os.Open("testdata/traffic.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	seen := map[string]map[int]bool{}
	for in := bufio.NewScanner(f); in.Scan(); {
		fields := strings.Fields(in.Text())
		c := collective(t, fields[0])
		n := numbers(t, fields[1:5])
		o, ranks, bytes := Option{Algorithm: n[0], Segment: n[1]}, n[2], n[3]
		if c.Name == "bcast" && o.Algorithm == 2 {
			o.Fanout = pattern.Chains
		}
		if same, ok := asFixed[c.Name][o.Algorithm]; ok && o.Fanout == 0 {
			o.Algorithm = same
		}
		p, ok := schedule(c, o, ranks, bytes)
		if !ok {
			continue
		}
		if seen[c.Name] == nil {
			seen[c.Name] = map[int]bool{}
		}
		seen[c.Name][o.Algorithm] = true
		s, err := pattern.Of(p, ranks, bytes)
		if err != nil {
			t.Fatal(err)
		}
		// The empty messages of linear_sync are of one byte in the pattern.
		compare(t, in.Text(), sent(s), counted(t, fields[5:]), max(ranks, s.Depth()))
	}
	for name, list := range rows {
		for _, r := range list {
			if !seen[name][r.number] {
				t.Errorf("%s %d was not compared with Open MPI", name, r.number)
			}
		}
	}
}

// schedule is the pattern of messages that an option sends for m bytes, if calib has it.
func schedule(c export.Collective, o Option, hosts, m int) (pattern.Pattern, bool) {
	i := slices.IndexFunc(rows[c.Name], func(r row) bool { return r.number == o.Algorithm && r.fanout == o.Fanout })
	if i < 0 {
		return pattern.Pattern{}, false
	}
	p, ok := rows[c.Name][i].of(c, hosts, m)
	return p.WithSegment(o.Segment), ok
}

// sent sums up a schedule.
func sent(s pattern.Schedule) map[way]sums {
	out := map[way]sums{}
	for rank, steps := range s {
		for _, step := range steps {
			for _, p := range step.Out {
				x := out[way{rank, p.Peer}]
				out[way{rank, p.Peer}] = sums{x.messages + 1, x.bytes + p.Bytes}
			}
		}
	}
	return out
}

// counted reads FROM>TO:MESSAGES:BYTES.
func counted(t *testing.T, fields []string) map[way]sums {
	out := map[way]sums{}
	for _, f := range fields {
		n := numbers(t, strings.FieldsFunc(f, func(r rune) bool { return r == '>' || r == ':' }))
		out[way{n[0], n[1]}] = sums{n[2], n[3]}
	}
	return out
}

func numbers(t *testing.T, fields []string) []int {
	t.Helper()
	var out []int
	for _, f := range fields {
		n, err := strconv.Atoi(f)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, n)
	}
	return out
}

func compare(t *testing.T, line string, got, want map[way]sums, slack int) {
	t.Helper()
	label := strings.Join(strings.Fields(line)[:5], " ")
	var wrong []string
	for w := range maps.Keys(want) {
		if g := got[w]; g.messages != want[w].messages || max(g.bytes-want[w].bytes, want[w].bytes-g.bytes) > slack {
			wrong = append(wrong, fmt.Sprintf("%d>%d: %+v, Open MPI sends %+v", w.from, w.to, g, want[w]))
		}
	}
	for w := range maps.Keys(got) {
		if _, ok := want[w]; !ok {
			wrong = append(wrong, fmt.Sprintf("%d>%d: %+v, Open MPI sends nothing", w.from, w.to, got[w]))
		}
	}
	slices.Sort(wrong)
	if len(wrong) > 0 {
		t.Errorf("%s:\n\t%s", label, strings.Join(wrong, "\n\t"))
	}
}
