package harness

import (
	"cmp"
	"debug/buildinfo"
	"fmt"
	"slices"
	"strings"
	"testing"

	"calib/internal/needs"
)

// suite is a row of the table of what is held against known truth: networks, how calib measures them, and what must
// come out.
type suite struct {
	name     string
	networks string   // as find knows them
	flags    string   // of calib run
	each     []string // more of them: every network is measured with each
	seeds    int      // how many; 0 is one
	timed    bool     // a run counts however late the lab was, and with the exit code of one that is partial
	prepare  func(*testing.T, run)
	around   string // a shell script in the same lab: "$@" is calib run, after the hosts file; $0 is the run directory
	header   string // of what is expected; that of numbers where it is empty
	expect   expectation
	sum      func(*testing.T, []line) string // what all runs say together
}

// expectation holds a run against what is known.
type expectation func(*testing.T, run) []line

// line is one comparison.
type line struct {
	network string
	cells   []string
	verdict string // outside, and what else is bold, fails
	value   float64
	half    float64 // of the interval of value, where a sum of lines needs them
}

const (
	good    = "ok"
	outside = "**outside**"
)

func (l line) fails() bool { return strings.HasPrefix(l.verdict, "**") }

const (
	costs = "g_s.c1 g_s.c0 g_s.floor g_r.c1 g_r.c0 g_r.floor"
	// fixedBuffer: the kernel's own send buffer grows with what a connection has carried, so that equal sends end when
	// some of the message, or all of it, has left.
	fixedBuffer = " --send-buffer 128KiB"
)

// runBudgets are those of make budgets, each with a page of its own.
var runBudgets = []string{"30s", "2m", "5m"}

// suites are those of make accuracy, make budgets and, last, make test.
func suites() []suite {
	const examples = "--plan examples/plan-lab"
	var budgets []suite
	for _, b := range runBudgets {
		// The slowest network comes first. Long runs are of 2 or of 8 hosts on each. 64 hosts run on the loopback only: in
		// others they are too many for one machine.
		networks := "examples/lab-modem.yaml:2 sparc1994:8 examples/lab-cluster-fast.yaml:8 veth:2 loopback:8"
		if b == "30s" {
			networks += " examples/lab-modem.yaml:8 sparc1994:2 examples/lab-cluster-fast.yaml:2 veth:8 loopback:2 loopback:64"
		}
		budgets = append(budgets, suite{name: "budgets-" + b, flags: "--plan standard --budget " + b, timed: true,
			networks: networks, header: budgetHeader, expect: inBudget})
	}
	paired, quick := all(slowHosts, numbers("a b a_c b_c")), "--plan quick --only clock,"
	return append(budgets, []suite{
		{name: "paired", seeds: 3, flags: examples + ".yaml", expect: paired,
			networks: "sparc1994:8 switch:8 examples/lab-slowhost.yaml"},
		{name: "media", flags: "--plan quick", each: []string{"--budget 30s", "--budget 90s"}, expect: paired,
			networks: "medium:0.4 medium:0.7 medium:1 medium:1.5 medium:2 medium:2.5 medium:3"},
		{name: "cluster", seeds: 3, flags: examples + "-cluster.yaml",
			networks: "examples/lab-cluster-fast.yaml examples/lab-cluster-slow.yaml examples/lab-cluster-even.yaml",
			expect:   all(numbers(costs), latency, numbers("B_L B_L_tcp L g G"), gathers)},
		{name: "table", seeds: 3, flags: examples + "-table.yaml", networks: "hku2000:8",
			expect: all(numbers(costs), latency, numbers("B_L"))},
		{name: "gather", seeds: 3, flags: examples + "-gather.yaml", networks: "examples/lab-cluster-fast.yaml",
			expect: gathers},
		{name: "tbf", seeds: 3, flags: "--plan standard --budget 30s --only clock,flood", expect: queued,
			networks: "tbf:40000 tbf:96000 tbf:300000 pfifo:64 pfifo:200"},
		{name: "simgrid", seeds: 3, flags: examples + "-export.yaml" + fixedBuffer, expect: simulated,
			networks: "examples/lab-cluster-fast.yaml", header: "traffic | bytes | measured | simulated | error"},
		{name: "patterns", flags: examples + "-patterns.yaml" + fixedBuffer, networks: "sparc1994:11 sparc1994:16",
			header: predictedHeader, expect: predicted},
		{name: "patterns-switch", flags: examples + "-patterns-switch.yaml", networks: "hku2000:4 hku2000:8 hku2000:16",
			header: predictedHeader, expect: predicted},
		{name: "ompi", flags: examples + "-mpi.yaml", networks: "switch:8 sparc1994:8", prepare: sweepCollectives,
			header: sweptHeader, expect: ruled},
		{name: "coverage", seeds: 7, flags: quick + "pingpong,paired --sizes 1,701,1401,16001,64001 --budget 1m",
			networks: "sparc1994:6 switch:6 veth:2", expect: covered, sum: shares},
		{name: "card", flags: "--budget 5m", networks: "sparc1994:4 switch:8 examples/lab-cluster-fast.yaml veth:4",
			timed:  true,
			header: cardHeader, expect: card},
		{name: "local", seeds: 20, flags: "--plan quick", networks: "loopback:4", timed: true, header: alikeHeader,
			expect: alike},
		{name: "tails", timed: true, around: besideSockperf,
			flags:    "--plan quick --only pingpong --sizes 14,64,1024,16384 --budget 2m --target p99=10%,p999=50%",
			networks: "harness/testdata/loss-1000.yaml harness/testdata/loss-100.yaml", header: tailsHeader, expect: tails},
		{name: "short", flags: "--plan harness/testdata/plans/short.yaml", networks: "sparc1994:4", expect: paired},
		{name: "short-cluster", flags: "--plan harness/testdata/plans/short-cluster.yaml",
			networks: "harness/testdata/four.yaml", expect: all(numbers(costs), latency, numbers("B_L B_L_tcp"))},
	}...)
}

// lookup finds a suite.
func lookup(t *testing.T, name string) suite {
	t.Helper()
	for _, s := range suites() {
		if s.name == name {
			return s
		}
	}
	t.Fatalf("no suite %q", name)
	return suite{}
}

// measure measures all cases and holds them against what is expected. What is measured when all were is a page of
// docs/results.
func (s suite) measure(t *testing.T, page string) {
	calibs := builds(t)
	if len(s.each) == 0 {
		s.each = []string{""}
	}
	p := &table{name: page, after: "\nRuns of `calib run " + s.flags + "`.\n",
		header: "network | flags, seed | " + cmp.Or(s.header, numberHeader) + " | "}
	if len(calibs) > 1 {
		p.header = "build | " + p.header
	}
	var lines []line
	done := 0
	for _, name := range strings.Fields(s.networks) {
		for _, more := range s.each {
			for seed := *seedFlag; seed < *seedFlag+max(1, s.seeds); seed++ {
				n := find(t, name, !s.timed)
				what := strings.TrimSpace(fmt.Sprintf("%s --seed %d", more, seed))
				id := n.name + "/" + strings.ReplaceAll(strings.ReplaceAll(what, "--", ""), " ", "")
				p.run(t, id, func(t *testing.T) {
					for i := range calibs {
						if done%2 == 1 {
							i = len(calibs) - 1 - i
						}
						lines = append(lines, s.one(t, p, n, calibs, i, what)...)
					}
					done++
				})
			}
		}
	}
	if s.sum != nil {
		p.after += s.sum(t, lines)
	}
	p.save(t)
}

// buildOf is the commit that a program was built from.
func buildOf(t *testing.T, program string) string {
	t.Helper()
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	setting := map[string]string{}
	for _, s := range info.Settings {
		setting[s.Key] = s.Value
	}
	commit := setting["vcs.revision"]
	if commit == "" {
		return info.Main.Version
	}
	if commit = commit[:min(12, len(commit))]; setting["vcs.modified"] == "true" {
		commit += "-dirty"
	}
	return commit
}

// one measures a case with one build.
func (s suite) one(t *testing.T, p *table, n network, calibs []string, build int, what string) []line {
	defer recovered(t)
	flags := append(strings.Fields(s.flags), strings.Fields(what)...)
	if !s.timed {
		flags = append(flags, "--quiet")
	}
	label, id := "", strings.NewReplacer("--", "", " ", "").Replace(s.name+"-"+n.name+"-"+what)
	if len(calibs) > 1 {
		label, id = buildOf(t, calibs[build])+" | ", fmt.Sprintf("%s-%d", id, build)
	}
	dir := place(t, id)
	if s.around != "" {
		start := n.start
		n.start = func(t *testing.T, calib string) []string {
			args := start(t, calib)
			at := slices.Index(args, "--") + 1
			return slices.Concat(args[:at], []string{"sh", "-c", s.around, dir, "{hosts}"}, args[at:])
		}
	}
	r := calibrate(t, calibs[build], n, dir, s.timed, flags...)
	if s.prepare != nil && !*refitFlag {
		s.prepare(t, r)
	}
	lines := s.expect(t, r)
	for i := range lines {
		l := &lines[i]
		l.network = n.name
		p.add(t, fmt.Sprintf("| %s%s | %s | %s | %s |", label, n.name, what, strings.Join(l.cells, " | "), l.verdict))
		if l.fails() {
			t.Errorf("%s: %q is %s", n.name, l.cells, l.verdict)
		}
	}
	return lines
}

// TestShortLab is make accuracy in small: networks of known truth, real agents and kernel TCP in namespaces, the real
// command.
func TestShortLab(t *testing.T) {
	needs.Namespaces(t)
	for _, name := range []string{"short", "short-cluster"} {
		t.Run(name, func(t *testing.T) { lookup(t, name).measure(t, "") })
	}
}
