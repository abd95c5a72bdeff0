//go:build harness

package harness

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math/bits"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"calib/internal/stats"
	"calib/internal/units"
)

const checkHeader = "network | what is wrong | runs | named | others named | not decided | lab late | " +
	"time, median | rounds, median | least"

// faults are networks of 16 or 64 hosts, each with what is wrong of it; of fastSwitch where no network is named. parts
// are the groups or kinds that hosts are in, and disturb is a shell script that disturbs host h5 meanwhile; its network
// device is $DEV. The budget is a minute where none is said. Where nothing is wrong, there are five times as many runs.
var faults = []struct{ network, wrong, lab, want, parts, disturb, budget string }{
	{network: "sparc1994", wrong: "nothing", lab: "preset: sparc1994\nhosts: 16\n"},
	{wrong: "nothing"},
	{wrong: "nothing, on a busy machine", disturb: "while :; do :; done"},
	{network: "switch", wrong: "nothing, 64 hosts", lab: "preset: switch\nhosts: 64\n", budget: "5m"},
	{wrong: "host 5 is 5% slower", lab: slower(1.05, 5), want: "h5"},
	{wrong: "host 5 is 10% slower", lab: slower(1.1, 5), want: "h5"},
	{wrong: "host 5 is 20% slower", lab: slower(1.2, 5), want: "h5"},
	{wrong: "hosts 5 and 11 are 20% slower", lab: slower(1.2, 5, 11), want: "h11 h5"},
	{wrong: "the way between hosts 3 and 9 takes 120 µs more",
		lab: links("3", "9", "a: 120e-6, b: 0.2e-6"), want: "h3-h9"},
	{wrong: "the way between hosts 3 and 9 has three quarters of the rate",
		lab: links("3", "9", "a: 40e-6, b: 0.333e-6"), want: "h3-h9"},
	{wrong: "the way between hosts 3 and 9 has nine tenths of the rate",
		lab: links("3", "9", "a: 40e-6, b: 0.2778e-6"), want: "h3-h9"},
	{wrong: "nothing passes between hosts 3 and 9", budget: "2m",
		lab: links("3", "9", "a: 1e-6, b: 1.0e-9, loss: 0.9999"), want: "h3-h9"},
	{wrong: "host 5 sends at half the rate", want: "h5",
		disturb: "tc -n $NS qdisc add dev $DEV root tbf rate 16mbit burst 5kb latency 100ms"},
	{wrong: "host 5 sends at half the rate for 2 s of 10", want: "h5",
		disturb: "while tc -n $NS qdisc add dev $DEV root tbf rate 16mbit burst 5kb latency 100ms; do sleep 2; " +
			"tc -n $NS qdisc del dev $DEV root; sleep 8; done"},
	{wrong: "1 of 1,000 packets to and from host 5 is lost", want: "h5",
		lab: links("5", allBut5, "a: 1e-6, b: 1.0e-9, loss: 1.0e-3")},
	{wrong: "1 of 10,000 packets to and from host 5 is lost", want: "h5", budget: "5m",
		lab: links("5", allBut5, "a: 1e-6, b: 1.0e-9, loss: 1.0e-4")},
	{wrong: "nothing: two racks behind a slower uplink", parts: "8 8", lab: twoRacks},
	{wrong: "two racks, and host 5 is 20% slower", parts: "8 8", want: "h5", lab: twoRacks + slower(1.2, 5)},
	{wrong: "four racks, the uplink of one has half the rate of the others", parts: "4 4 4 4", want: "h4+h5+h6+h7",
		lab: links("0, 1, 2, 3", "4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15", "a: 40e-6, b: 0.06e-6",
			"4, 5, 6, 7", "0, 1, 2, 3, 8, 9, 10, 11, 12, 13, 14, 15", "a: 40e-6, b: 0.5e-6",
			"8, 9, 10, 11", "0, 1, 2, 3, 4, 5, 6, 7, 12, 13, 14, 15", "a: 40e-6, b: 0.06e-6",
			"12, 13, 14, 15", "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11", "a: 40e-6, b: 0.06e-6")},
	{wrong: "nothing: four of the hosts are of a kind that is 30% slower", parts: "12 4", lab: slower(1.3, 1, 4, 10, 13)},
}

const (
	fastSwitch = "name: fast\nhosts: 16\nmode: switched\nmss: 1448\nhost: {a: 150e-6, b: 0.25e-6}\n" +
		"medium: {a: 120e-6, b: 0.2e-6}\nreceive: {a: 150e-6, b: 0.25e-6}\nl: 100e-6\nbuffer: 256\n"
	allBut5 = "0, 1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15"
)

var twoRacks = links("0, 1, 2, 3, 4, 5, 6, 7", "8, 9, 10, 11, 12, 13, 14, 15", "a: 60e-6, b: 0.06e-6")

// slower is the part of a lab file that makes hosts so many times slower than those of fastSwitch.
func slower(times float64, hosts ...int) string {
	text := "overrides:\n"
	for _, h := range hosts {
		text += fmt.Sprintf("  %d: {a: %g, b: %g}\n", h, times*150e-6, times*0.25e-6)
	}
	return text
}

// links is the part of a lab file that has blocks on ways: the hosts at one end, those at the other, the block.
func links(ways ...string) string {
	text := "links:\n"
	for way := range slices.Chunk(ways, 3) {
		text += fmt.Sprintf("  - {between: [[%s], [%s]], %s}\n", way[0], way[1], way[2])
	}
	return text
}

// TestCheck holds calib check against emulated clusters with and without faults.
func TestCheck(t *testing.T) {
	calib := build(t)
	p := &table{name: "check", header: checkHeader + " | ", after: "\nA run is `calib check --hosts HOSTS`. Least are " +
		"the rounds that no test can do without: log2 of the hosts tell one host, one fewer than the hosts see every pair.\n"}
	for i, c := range faults {
		if c.network == "" {
			c.network, c.lab = "fast switch", fastSwitch+c.lab
		}
		p.run(t, fmt.Sprintf("%s-%d", strings.ReplaceAll(c.network, " ", "-"), i), func(t *testing.T) {
			file := put(t, t.TempDir(), "lab.yaml", c.lab)
			right, others, open, late := 0, 0, 0, 0
			var times, rounds []float64
			turns := *turnsFlag
			if c.want == "" {
				turns *= 5
			}
			for seed := range turns {
				named, parts, took, n, undecided, wasLate := checkOnce(t, calib, file, c.disturb, c.budget, seed+1)
				wanted := strings.Fields(c.want)
				if parts != c.parts {
					t.Logf("%s, %s: hosts in %q, want %q", c.network, c.wrong, parts, c.parts)
					named = append(named, "parts")
				}
				hits := 0
				for _, n := range named {
					if slices.Contains(wanted, n) {
						hits++
					}
				}
				if hits == len(wanted) && (hits > 0 || undecided == 0) {
					right++
				}
				if len(named) > hits {
					others++
				}
				open, late = open+undecided, late+wasLate
				times, rounds = append(times, took), append(rounds, n)
			}
			verdict := good
			if right < turns || others > 0 {
				verdict = outside
				t.Errorf("%s, %s: %d of %d right, %d with others", c.network, c.wrong, right, turns, others)
			}
			p.add(t, fmt.Sprintf("| %s | %s | %d | %d | %d | %d | %d | %s | %g | %d | %s |", c.network, c.wrong, turns, right,
				others, open, late, units.Format(stats.Median(times), "s"), stats.Median(rounds), leastRounds(c.lab, c.want),
				verdict))
		})
	}
	p.save(t)
}

// leastRounds are those that no test of so many hosts can do without, in which every host is in a pair.
func leastRounds(lab, want string) int {
	hosts := 16
	if strings.Contains(lab, "hosts: 64") {
		hosts = 64
	}
	if want == "" || strings.Contains(want, "-") {
		return hosts - 1
	}
	return bits.Len(uint(hosts - 1))
}

// checkOnce returns what a check names, hosts as "h5", pairs as "h3-h9", uplinks as "h4+h5+h6", the sizes of groups or
// else of kinds, the largest first, how long it took, and how many rounds.
func checkOnce(t *testing.T, calib, lab, disturb, budget string, seed int) (named []string, parts string,
	took, rounds float64, undecided, late int) {
	t.Helper()
	script := fmt.Sprintf("NS=%s-h5; DEV=calib0; { %s; } >/dev/null 2>&1 & %s check --hosts {hosts} --quiet --json "+
		"--budget %s --seed %d "+
		"--launch 'ip netns exec {host}'; code=$?; kill $! 2>/dev/null; exit $code", labName, cmp.Or(disturb, ":"), calib,
		cmp.Or(budget, "1m"), seed)
	c := command(interrupted, calib, "lab", "run", "--name", labName, lab, "--", "sh", "-c", script)
	var said strings.Builder
	c.Stderr = &said
	out, err := c.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(failed(c, err, out))
	}
	if strings.Contains(said.String(), "LATE") {
		late = 1
	}
	var doc struct {
		Data struct {
			Verdict        string
			Hosts          []struct{ Host, Verdict string }
			Pairs, Uplinks []struct {
				Hosts   []string
				Verdict string
			}
			Groups, Kinds [][]string
			Took          float64 `json:"took_s"`
			Rounds        float64
		}
	}
	if err := json.NewDecoder(strings.NewReader(string(out))).Decode(&doc); err != nil {
		t.Fatal(failed(c, err, append(out, said.String()...)))
	}
	short := func(name string) string { return name[strings.LastIndex(name, "h"):] }
	for _, h := range doc.Data.Hosts {
		if h.Verdict == "slow" {
			named = append(named, short(h.Host))
		}
	}
	for _, p := range doc.Data.Pairs {
		if p.Verdict == "slow" {
			a, b := short(p.Hosts[0]), short(p.Hosts[1])
			named = append(named, min(a, b)+"-"+max(a, b))
		}
	}
	for _, u := range doc.Data.Uplinks {
		var hosts []string
		for _, h := range u.Hosts {
			hosts = append(hosts, short(h))
		}
		if u.Verdict == "slow" {
			named = append(named, strings.Join(hosts, "+"))
		}
	}
	if doc.Data.Verdict == "undecided" {
		undecided = 1
	}
	groups := doc.Data.Groups
	if groups == nil {
		groups = doc.Data.Kinds
	}
	slices.SortFunc(groups, func(a, b []string) int { return len(b) - len(a) })
	for _, g := range groups {
		parts += fmt.Sprintf(" %d", len(g))
	}
	return named, strings.TrimSpace(parts), doc.Data.Took, doc.Data.Rounds, undecided, late
}
