package reports

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"calib/params"
)

// thousand is a run on a thousand hosts in three kinds, of which six random matchings were measured; four hosts are
// odd.
func thousand() *params.Params {
	p := &params.Params{Schema: params.Schema, Run: params.Run{ID: "thousand", Plan: "standard", Seed: 1, Rounds: 6,
		Timings: 90_000}}
	p.Environment.Differences = map[string]map[string]string{"nic.address": {}, "kernel": {}}
	for h := range 1000 {
		name := fmt.Sprintf("node%03d", h)
		p.Run.Hosts = append(p.Run.Hosts, name)
		p.Environment.Differences["nic.address"][name] = fmt.Sprintf("52:54:00:00:%02x:%02x", h/256, h%256)
		p.Environment.Differences["kernel"][name] = "6.1"
		if h >= 900 {
			p.Environment.Differences["kernel"][name] = "6.12"
		}
	}
	part := func(h int) float64 {
		switch {
		case h == 13 || h == 477:
			return 50e-6
		case h >= 800:
			return 15e-6
		}
		return 20e-6
	}
	rate := func(h int) float64 {
		switch {
		case h == 5 || h == 950:
			return 11e6
		case h >= 400 && h < 500:
			return 117e6
		}
		return 1170e6
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for range 6 {
		order := rng.Perm(1000)
		for k := 0; k < 1000; k += 2 {
			a, b := min(order[k], order[k+1]), max(order[k], order[k+1])
			latency := (part(a) + part(b)) * (1 + 0.002*rng.NormFloat64())
			fast := min(rate(a), rate(b)) * (1 + 0.002*rng.NormFloat64())
			q := params.Pair{From: p.Run.Hosts[a], To: p.Run.Hosts[b], Latency: &latency, Rate: &fast}
			if a == 13 || b == 13 || a == 477 || b == 477 {
				q.Slow = fmt.Sprintf("half round trip at 1 B is %.2f times the median pair's", latency/40e-6)
			}
			p.Pairs = append(p.Pairs, q)
		}
	}
	for h := range 20 {
		name := p.Run.Hosts[h]
		p.Findings = append(p.Findings, params.Warnf(params.SlowHost, "host %s is slow: its half round trip at 1 B is 1.75 "+
			"times the median pair's", name).About(name))
	}
	p.Groups = &params.Groups{Apart: 1.3}
	for rack := range slices.Chunk(p.Run.Hosts, 50) {
		p.Groups.Hosts = append(p.Groups.Hosts, rack)
	}
	return p
}

// What a page says of a thousand hosts can be read: groups, the odd ones by name, and nothing once for each host.
func TestManyHosts(t *testing.T) {
	var b bytes.Buffer
	if err := Text(&b, thousand(), Options{}); err != nil {
		t.Fatal(err)
	}
	golden(t, "report-many.txt", b.Bytes())
	if lines := bytes.Count(b.Bytes(), []byte("\n")); lines > 150 {
		t.Errorf("%d lines", lines)
	}
}

// Odd hosts and pairs are listed with what to do.
func TestOdd(t *testing.T) {
	slow := func(from, to string, v float64, why string) params.Pair {
		return params.Pair{From: from, To: to, Latency: &v, Slow: why}
	}
	p := &params.Params{Pairs: []params.Pair{slow("a", "b", 1e-3, ""), slow("a", "d", 1.5e-3, "host d is slow"),
		slow("b", "d", 1.6e-3, "host d is slow"), slow("b", "e", 2e-3, "x"), slow("c", "e", 1e-3, "")},
		Findings: []params.Finding{params.Warnf(params.SlowHost, "host d is slow: why").About("d")}}
	rows := OddOf(p).Rows
	if len(rows) != 2 || rows[0][0] != "d" || rows[0][1] != "why" || rows[1][0] != "b – e" || rows[1][1] != "x" {
		t.Errorf("%q", rows)
	}
	if rows[0][2] != "2" || rows[1][2] != "1" {
		t.Errorf("pairs affected: %q", rows)
	}
	p.Pairs = append(p.Pairs, params.Pair{From: "b", To: "c", Slow: "nothing came through"})
	if rows := OddOf(p).Rows; rows[1][0] != "b – c" {
		t.Errorf("a dead pair is not the slowest: %q", rows)
	}
	p.Pairs = p.Pairs[:5]
	nine := &params.Params{}
	for i := range outliersShown + 1 {
		name := fmt.Sprint("h", i)
		nine.Findings = append(nine.Findings, params.Warnf(params.SlowHost, "host %s is slow: why", name).About(name))
	}
	if rows := OddOf(nine).Rows; len(rows) != len(outliers(nine)) {
		t.Errorf("%d hosts are listed, and %d named", len(rows), len(outliers(nine)))
	}
	p.Findings[0] = params.Warnf(params.SlowUplink, "the way from the group of host a is slow").About("a", "b")
	if rows := OddOf(p).Rows; rows[0][2] != "3" { // a – d, b – d, b – e
		t.Errorf("pairs over an uplink: %q", rows)
	}
	if rows := OddOf(&params.Params{}).Rows; len(rows) != 0 {
		t.Errorf("%q of nothing", rows)
	}
}

// Hosts that can be read one by one are not described as a crowd.
func TestFewHosts(t *testing.T) {
	if s := HostsOf(fixture(t)); len(s.Says)+len(s.Tables) > 0 {
		t.Errorf("%+v", s)
	}
}

// Groups are said to be machines where they are, and what is not known of their uplinks is said.
func TestGroupWords(t *testing.T) {
	p := &params.Params{Groups: &params.Groups{Hosts: [][]string{{"a", "b"}, {"c", "d"}}, Apart: 2}}
	racks := classWords(p)
	p.Groups.Machines = true
	machines := classWords(p)
	if len(racks) != 2 || len(machines) != 2 || racks[0] != "2 groups of hosts, such as racks: latency between them is "+
		"2.00 times as high." || machines[0] != "2 groups of hosts, each on one machine: latency between them is 2.00 "+
		"times as high." || racks[1] != "Oversubscription of uplinks is not determined." {
		t.Errorf("%q, %q", racks, machines)
	}
}

func TestNamesOf(t *testing.T) {
	var odd []string
	for h := range 200 {
		odd = append(odd, fmt.Sprintf("n%03d", 2*h))
	}
	for _, c := range []struct {
		names []string
		want  string
	}{
		{[]string{"a", "b"}, "a, b"},
		{[]string{"n1", "n2", "n3", "x"}, "n[1-3], x"},
		{odd[:3], "n[000, 002, 004]"},
	} {
		if got := namesOf(c.names); got != c.want {
			t.Errorf("%q: %s, want %s", c.names, got, c.want)
		}
	}
	if got := namesOf(odd); len(got) > 250 || got[len(got)-len("…]"):] != "…]" {
		t.Errorf("%s", got)
	}
}
