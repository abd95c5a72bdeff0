//go:build harness

package harness

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"calib/internal/stats"
	"calib/internal/units"
)

const checkHeader = "network | what is wrong | runs | named | others named | not decided | lab late | time, median"

// faults are networks of 16 hosts, each with what is wrong of it.
var faults = []struct{ network, wrong, lab, want string }{
	{"sparc1994", "nothing", "preset: sparc1994\nhosts: 12\n", ""},
	{"fast switch", "nothing", fastSwitch, ""},
	{"fast switch", "host 5 is 10% slower in both directions", fastSwitch + "overrides:\n  5: {a: 165e-6, b: 0.275e-6}\n", "h5"},
	{"fast switch", "hosts 5 and 11 are 20% slower", fastSwitch + "overrides:\n  5: {a: 180e-6, b: 0.3e-6}\n  11: {a: 180e-6, b: 0.3e-6}\n", "h11 h5"},
	{"fast switch", "the way between hosts 3 and 9 takes 120 µs more", fastSwitch + "links:\n  - {between: [[3], [9]], a: 120e-6, b: 0.35e-6}\n", "h3-h9"},
}

const fastSwitch = "name: fast\nhosts: 16\nmode: switched\nmss: 1448\nhost: {a: 150e-6, b: 0.25e-6}\n" +
	"medium: {a: 120e-6, b: 0.2e-6}\nreceive: {a: 150e-6, b: 0.25e-6}\nl: 100e-6\nbuffer: 256\n"

// TestCheck holds calib check against emulated clusters with and without faults.
func TestCheck(t *testing.T) {
	calib := builds(t)[0]
	p := &table{name: "check", header: checkHeader + " | ", after: fmt.Sprintf("\n%d runs each of `calib check --hosts HOSTS`.\n", *turnsFlag)}
	cases, done := 0, 0
	for i, c := range faults {
		cases++
		t.Run(fmt.Sprintf("%s-%d", strings.ReplaceAll(c.network, " ", "-"), i), func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "lab.yaml")
			if err := os.WriteFile(file, []byte(c.lab), 0o600); err != nil {
				t.Fatal(err)
			}
			right, others, open, late := 0, 0, 0, 0
			var times []float64
			for seed := range *turnsFlag {
				named, took, undecided, wasLate := checkOnce(t, calib, file, seed+1)
				wanted := strings.Fields(c.want)
				hits := 0
				for _, n := range named {
					if slices.Contains(wanted, n) {
						hits++
					}
				}
				if hits == len(wanted) {
					right++
				}
				if len(named) > hits {
					others++
				}
				open, late, times = open+undecided, late+wasLate, append(times, took)
			}
			verdict := good
			if right < *turnsFlag || others > 0 {
				verdict = outside
				t.Errorf("%s, %s: %d of %d right, %d with others", c.network, c.wrong, right, *turnsFlag, others)
			}
			p.add(t, fmt.Sprintf("| %s | %s | %d | %d | %d | %d | %d | %s | %s |", c.network, c.wrong, *turnsFlag, right, others, open, late,
				units.Format(stats.Median(times), "s"), verdict))
			done++
		})
	}
	p.part = done < cases
	p.save(t)
}

// checkOnce returns what a check names, hosts as "h5" and pairs as "h3-h9", and how long it took.
func checkOnce(t *testing.T, calib, lab string, seed int) (named []string, took float64, undecided, late int) {
	t.Helper()
	c := command(interrupted, slices.Concat([]string{calib, "lab", "run", "--name", labName, lab, "--", calib, "check", "--hosts",
		"{hosts}", "--quiet", "--json", "--seed", fmt.Sprint(seed)}, inNamespaces)...)
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
			Verdict string
			Hosts   []struct{ Host, Verdict string }
			Pairs   []struct {
				Hosts   []string
				Verdict string
			}
			Took float64 `json:"took_s"`
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
	if doc.Data.Verdict == "undecided" {
		undecided = 1
	}
	return named, doc.Data.Took, undecided, late
}
