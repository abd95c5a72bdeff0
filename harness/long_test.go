//go:build harness

package harness

import (
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"calib/internal/needs"
)

// Networks of known truth, measured by the real command: each suite is a case.
func TestAccuracy(t *testing.T) {
	needs.Namespaces(t)
	for _, s := range suites() {
		if !strings.HasPrefix(s.name, "budgets-") && !strings.HasPrefix(s.name, "short") {
			t.Run(s.name, func(t *testing.T) { s.measure(t, "accuracy-"+s.name) })
		}
	}
}

// Whether runs keep their budget: an hour and a half.
func TestBudgets(t *testing.T) {
	needs.Root(t, "make namespaces")
	for _, b := range runBudgets {
		t.Run(b, func(t *testing.T) { lookup(t, "budgets-"+b).measure(t, "budgets-"+b) })
	}
}

// The runs behind the papers' measured rows, five minutes each, and then the page.
func TestPapers(t *testing.T) {
	needs.Namespaces(t)
	calib := build(t)
	for _, r := range paperRuns {
		t.Run(r.name, func(t *testing.T) { r.measure(t, calib) })
	}
	write(t, "papers", papersPage(t))
}

// How fast calib is beside other programs. Each is measured on loopback and a veth pair, with both ends on one CPU and
// on two.
func TestBench(t *testing.T) {
	needs.Root(t, "make namespaces")
	p := &table{name: "bench", header: benchHeader}
	calib := build(t)
	for _, r := range rivals() {
		if _, err := exec.LookPath(r.program); err != nil {
			if note := "\n" + r.program + " is not installed here."; !strings.Contains(p.after, note) {
				p.after += note
			}
			continue
		}
		for _, path := range []string{"loopback", "veth"} {
			for cpu := range 2 {
				if r.wired && path != "veth" || r.oneCPU && cpu > 0 {
					continue
				}
				p.run(t, fmt.Sprintf("%s/%s/cpu%d", r.name, path, cpu), func(t *testing.T) {
					c := &contest{rival: r, dir: t.TempDir(), calib: calib}
					c.from, c.to = end{addr: "127.0.0.1"}, end{addr: "127.0.0.1", cpu: cpu}
					if path == "veth" {
						wire(t, &c.from, &c.to)
					}
					c.play(t, *turnsFlag, 2*time.Minute, c.own, c.other)
					c.rows(t, p, path)
				})
			}
		}
	}
	p.save(t)
}

// Whether calib's intervals on paths whose bottleneck is the hosts are as narrow as other programs scatter, and its
// numbers theirs: each turn measures by calib and by all others, one after the other.
func TestPaths(t *testing.T) {
	needs.Root(t, "make namespaces")
	calib := build(t)
	for budget := range allowedWidth {
		t.Run(budget, func(t *testing.T) {
			p := &table{name: "paths-" + budget, header: pathsHeader,
				after: fmt.Sprintf("\n%d turns each, of `calib run --plan quick --budget %s`.\n", *turnsFlag, budget)}
			for _, path := range []string{"loopback", "veth"} {
				for _, cpus := range [][2]int{{0, 1}, {-1, -1}} {
					for _, control := range []string{"cubic", "reno", "bbr"} {
						pinned := map[bool]string{true: "pinned", false: "unpinned"}[cpus[0] >= 0]
						where := fmt.Sprintf("%s, %s, %s", path, pinned, control)
						p.run(t, where, func(t *testing.T) {
							c := &contest{dir: t.TempDir(), calib: calib}
							c.flags = "--sizes 1,64,1024,8192,65536,262144 --budget " + budget + " --congestion " + control
							c.from, c.to = end{addr: "127.0.0.1", cpu: cpus[0]}, end{addr: "127.0.0.1", cpu: cpus[1]}
							if path == "veth" {
								wire(t, &c.from, &c.to)
							}
							others := func(ctx context.Context, _ int) (map[string]float64, error) { return c.others(ctx, control) }
							c.play(t, *turnsFlag, 5*time.Minute, c.path, others)
							pathRows(t, p, where, budget, c.all)
						})
					}
				}
			}
			p.save(t)
		})
	}
}

// How the time and memory of a coordinator grow with the hosts.
func TestScale(t *testing.T) {
	calib := build(t)
	p := &table{name: "scale", header: scaleHeader}
	for name := range strings.SplitSeq(*hostsFlag, ",") {
		n, err := strconv.Atoi(name)
		if err != nil || n < 3 {
			t.Fatalf("-hosts %q: want numbers of 3 or more, such as 8,64", *hostsFlag)
		}
		row, err := scaled(calib, "harness/testdata/plans/scale.yaml", place(t, "scale-"+name), n)
		if err != nil {
			t.Fatal(err)
		}
		p.add(t, row)
	}
	p.save(t)
}
