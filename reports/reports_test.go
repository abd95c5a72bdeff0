package reports

import (
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/jedib0t/go-pretty/v6/text"

	"calib/internal/units"
	"calib/params"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

// fixture is a run on the emulated sparc1994 cluster.
func fixture(t testing.TB) *params.Params {
	t.Helper()
	f, err := os.Open("testdata/params.json")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p, err := params.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (run with -update if it is meant):\n%s", name, diff)
	}
}

var forecast = Plan{
	Name: "standard", Hosts: 8, Seed: 42, Rounds: 12, Slots: 1260, MinutesLo: 3.4, MinutesHi: 11.2, LookSeconds: 21.4,
	BytesPerLink: 3 * units.GiB,
	Network:      "network: 31 µs one way, 8.5 ns a byte (941 Mbit/s), no loss; 4 pairs at once do not disturb each other",
	Asked:        14,
	Left:         []string{"pattern"}, WholeMinutes: 21,
	Experiments: []PlanExperiment{
		{Name: "clock", Share: 0.06, Points: 1, Slots: 84, MinutesLo: 0.2, MinutesHi: 0.2, BytesPerLink: 9 * units.KiB},
		{Name: "pingpong", Share: 0.62, Points: 24, Slots: 1008, MinutesLo: 2.1, MinutesHi: 7.9,
			BytesPerLink: 2*units.GiB + 77*units.MiB},
		{Name: "paired", Share: 0.32, Points: 48, Whole: 96, Slots: 168, MinutesLo: 1.1, MinutesHi: 130,
			BytesPerLink: 900 * units.MiB},
	},
}

func TestGolden(t *testing.T) {
	p := fixture(t)
	dir := "calib-run-20260301-101500"
	for _, c := range []struct {
		name   string
		render func(*bytes.Buffer) error
	}{
		{"report.txt", func(b *bytes.Buffer) error { return Text(b, p, Options{Dir: dir}) }},
		{"report-80.txt", func(b *bytes.Buffer) error { return Text(b, p, Options{Width: 80}) }},
		{"report-colour.txt", func(b *bytes.Buffer) error { return Text(b, p, Options{Dir: dir, Colour: true}) }},
		{"screen.txt", func(b *bytes.Buffer) error {
			return Screen(b, p, Options{Dir: "my runs/it's one", Took: 298 * time.Second})
		}},
		{"plan.txt", func(b *bytes.Buffer) error { return PlanText(b, forecast, Options{}) }},
		{"empty.txt", func(b *bytes.Buffer) error { return Text(b, &params.Params{}, Options{}) }},
	} {
		var b bytes.Buffer
		if err := c.render(&b); err != nil {
			t.Fatal(err)
		}
		golden(t, c.name, b.Bytes())
	}
}

var ansi = regexp.MustCompile("\x1b\\[[0-9;]*m")

// Colour is on top of the plain report: take it away and the same bytes remain. The plain one has no control codes.
func TestColourCarriesNoInformation(t *testing.T) {
	p := fixture(t)
	var plain, coloured bytes.Buffer
	if err := Text(&plain, p, Options{}); err != nil {
		t.Fatal(err)
	}
	if err := Text(&coloured, p, Options{Colour: true}); err != nil {
		t.Fatal(err)
	}
	for _, r := range plain.String() {
		if unicode.IsControl(r) && r != '\n' {
			t.Fatalf("control code %q in the plain report", r)
		}
	}
	if coloured.Len() == plain.Len() {
		t.Error("colour was asked for and there is none")
	}
	if diff := cmp.Diff(plain.String(), ansi.ReplaceAllString(coloured.String(), "")); diff != "" {
		t.Error(diff)
	}
}

// A locale that counts µ as two columns must not change a file. The locale is read once, when a process starts.
func TestLocaleDoesNotMatter(t *testing.T) {
	cmd := exec.Command(os.Args[0], "-test.run=^TestGolden$")
	cmd.Env = append(os.Environ(), "LC_ALL=ja_JP.UTF-8", "RUNEWIDTH_EASTASIAN=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestHostileNames(t *testing.T) {
	p := fixture(t)
	evil := "h\x1b[2J\r\n1"
	p.Run.ID, p.Run.Hosts[0] = evil, evil
	p.Fits[1].Findings = append(p.Fits[1].Findings, params.Warnf(params.OneRound, "%s", evil),
		params.Warnf(params.SlowHost, "%s", evil))
	p.Fits[2].Findings = append(p.Fits[2].Findings, params.Notef("delay-in-a", "%s", evil))
	p.Findings = append(p.Findings, params.Warnf(params.SlowHost, "%s", evil).About(evil))
	p.Pairs[3].From = evil
	a := p.Parameters["a"]
	a.Label, a.Unit, a.Source = evil, evil, evil
	p.Parameters["a"], p.Parameters[evil] = a, a
	p.Environment.Common[evil] = evil
	p.Environment.Differences[evil] = map[string]string{evil: evil}
	var b bytes.Buffer
	if err := Text(&b, p, Options{Dir: evil}); err != nil {
		t.Fatal(err)
	}
	if i := bytes.IndexAny(b.Bytes(), "\x1b\r"); i >= 0 {
		t.Errorf("control code at %q", b.Bytes()[max(0, i-40):i+5])
	}
}

func TestWidthIsKept(t *testing.T) {
	p := fixture(t)
	for _, width := range []int{100, 120} {
		var b bytes.Buffer
		if err := Text(&b, p, Options{Width: width}); err != nil {
			t.Fatal(err)
		}
		for _, l := range strings.Split(b.String(), "\n") {
			if w := text.StringWidth(l); w > width {
				t.Errorf("width %d: a line of %d columns: %s", width, w, l)
			}
			if strings.TrimRight(l, " ") != l {
				t.Errorf("trailing space: %q", l)
			}
		}
	}
}

func TestGroupWarnings(t *testing.T) {
	want := []string{
		"host h5 is slow: a message takes 2.01 times as long as usual, in 12 of 12 looks",
		"size 64: 12 of 400 timings carry flag retrans (and 2 more like it) [hockney]",
		"the governor of h7 is unknown [hockney, hyperbolic-network]",
		"a holds half of the delay L until the experiment load separates it [hyperbolic-network]",
	}
	if diff := cmp.Diff(want, WarningsOf(fixture(t))); diff != "" {
		t.Error(diff)
	}
}

// What is said of a parameter that is not of record comes after all that bears on the others.
func TestWorstWarningsFirst(t *testing.T) {
	p := &params.Params{Parameters: map[string]params.Parameter{"a": {}, "b_prime_limits": {}}}
	p.Findings = []params.Finding{
		params.Warnf(params.Impossible, "joint").Of("b_prime_limits"), params.Warnf("negative-slope", "other"),
		params.Warnf(params.Impossible, "a").Of("a"),
	}
	if got := strings.Join(WarningsOf(p), " "); got != "a other joint" {
		t.Error(got)
	}
}

func TestOutliers(t *testing.T) {
	p := &params.Params{Pairs: []params.Pair{{From: "a", To: "b"}, {From: "a", To: "c", Slow: "rate is half"},
		{From: "b", To: "c"}}}
	var b bytes.Buffer
	if err := Text(&b, p, Options{}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "\n  1 pair is slow, such as a → c: rate is half.\n") {
		t.Errorf("the slow pair is not in the verdict:\n%s", b.String())
	}
}

func TestBar(t *testing.T) {
	for _, c := range []struct {
		rel  float64
		want string
	}{{0, "        │"}, {0.04, "        │████████"}, {-0.02, "    ████│"}, {1, "        │████████"}} {
		if got := bar(c.rel, 0.04); got != c.want {
			t.Errorf("bar(%v) = %q, want %q", c.rel, got, c.want)
		}
	}
}

func TestSmallText(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{units.Plural(1, "host"), "1 host"}, {units.Plural(0, "host"), "0 hosts"},
		{units.Plural(-1234567, "x"), "-1,234,567 xs"},
		{count(65536), "65,536"}, {count(1.5), "1.5"},
		{timeRange(0.5, 0.5), "30 s"}, {timeRange(1, 90), "60 s to 90 min"}, {timeRange(119.99, 300), "120 min to 5.0 h"},
		{ShellWord("a/b-c.1"), "a/b-c.1"}, {ShellWord("it's"), `'it'\''s'`}, {ShellWord(""), "''"},
		{sentence("a_c is zero"), "a_c is zero."}, {sentence("the end."), "The end."}, {sentence(""), ""},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}

// The summary says what the network is, of as many hosts as can tell.
func TestNetwork(t *testing.T) {
	many, few := []string{"a", "b", "c", "d"}, []string{"a", "b"}
	rate := 0.5e-6
	for _, c := range []struct {
		hosts   []string
		network *params.Network
		want    string
	}{
		{many, nil, "it is not known whether hosts slow each other"},
		{many, &params.Network{Packets: params.Unknown, Streams: params.Unknown},
			"it is not known whether hosts slow each other"},
		{few, &params.Network{Packets: params.Switch, Streams: params.Switch}, "2 hosts, too few to see contention"},
		{many, &params.Network{Packets: params.Switch, Streams: params.Switch}, "a switch, pairs do not slow each other"},
		{many, &params.Network{Packets: params.Shared, Streams: params.Shared}, "a shared medium of 16 Mbit/s, every host " +
			"slows the others"},
	} {
		p := &params.Params{Network: c.network, Run: params.Run{Hosts: c.hosts},
			Parameters: map[string]params.Parameter{"b_c": {Value: &rate}}}
		if got := SummaryOf(p, Options{}).Network; got != c.want {
			t.Errorf("%v: %q, want %q", c.network, got, c.want)
		}
	}
}

// A gap is positive, however wide its interval is.
func TestAtPacket(t *testing.T) {
	for _, half := range []float64{1e-6, 7e-6} {
		q := atPacket(params.Function{Form: params.Line, Unit: "s", Domain: map[string][2]float64{"m": {1, 1448}},
			Coeff: map[string]float64{"c0": 6e-6, "c1": 0},
			CI95:  map[string][2]float64{"c0": {6e-6 - half, 6e-6 + half}, "c1": {0, 0}}})
		if q.CI95 == nil || q.CI95[0] <= 0 {
			t.Errorf("6 µs ± %g s: %+v", half, q)
		}
	}
	jumbo := params.Function{Form: params.Line, Unit: "s", Domain: map[string][2]float64{"m": {1, 8948}},
		Coeff: map[string]float64{"c0": 0, "c1": 1e-9}}
	if q := atPacket(jumbo); q.Value == nil || math.Abs(*q.Value-8.948e-6) > 1e-12 {
		t.Errorf("a packet of 8948 B: %+v", q)
	}
}

func TestWarningsAboutHosts(t *testing.T) {
	slow := func(host, message string) params.Finding {
		return params.Warnf(params.SlowHost, "%s", message).About(host)
	}
	p := &params.Params{
		Findings: []params.Finding{slow("a", "host a is slow: why"), slow("b", "host b is slow"),
			params.Warnf(params.SlowUplink, "the uplink of g is slow").About("g")},
		Pairs: []params.Pair{{From: "a", To: "c", Slow: "x"}, {From: "a", To: "d", Slow: "x"}, {From: "c", To: "d"},
			{From: "b", To: "c", Slow: "x"}, {From: "d", To: "c"}, {From: "e", To: "f", Slow: "half the rate"}},
	}
	if got := WarningsOf(p); len(got) != 3 {
		t.Errorf("two slow hosts and an uplink are three warnings: %q", got)
	}
	if got := OddOf(p); len(got.Rows) != 4 {
		t.Errorf("what stands out: %v", got.Rows)
	}
	want := []string{"Host a is slow: why.", "Host b is slow.", "The uplink of g is slow.",
		"1 pair is slow, such as e → f: half the rate."}
	if diff := cmp.Diff(want, SummaryOf(p, Options{}).Odd); diff != "" {
		t.Errorf("a host is named once, and its pairs are not counted again:\n%s", diff)
	}
}

// Whatever params.json decodes to is printed without a panic and without control codes.
func FuzzText(f *testing.F) {
	f.Add([]byte(`{"schema":"calib.params/4","parameters":{"b":{"status":"bound","unit":"s","bound":[null,1e-9]}},
		"functions":{"T":{"form":"c0_i + c1_i*x","coeff":{"c1_1":2},"unit":"s"}},"pairs":[{"from":"a","to":"b","slow":"x"}],
		"fits":[{"model":"m","domain":{"bytes":[1,2]}}]}`))
	f.Add([]byte(`{"schema":"calib.params/4","fits":[{"model":"m","series":[{"name":"b","quantity":"time-per-byte","x_name":"pairs","points":[]}]}]}`))
	f.Add([]byte(`{"schema":"calib.params/4","network":{"packets":"shared"},"findings":[{"code":"slow-host","level":"warning","message":""}],
		"fits":[{"model":"m","series":[{"name":"T","x_name":"bytes","points":[{"x":1,"measured":null,"fitted":1e-9}]},{"name":"U"}]}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := params.Decode(bytes.NewReader(b))
		if err != nil {
			return
		}
		var out bytes.Buffer
		if err := Text(&out, p, Options{Dir: "d"}); err != nil {
			t.Fatal(err)
		}
		if strings.ContainsFunc(out.String(), func(r rune) bool { return unicode.IsControl(r) && r != '\n' }) {
			t.Errorf("control code in %q", out.String())
		}
	})
}

// TestNothingPredicted: the summary says so where patterns were measured and no model has its parameters.
func TestNothingPredicted(t *testing.T) {
	p := &params.Params{Findings: []params.Finding{params.Warnf(params.NotPredicted, "no model has the parameters")}}
	if got := SummaryOf(p, Options{}).Unseen; !strings.Contains(got, "not predicted") {
		t.Errorf("summary %q", got)
	}
	p.Findings = nil
	if got := SummaryOf(p, Options{}).Unseen; got != "" {
		t.Errorf("summary without patterns %q", got)
	}
}

// A budget may end within a round: what it left out of that spoils nothing.
func TestEndsWithinRound(t *testing.T) {
	p := fixture(t)
	p.Run.Rounds = 6
	for missing, want := range map[float64]bool{0: false, 0.11: false, 0.2: true} {
		p.Run.Missing = missing
		said := strings.Contains(strings.Join(SummaryOf(p, Options{}).Spoiled, " "), "of the plan was not measured")
		if said != want {
			t.Errorf("%g missing is said: %v", missing, said)
		}
	}
}

// What has no room on the screen is in the report.
func TestScreenIsShort(t *testing.T) {
	p := fixture(t)
	p.Run.Missing, p.Run.Rounds = 0.1, 2
	for _, name := range []string{"x1", "x2", "x3", "x4", "x5", "x6", "x7"} {
		p.Findings = append(p.Findings, params.Warnf(params.SlowHost, "host %s is slow: 1.5 times the median",
			name).About(name))
	}
	s := SummaryOf(p, Options{})
	var screen, report bytes.Buffer
	if err := errors.Join(Screen(&screen, p, Options{Dir: "run"}), Text(&report, p, Options{Width: 300})); err != nil {
		t.Fatal(err)
	}
	for _, text := range append(s.Spoiled, s.Odd...) {
		if !strings.Contains(report.String(), text) {
			t.Errorf("the report does not say %q", text)
		}
	}
	if n := strings.Count(screen.String(), "\n"); n > 24 || !strings.Contains(screen.String(), "The report has more.") {
		t.Errorf("%d lines:\n%s", n, screen.String())
	}
}

// Other work spoils a run where it disturbed more than a quarter of its timings: fewer move the medians little. The
// screen says so whatever the verdict, of all models together, and with the share of the tile.
func TestDisturbed(t *testing.T) {
	for n, want := range map[float64]bool{10: false, 30: true} {
		p := fixture(t)
		p.Fits, p.Run.Rounds = nil, minRounds
		for _, of := range []string{"pingpong", "paired", "load", "load"} { // no model alone has a quarter of all
			p.Fits = append(p.Fits, &params.Fit{Experiment: of, Used: 100, Findings: []params.Finding{
				params.Notef(params.DisturbedTimings, "").With("timings", n)}})
		}
		s := SummaryOf(p, Options{})
		share := s.Tiles[len(s.Tiles)-1].Value
		if got := slices.ContainsFunc(s.Spoiled, func(text string) bool {
			return strings.HasPrefix(text, share+" of the timings were disturbed.")
		}); got != want || s.Verdict != good || share != Percent(n/100) {
			t.Errorf("%g of 100 timings, %s: %q, the tile has %s", n, s.Verdict, s.Spoiled, share)
		}
	}
}

// What a network was made of stands beside what was found, in the unit of the number; other numbers have no truth.
func TestTruth(t *testing.T) {
	g := SummaryOf(fixture(t), Options{Truth: map[string]float64{"a": 860e-6}}).Numbers
	if len(g.Columns) != 5 || g.Columns[3].Name != "truth" {
		t.Fatalf("columns %v", g.Columns)
	}
	for _, row := range g.Rows {
		want := ""
		if row[0] == "a    host, message" {
			want = "860 µs"
		}
		if len(row) != 5 || row[3] != want {
			t.Errorf("row %q, want %q for the truth", row, want)
		}
	}
}

// record decodes the params.json of a run that was recorded.
func record(t *testing.T, path string) *params.Params {
	t.Helper()
	packed, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	p, err := params.Decode(plain)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// onScreen checks that a terminal of 24 lines of 80 columns has all of a screen. Only paths and commands may be longer
// than a line: nobody could copy a part of them.
func onScreen(t *testing.T, name, screen string) {
	t.Helper()
	lines := 0
	for l := range strings.Lines(screen) {
		n := utf8.RuneCountInString(strings.TrimSuffix(l, "\n"))
		lines += max(1, (n+79)/80)
		if n > 80 && !regexp.MustCompile("^(Report|Numbers|Next)  ").MatchString(l) {
			t.Errorf("%s: %d columns: %s", name, n, l)
		}
	}
	if lines > 24 {
		t.Errorf("%s: %d lines:\n%s", name, lines, screen)
	}
}

// A screen has the summary of every recorded run, six kinds of them: a good one (racks), a poor one, two hosts, local
// agents, a slow host, and a partial one, in which an agent died. Poor, local and partial are of real agents.
func TestScreens(t *testing.T) {
	fitted, _ := filepath.Glob("../fit/models/testdata/*/params.json.gz")
	here, err := filepath.Glob("testdata/*.json.gz")
	if err != nil || len(fitted) < 7 || len(here) < 3 {
		t.Fatalf("%d and %d recorded runs: %v", len(fitted), len(here), err)
	}
	for _, path := range append(fitted, here...) {
		name := strings.TrimSuffix(filepath.Base(path), ".json.gz")
		if name == "params" {
			name = filepath.Base(filepath.Dir(path))
		}
		var out bytes.Buffer
		if err := Screen(&out, record(t, path), Options{Dir: "runs/" + name, Took: 298 * time.Second}); err != nil {
			t.Fatal(err)
		}
		golden(t, "screen-"+name+".txt", out.Bytes())
		onScreen(t, name, out.String())
	}
}

// However much there is to say of a run, it has room on the screen: what the verdict does not need gives way.
func TestScreenHasRoom(t *testing.T) {
	long := strings.Repeat("n", 30)
	truth := map[string]float64{}
	o := Options{}
	things := []func(p *params.Params){
		func(p *params.Params) { p.Run.Rounds, p.Run.Missing = 5, 0.4 },
		func(p *params.Params) {
			for _, code := range []params.Code{params.ManyLeftOut, params.MixedVersions, params.LostSegments, params.TwoStates} {
				p.Findings = append(p.Findings, params.Warnf(code, "").With("share", 0.5))
			}
			p.Findings = append(p.Findings, params.Notef(params.DisturbedTimings, "").With("timings", 1e9))
		},
		func(p *params.Params) {
			for _, host := range []string{"h1", "node2", long} {
				p.Findings = append(p.Findings, params.Warnf(params.SlowHost, "host %s is slow: a byte takes 12.41 times as long "+
					"as usual, in sending only, in 14 of 14 looks", host).About(host))
			}
			p.Pairs = append(p.Pairs, params.Pair{From: long, To: "x", Slow: "a byte takes twice as long as usual, both ways"})
		},
		func(p *params.Params) {
			p.Findings = append(p.Findings, params.Warnf(params.SlowUplink, "the way from the group of host %s to the others "+
				"is slow: a byte takes 2.00 times as long as usual, in 14 of 14 looks", long).About("h1", "h2"),
				params.Warnf(params.Undecided, "host %s may be slow, which is not decided: a message takes 1.07 times", long))
		},
		func(p *params.Params) {
			over := 1.999
			p.Groups = &params.Groups{Hosts: make([][]string, 12), Apart: 1.2}
			p.Parameters["oversubscription"] = params.Parameter{Value: &over, CI95: &[2]float64{1.922, 2.073}, Unit: "1"}
			p.Kinds = [][]string{make([]string, 128), {"h7"}}
		},
		func(p *params.Params) {
			p.Findings = append(p.Findings, params.Notef(params.OneMachine, "").With("hosts", 7))
		},
		func(p *params.Params) {
			for i, op := range slices.Sorted(maps.Keys(operations)) {
				v := params.Validation{Model: "sim-endless", Pattern: op + "-x", Error: 0.04 * float64(i)}
				p.Validation = append(p.Validation, v)
			}
		},
		func(p *params.Params) {
			p.Run.Plan = "quick"
			p.Run.Where = "--hosts /home/somebody/clusters/" + long + "/hosts.txt --launch 'kubectl exec -i {host} --'"
		},
		func(*params.Params) { o.Dir = strings.Repeat("/a-long-path", 11) },
		func(p *params.Params) {
			p.Run.Plan += "-" + long + long
			for name, q := range p.Parameters {
				if q.Value != nil {
					truth[name] = *q.Value
				}
			}
			o.Truth = truth
		},
	}
	port := params.Bound{35050, math.Inf(1)}
	try := func(name string, has func(thing int) bool) {
		p := record(t, "../fit/models/testdata/switch-full/params.json.gz")
		o = Options{Dir: "run", Took: 298 * time.Second}
		p.Run.Rounds = 12
		p.Parameters["B_L"] = params.Parameter{Bound: &port, Unit: "packets", Status: params.StatusBound}
		for i, add := range things {
			if has(i) {
				add(p)
			}
		}
		var out bytes.Buffer
		if err := Screen(&out, p, o); err != nil {
			t.Fatal(err)
		}
		onScreen(t, name, out.String())
		for _, want := range []string{" RUN: ", "\n *a_c  net", "\n *b_c  net", "\nReport  ", "\nNumbers ", "\nNext  "} {
			if !regexp.MustCompile(want).MatchString(out.String()) {
				t.Errorf("%s: without %q:\n%s", name, want, out.String())
			}
		}
	}
	try("nothing", func(int) bool { return false })
	try("all", func(int) bool { return true })
	for a := range things {
		try(fmt.Sprint("without ", a), func(i int) bool { return i != a })
		for b := range a + 1 {
			try(fmt.Sprint(a, " and ", b), func(i int) bool { return i == a || i == b })
		}
	}
}

// The verdict is one line of 80 columns on every kind of network, on however few machines.
func TestVerdictIsOneLine(t *testing.T) {
	rate, none := 8/8.725e6, 0.0
	kinds := []params.Kind{params.Switch, params.Shared, params.Unknown}
	for _, packets := range kinds {
		for _, streams := range kinds {
			for _, machine := range []float64{0, 7, 8} {
				p := &params.Params{Network: &params.Network{Packets: packets, Streams: streams}}
				p.Run.Hosts = make([]string, 8)
				p.Parameters = map[string]params.Parameter{"b_c": {Value: &rate},
					"a_c": {Value: &none, CI95: &[2]float64{1e-9, 1e-6}}}
				if machine > 0 {
					p.Findings = []params.Finding{params.Notef(params.OneMachine, "").With("hosts", machine)}
				}
				line := "USABLE RUN: " + SummaryOf(p, Options{}).Network
				if len(line) > 80 || strings.Contains(line, "on one machine") != (machine > 0) {
					t.Errorf("%v %v, %g on a machine: %d columns: %s", packets, streams, machine, len(line), line)
				}
			}
		}
	}
}

// A verdict that is not good has a reason, and says what to do.
func TestReason(t *testing.T) {
	p := record(t, "testdata/poor.json.gz")
	want := []string{"a, a_c, b_c: 2 numbers of pairs for 2 parameters: the fit cannot be checked.",
		"A longer --budget may help."}
	if s := SummaryOf(p, Options{}); s.Verdict != poor || !slices.Equal(s.Spoiled, want) {
		t.Errorf("%s %q", s.Verdict, s.Spoiled)
	}
}

// Batches that were disturbed count, also where they are too many to leave out. An exchange that blocks is no
// disturbance: the experiment looks for it.
func TestDisturbedTile(t *testing.T) {
	p := &params.Params{Fits: []*params.Fit{
		{Experiment: "pingpong", Used: 80, LeftOut: 20, LeftOutWhy: map[string]int{"steal": 10, "slow host": 10},
			Findings: []params.Finding{params.Notef(params.DisturbedTimings, "").With("timings", 60)}},
		{Experiment: "pingpong", Used: 100, LeftOut: 0}, // another model of the same timings
		{Experiment: "buffer", Used: 50, LeftOut: 50, LeftOutWhy: map[string]int{"deadlock": 40, "retrans": 10}},
	}}
	tiles := SummaryOf(p, Options{}).Tiles
	if got, want := tiles[len(tiles)-1], (Tile{"disturbed", "35.0%", "of the timings; 5.0% are left out"}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// Times to plan with are in units of which one is a few, whatever a loaded machine forecasts.
func TestMinutes(t *testing.T) {
	for m, want := range map[float64]string{1.9: "114 s", 119: "119 min", 120: "2.0 h", 47.9 * 60: "47.9 h",
		48 * 60: "2 days", 100 * 24 * 60: "100 days", 76566.7 * 60: "more than a year", 1e300: "more than a year",
		math.Inf(1): "more than a year"} {
		if got := minutes(m); got != want {
			t.Errorf("%g minutes are %q, want %q", m, got, want)
		}
	}
}

// A command is copied to a shell: whoever wrote a params.json has it run no other. What a shell takes as it is stays.
func TestCommandsOfStrangers(t *testing.T) {
	const usual = "calib check --hosts hosts.txt"
	for _, where := range []string{"", "--hosts x; rm -rf ~", "--hosts $(id)", "--hosts `id`", "--hosts x\nid",
		"--hosts 'x\nid'", "--hosts x|id", "--hosts x>y", "--hosts x &", "--hosts 'x'y'", "--hosts \"$HOME\"", "--hosts x #",
		"--hosts {a,b}", "--hosts ~/x", "--hosts \\", "--hosts x\x1b[2J"} {
		p := &params.Params{Run: params.Run{Where: where}}
		if got := p.Command("check"); got != usual {
			t.Errorf("%q: %q, want %q", where, got, usual)
		}
	}
	for _, where := range []string{"--hosts '/a b/it'\\''s.txt' --launch='ssh -p 2 {host}'",
		"--host 'node[01-16],gate' --slurm"} {
		p := &params.Params{Run: params.Run{Where: where}}
		if got := p.Command("check"); got != "calib check "+where {
			t.Errorf("%q: %q", where, got)
		}
	}
	p := &params.Params{Run: params.Run{Sampled: map[string]params.Sampled{"gap": {}, "x;id": {}, "x --launch y": {},
		"$x": {}}}}
	if got := p.Measure(); got != "calib run --hosts hosts.txt --only clock,gap" {
		t.Errorf("%q", got)
	}
}

// The commands that measure again are on the hosts that were typed; there are none where these are gone.
func TestNextHosts(t *testing.T) {
	for where, want := range map[string][]string{
		"":          {"calib check --hosts hosts.txt", "calib run --hosts hosts.txt --plan standard"},
		"--local 2": {"calib check --local 2", "calib run --local 2 --plan standard"},
		"--hosts /run/calib-lab/calib.hosts --launch '$CALIB_LAB_LAUNCH'": nil,
	} {
		p := &params.Params{Run: params.Run{Plan: "quick", Where: where},
			Findings: []params.Finding{params.Warnf(params.SlowHost, "").About("h1")}}
		if got := nextOf(p, "run"); !slices.Equal(got, want) {
			t.Errorf("%q: %q", where, got)
		}
		p.Run.Plan = "imported:osu"
		if got := nextOf(p, "run"); len(got) > 0 {
			t.Errorf("another tool's hosts: %q", got)
		}
	}
}

// What is offered next can be done: an export needs g_s, a packet is not enough.
func TestNextNeedsWhatItReads(t *testing.T) {
	packet := 1448.0
	p := &params.Params{Run: params.Run{Hosts: []string{"a", "b"}},
		Parameters: map[string]params.Parameter{"packet": {Value: &packet}, "alpha": {}}}
	if got := nextOf(p, "run"); len(got) != 1 || got[0] != "calib explain alpha run" {
		t.Errorf("%q", got)
	}
	p.Functions = map[string]params.Function{"g_s": {}, "T": {}}
	if got := nextOf(p, "run"); len(got) != 1 || got[0] != "calib export --to simgrid run" {
		t.Errorf("%q", got)
	}
	p.Run.Hosts = append(p.Run.Hosts, "c")
	if got := nextOf(p, "run"); len(got) != 1 || got[0] != "calib explain alpha run" {
		t.Errorf("three hosts, and nothing of what they share: %q", got)
	}
}
