package harness

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"calib/internal/files"
	"calib/internal/units"
	"calib/params"
)

var updateFlag = flag.Bool("update", false, "rewrite docs/results/papers.md from the formulas and the stored runs")

// paper is one paper's tables and figures. Its words, and what cannot be rebuilt, are in testdata/papers/KEY.md.
type paper struct {
	key             string // in testdata/published.json, too
	figures, tables int    // that it has
	rows            []row
	missing         string // from the stored runs
}

// row is a number that a paper states, beside the product's.
type row struct {
	place string // figure, table or equation; that of the row before where it is empty
	what  string
	// paper is what the paper prints, with an expression before it: "2 a + b = 3.5 µs". "at most 8 %" is the largest
	// error that it states of its model. What ours may differ by is half a unit of the last digit printed, or what is
	// said: "3.5 µs ± 15%".
	paper string
	ours  got
	by    string // the functions that computed it, or the run that it was measured in
	cause string // of a difference above the paper's own error
}

// got is what the product computed or measured, in SI units.
type got struct {
	value float64
	ci    *[2]float64 // 95% interval of one that was measured
	note  string      // beside it
}

// is a number that a formula of the product gives.
func is(v float64) got { return got{value: v} }

// printed are the units of the papers: SI units in one.
var printed = map[string]float64{"": 1, "µs": 1e-6, "ms": 1e-3, "µs/B": 1e-6, "packets": 1, "cycles": 1, "%": 0.01}

// stated is a number as a paper states it, in SI units.
type stated struct {
	value  float64
	unit   string
	within float64 // what a difference may be
	atMost bool    // ours may be smaller
}

// stated reads what the paper prints.
func (r row) stated() stated {
	text, s := r.paper, stated{}
	if i := strings.LastIndex(text, " = "); i >= 0 {
		text = text[i+len(" = "):]
	}
	text, s.atMost = strings.CutPrefix(text, "at most ")
	text, about, isAbout := strings.Cut(text, " ± ")
	number, unit, _ := strings.Cut(text, " ")
	number = strings.ReplaceAll(number, ",", "")
	over, under, isRatio := strings.Cut(number, "/")
	v, err := strconv.ParseFloat(over, 64)
	scale, known := printed[unit]
	if err != nil || !known {
		panic(fmt.Sprintf("%q: want NUMBER UNIT at its end", r.paper)) // texts are literals
	}
	s.unit, s.value = unit, v*scale
	_, fraction, _ := strings.Cut(over, ".")
	switch {
	case isRatio:
		u, _ := strconv.ParseFloat(under, 64)
		s.value /= u
	case isAbout:
		share, _ := strconv.ParseFloat(strings.TrimSuffix(about, "%"), 64)
		s.within = share / 100
	case s.atMost:
		s.within = 0.5 * math.Pow10(-len(fraction)) * scale
	case v != 0:
		s.within = 0.5 * math.Pow10(-len(fraction)) / math.Abs(v)
	}
	return s
}

// off is the relative distance of ours from the paper's number; the distance itself where that is zero or an error.
func (r row) off() float64 {
	s := r.stated()
	d := r.ours.value - s.value
	if s.atMost || s.value == 0 {
		return d
	}
	return d / s.value
}

// holds reports whether ours is within the paper's own error, or the interval of one that was measured holds the
// paper's.
func (r row) holds() bool {
	const slack = 1e-9 // what the arithmetic may round
	switch ci, s := r.ours.ci, r.stated(); {
	case s.atMost:
		return r.off() <= s.within+slack
	case ci != nil && ci[0] <= s.value && s.value <= ci[1]:
		return true
	default:
		return math.Abs(r.off()) <= s.within+slack
	}
}

// because gives a row that does not hold its cause.
func (r row) because(cause string) row {
	if !r.holds() {
		r.cause = cause
	}
	return r
}

// difference is ours against the paper's number, as text.
func (r row) difference() string {
	var s string
	switch d := r.off(); {
	case r.stated().atMost && r.holds():
		s = "no larger"
	case r.stated().atMost:
		s = fmt.Sprintf("%.0f points above", 100*d)
	case math.Abs(d) < 0.5e-4:
		s = "0"
	case math.Abs(d) < 0.1:
		s = fmt.Sprintf("%+.2f%%", 100*d)
	default:
		s = fmt.Sprintf("%+.1f%%", 100*d)
	}
	if !r.holds() {
		s = "**" + s + "**"
	}
	return s
}

// line is the row in the table.
func (r row) line() string {
	unit, digits := r.stated().unit, 6
	switch {
	case unit == "%":
		digits = 3
	case r.ours.ci != nil:
		digits = 4
	}
	in := func(v float64) string { return digitsOf(v/printed[unit], digits) }
	ours := in(r.ours.value)
	if ci := r.ours.ci; ci != nil {
		ours += fmt.Sprintf(" [%s, %s]", in(ci[0]), in(ci[1]))
	}
	if ours = strings.TrimSpace(ours + " " + unit); r.ours.note != "" {
		ours += ", " + r.ours.note
	}
	return "| " + strings.Join([]string{r.place, r.what, r.paper, ours, r.difference(), r.by, r.cause}, " | ") + " |\n"
}

// digitsOf writes a number with so many significant digits, and whole thousands apart.
func digitsOf(v float64, digits int) string {
	if math.Abs(v) >= math.Pow10(digits-1) && math.Abs(v) < 1e15 {
		return units.Grouped(int64(math.Round(v)))
	}
	return strconv.FormatFloat(v, 'g', digits, 64)
}

// papers builds all four.
func papers(t *testing.T) []paper {
	t.Helper()
	defer recovered(t)
	m := load(t)
	return []paper{hyperbolicPaper(m), clusterPaper(m), overlapPaper(), logpcPaper()}
}

// text is a file of testdata/papers.
func text(name string) string {
	return string(must(os.ReadFile(filepath.Join(storedIn, name))))
}

// section is the paper's part of the page: its file, with the rows in their place.
func (p paper) section() string {
	rows, before := tableHead("where | what | paper | ours | difference | by | cause"), ""
	for _, r := range p.rows {
		if r.place == before {
			r.place = ""
		} else if r.place != "" {
			before = r.place
		}
		rows += r.line()
	}
	return strings.Replace(text(p.key+".md"), "\nROWS\n", rows+"\n", 1) + p.missing
}

// cannot are the rows of what cannot be rebuilt: where, what it shows, why not.
func (p paper) cannot() (out [][]string) {
	_, table, _ := strings.Cut(p.section(), "Cannot be rebuilt:")
	for l := range strings.Lines(table) {
		if cells := strings.Split(strings.Trim(l, "|\n"), " | "); len(cells) == 3 {
			out = append(out, cells)
		}
	}
	return out[1:]
}

// papersPage is docs/results/papers.md below its head.
func papersPage(t *testing.T) string {
	t.Helper()
	defer recovered(t)
	summary := tableHead("paper | numbers rebuilt | within its own error | outside, with its cause | cannot be rebuilt")
	sections := ""
	for _, p := range papers(t) {
		within := 0
		for _, r := range p.rows {
			if r.holds() {
				within++
			}
		}
		section := p.section()
		title, _, _ := strings.Cut(strings.TrimPrefix(section, "## "), "\n")
		summary += fmt.Sprintf("| %s | %d | %d | %d | %d figures, tables or columns |\n", title, len(p.rows), within,
			len(p.rows)-within, len(p.cannot()))
		sections += "\n" + section
	}
	fill := strings.NewReplacer("\nRUNS\n", load(t).table(), "\nSUMMARY\n", summary)
	return fill.Replace(text("introduction.md")) + sections
}

// paperRun is a calibration of the lab's copy of a paper's cluster, with the plan of its name. Of it are stored some
// numbers, the times of patterns, and gathers.
type paperRun struct {
	name, network, flags string
	numbers              string // parameters and functions
}

// paperRuns are the runs behind the measured rows.
var paperRuns = []paperRun{
	{"sparc-trees", "sparc1994:11", fixedBuffer, "a a_c b b_c"},
	{"sparc-exchanges", "sparc1994:16", fixedBuffer, ""},
	{"hku-table", "hku2000:8", "", "g_s g_r L_cluster"},
	{"hku-flood", "hku2000:8", "", "B_L"},
	{"hku-gather4", "hku2000:4", "", ""},
	{"hku-gather8", "hku2000:8", "", ""},
	{"hku-gather16", "hku2000:16", "", ""},
}

// storedIn is the folder of what was measured.
const storedIn = "harness/testdata/papers"

// measurement is what is stored of a run: numbers of the emulated network, which may be slower than the paper's.
type measurement struct {
	Name     string  `json:"name"`
	Date     string  `json:"date"` // or the run's ID, which begins with it
	Machine  string  `json:"machine"`
	Command  string  `json:"command"`
	Slowdown float64 `json:"slowdown"` // times slower than the network it stands for
	Rounds   int     `json:"rounds"`
	Timings  int     `json:"timings"`

	Parameters map[string]params.Parameter `json:"parameters"`
	Functions  map[string]params.Function  `json:"functions"`
	Times      []patternTime               `json:"times,omitempty"`
	Gathers    []params.Series             `json:"gathers,omitempty"`
}

// patternTime is the time of a pattern of communication [s], the median of the rounds.
type patternTime struct {
	Pattern  string  `json:"pattern"`
	Hosts    int     `json:"hosts"`
	Bytes    int64   `json:"bytes"`
	Measured float64 `json:"measured"`
}

// measure makes a run and stores what rows need of it.
func (p paperRun) measure(t *testing.T, calib string) {
	t.Helper()
	n := find(t, p.network, true)
	flags := strings.Fields("--seed 1 --plan harness/testdata/plans/" + p.name + ".yaml" + p.flags)
	r := calibrate(t, calib, n, place(t, p.name), false, append(flags, "--quiet")...)
	m := p.keep(r.p)
	m.Slowdown = max(1, n.spec.Slowdown)
	m.Command = fmt.Sprintf("calib lab run --strict %s -- calib run --hosts {hosts} --launch '%s' %s", p.network,
		inNamespaces[1], strings.Join(flags, " "))
	text, err := json.MarshalIndent(m, "", " ")
	if err == nil {
		err = files.Replace(filepath.Join(storedIn, p.name+".json"), append(text, '\n'))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// keep is what of a parameter file is stored. Every model has a row of each time of a pattern: those of Hockney's need
// no more than a ping-pong.
func (p paperRun) keep(q *params.Params) measurement {
	m := measurement{Name: p.name, Date: q.Run.ID, Machine: hostWords(q.Environment.Common), Rounds: q.Run.Rounds,
		Timings: q.Run.Timings, Parameters: map[string]params.Parameter{}, Functions: map[string]params.Function{}}
	for _, name := range strings.Fields(p.numbers) {
		if v, ok := q.Parameters[name]; ok {
			m.Parameters[name] = v
		}
		if f, ok := q.Functions[name]; ok {
			m.Functions[name] = f
		}
	}
	for _, v := range q.Validation {
		if v.Model == "hockney" {
			m.Times = append(m.Times, patternTime{v.Pattern, v.Hosts, v.Bytes, v.Measured})
		}
	}
	for _, f := range q.Fits {
		m.Gathers = append(m.Gathers, f.Of(params.GatherTime)...)
	}
	return m
}

// stored are the measurements of all runs, by name. One that was not measured has no values.
type stored map[string]measurement

func load(t *testing.T) stored {
	t.Helper()
	out := stored{}
	for _, r := range paperRuns {
		m := measurement{Name: r.name}
		text, err := os.ReadFile(filepath.Join(storedIn, r.name+".json"))
		if err == nil {
			err = json.Unmarshal(text, &m)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("%s: %v", r.name, err)
		}
		out[r.name] = m
	}
	return out
}

// measured reports whether a run was made.
func (m measurement) measured() bool { return m.Timings > 0 }

// table lists the runs.
func (m stored) table() string {
	text := tableHead("run | begun | machine | rounds, timings | time scale | command")
	for _, r := range paperRuns {
		s := m[r.name]
		if !s.measured() {
			text += fmt.Sprintf("| %s | not measured | | | | `make papers CASES=%s` |\n", r.name, r.name)
			continue
		}
		scale := "that of the paper"
		if s.Slowdown > 1 {
			scale = fmt.Sprintf("%g times slower; times below are divided by %g", s.Slowdown, s.Slowdown)
		}
		text += fmt.Sprintf("| %s | %s | %s | %d, %s | %s | `%s` |\n", r.name, s.Date, s.Machine, s.Rounds,
			units.Grouped(int64(s.Timings)), scale, s.Command)
	}
	return text
}

// by is the column of a measured row.
func (m measurement) by(what string) string {
	s := "measured, " + m.Name
	if what != "" {
		s += ": " + what
	}
	return s
}

// lacks is the panic of a stored run that does not hold what a row needs.
func (m measurement) lacks(what string) error {
	return fmt.Errorf("%s/%s.json has no %s: measure it with make papers CASES=%s", storedIn, m.Name, what, m.Name)
}

// row is a number of a measurement beside the paper's: a parameter, or a coefficient such as g_s.c1. Times are those of
// the network it stands for.
func (m measurement) row(place, what, name, paper string) row {
	r := row{place: place, what: what, paper: paper, by: m.by("")}
	e := estimateOf(&params.Params{Parameters: m.Parameters, Functions: m.Functions}, name)
	if !e.has {
		panic(m.lacks(name))
	}
	scale := max(1, m.Slowdown)
	if unit := r.stated().unit; unit == "packets" || unit == "" {
		scale = 1
	}
	r.ours.value = e.value / scale
	if e.ci != nil {
		r.ours.ci = &[2]float64{e.ci[0] / scale, e.ci[1] / scale}
	}
	if q, ok := m.Parameters[name]; ok && q.Status != params.StatusOK {
		r.ours.note = q.Status
	}
	return r
}

// docs/results/papers.md is what the formulas and the stored measurements give.
func TestPapersPage(t *testing.T) {
	const path = "docs/results/papers.md"
	want := papersPage(t)
	if *updateFlag {
		write(t, "papers", want)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, tail, _ := strings.Cut(string(text), stampLine)
	_, got, _ := strings.Cut(tail, "\n\n")
	if d := cmp.Diff(strings.TrimSpace(want), strings.TrimSpace(got)); d != "" {
		t.Errorf("%s is not what the formulas and the stored measurements give; go test ./harness -run TestPapersPage "+
			"-args -update rewrites it:\n%s", path, d)
	}
}

// A difference above the paper's own error has a cause, and what cannot be rebuilt has a reason.
func TestCauses(t *testing.T) {
	for _, p := range papers(t) {
		if p.rows[0].place == "" {
			t.Errorf("%s: its first row has no place", p.key)
		}
		for _, r := range p.rows {
			if r.what == "" || r.by == "" || math.IsNaN(r.ours.value) {
				t.Errorf("%s: %+v", p.key, r)
			}
			if s := r.stated(); !r.holds() && r.cause == "" {
				t.Errorf("%s, %s, %s: ours is %g, the paper has %g (± %g of it), and no cause is given", p.key, r.place,
					r.what, r.ours.value, s.value, s.within)
			}
		}
		for _, cells := range p.cannot() {
			if slices.Contains(cells, "") {
				t.Errorf("%s: %q", p.key, cells)
			}
		}
	}
}

// Every number of testdata/published.json stands in a row of its own, and every expression, or among those that cannot
// be rebuilt.
func TestPublishedNumbers(t *testing.T) {
	text, err := os.ReadFile("harness/testdata/published.json")
	if err != nil {
		t.Fatal(err)
	}
	var tree map[string]any
	if err := json.Unmarshal(text, &tree); err != nil {
		t.Fatal(err)
	}
	bare := strings.NewReplacer(" ", "", "Ω", "omega", "−", "-").Replace
	for _, p := range papers(t) {
		rows := slices.Clone(p.rows)
		for key, leaf := range leaves("", tree[p.key]) {
			stands := false
			switch v := leaf.(type) {
			case float64:
				i := slices.IndexFunc(rows, func(r row) bool {
					s := r.stated()
					return near(v, s.value) || near(v, s.value/printed[s.unit])
				})
				if stands = i >= 0; stands {
					rows = slices.Delete(rows, i, i+1)
					break
				}
				stands = slices.ContainsFunc(p.cannot(), func(cells []string) bool {
					return strings.Contains(cells[1], strconv.FormatFloat(v, 'g', -1, 64)) ||
						strings.Contains(cells[1], strconv.FormatFloat(100*v, 'g', -1, 64))
				})
			case string:
				stands = slices.ContainsFunc(p.rows, func(r row) bool {
					expression, _, ok := strings.Cut(r.paper, " = ")
					return ok && strings.HasPrefix(bare(v), bare(expression)) || strings.Contains(bare(r.what), bare(v))
				})
			}
			if !stands {
				t.Errorf("%s.%s = %v stands nowhere", p.key, key, leaf)
			}
		}
	}
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Abs(a) }

// leaves are the facts of a JSON document by path, without sources, notes and the arguments of examples.
func leaves(path string, v any) map[string]any {
	out := map[string]any{}
	add := func(key string, v any) {
		if key == "source" || strings.HasSuffix(key, "note") || key == "blocks" {
			return
		}
		for k, leaf := range leaves(strings.TrimPrefix(path+"."+key, "."), v) {
			out[k] = leaf
		}
	}
	switch v := v.(type) {
	case map[string]any:
		for key, w := range v {
			add(key, w)
		}
	case []any:
		for i, w := range v {
			add(strconv.Itoa(i), w)
		}
	default:
		out[path] = v
	}
	return out
}

// Every figure and table of the papers stands in a row or among those that cannot be rebuilt.
func TestEveryFigure(t *testing.T) {
	numbers := regexp.MustCompile(`(?:Figures?|Tables?) [0-9., and]*`)
	single := regexp.MustCompile(`[0-9]+(?:\.[0-9]+)?`)
	for _, p := range papers(t) {
		seen := map[string]bool{}
		add := func(place string) {
			for _, found := range numbers.FindAllString(place, -1) {
				for _, n := range single.FindAllString(found, -1) {
					whole, _, _ := strings.Cut(n, ".") // figure 9.1
					seen[found[:1]+whole] = true
				}
			}
		}
		for _, r := range p.rows {
			add(r.place)
		}
		for _, cells := range p.cannot() {
			add(cells[0])
		}
		for letter, count := range map[string]int{"F": p.figures, "T": p.tables} {
			for n := 1; n <= count; n++ {
				if !seen[letter+strconv.Itoa(n)] {
					t.Errorf("%s: %s%d stands nowhere", p.key, letter, n)
				}
			}
		}
	}
}

// Numbers keep the precision that they are printed with.
func TestStated(t *testing.T) {
	for text, want := range map[string]stated{
		"859.52 µs": {859.52e-6, "µs", 0.005 / 859.52, false}, "925,480 µs": {0.92548, "µs", 0.5 / 925480, false},
		"0.0796 µs/B": {0.0796e-6, "µs/B", 0.00005 / 0.0796, false}, "a + b = 3": {3, "", 0.5 / 3, false},
		"12 ± 10%":    {12, "", 0.1, false},
		"at most 8 %": {0.08, "%", 0.005, true}, "5/3": {5. / 3, "", 0, false}, "f = 0": {0, "", 0, false},
	} {
		got := (row{paper: text}).stated()
		same := near(got.value, want.value) && near(got.within, want.within)
		if !same || got.unit != want.unit || got.atMost != want.atMost {
			t.Errorf("%s: %+v, want %+v", text, got, want)
		}
	}
	for _, c := range []struct {
		paper string
		ours  got
		holds bool
		want  string
	}{
		{"0.88", is(0.884), true, "+0.45%"}, {"0.88", is(0.9), false, "**+2.27%**"},
		{"at most 8 %", is(0.05), true, "no larger"}, {"at most 8 %", is(0.12), false, "**4 points above**"},
		{"1 µs", got{value: 2e-6, ci: &[2]float64{0.5e-6, 3e-6}}, true, "+100.0%"},
	} {
		if r := (row{paper: c.paper, ours: c.ours}); r.holds() != c.holds || r.difference() != c.want {
			t.Errorf("%g for %s: %s, want %s", c.ours.value, c.paper, r.difference(), c.want)
		}
	}
}

// Every run has a network and a plan.
func TestPaperRuns(t *testing.T) {
	for _, r := range paperRuns {
		find(t, r.network, true)
		if _, err := os.Stat("harness/testdata/plans/" + r.name + ".yaml"); err != nil {
			t.Error(err)
		}
	}
}

// Of a parameter file a run keeps what its rows need, and nothing else. Times are divided by how much slower the lab's
// copy is, counts are not; what is missing says how to measure it.
func TestKeep(t *testing.T) {
	v := 20e-6
	a := params.Parameter{Value: &v, CI95: &[2]float64{10e-6, 40e-6}, Status: params.StatusProvisional}
	p := &params.Params{
		Run:         params.Run{ID: "20260102", Rounds: 3, Timings: 40},
		Environment: params.Environment{Common: map[string]string{"cpu.model": "X", "cpu.cores": "2", "kernel": "6.1"}},
		Parameters:  map[string]params.Parameter{"a": a, "b": {Value: &v}},
		Functions:   map[string]params.Function{"g_s": {}, "O_s": {}},
		Validation:  []params.Validation{{Model: "hockney"}, {Model: "loggp"}},
		Fits:        []*params.Fit{{Series: []params.Series{{Quantity: params.GatherTime}, {Quantity: params.Time}}}},
	}
	m := paperRun{name: "slow", numbers: "a none g_s"}.keep(p)
	if len(m.Parameters)+len(m.Functions)+len(m.Times)+len(m.Gathers) != 4 || m.Date != "20260102" || m.Timings != 40 ||
		m.Machine != "X, 2 CPUs, Linux 6.1" {
		t.Errorf("%+v", m)
	}
	m.Slowdown = 20
	r := m.row("", "a", "a", "1 µs")
	o := r.ours
	if !near(o.value, 1e-6) || !near(o.ci[0], 0.5e-6) || !near(o.ci[1], 2e-6) || o.note != params.StatusProvisional {
		t.Errorf("%+v", o)
	}
	if r := m.row("", "a", "a", "1 packets"); !near(r.ours.value, v) {
		t.Errorf("a count became %g", r.ours.value)
	}
	defer func() {
		if err := fmt.Sprint(recover()); !strings.Contains(err, "make papers CASES=slow") {
			t.Error(err)
		}
	}()
	m.row("", "b", "b", "1 µs")
}
