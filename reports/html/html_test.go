package html

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"html"
	"regexp"
	"slices"
	"strings"
	"testing"

	"calib/params"
	"calib/reports"
	"calib/reports/figure"
)

func render(t testing.TB, p *params.Params, figures []figure.Figure, o Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := Report(&b, p, figures, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

var tag = regexp.MustCompile(`<[^>]*>`)

var code = regexp.MustCompile(`(?s)<(script|style)[ >].*?</(script|style)>`)

// markup is a page without scripts and styles.
func markup(page string) string { return code.ReplaceAllString(page, "") }

// words is the text of a page without scripts, styles and tags.
func words(page string) string {
	return strings.Join(strings.Fields(html.UnescapeString(tag.ReplaceAllString(markup(page), " "))), " ")
}

func TestReportSections(t *testing.T) {
	page := render(t, fixture(t), examples(), Options{Dir: "runs/1"})
	var got []string
	for _, m := range regexp.MustCompile(`<h2 id="[^"]*">([^<]*)</h2>`).FindAllStringSubmatch(page, -1) {
		got = append(got, html.UnescapeString(m[1]))
	}
	want := []string{"Warnings", "Contents", "Ping-pong", "Contention", "Functions", "Pairs", "Validation", "History",
		"Quality of each fit",
		"Environment", "Files and next steps"}
	if !slices.Equal(got, want) {
		t.Errorf("sections %q, want %q", got, want)
	}
	for _, part := range []string{`<html lang="en">`, "<title>calib report calib-run-20260301-101500</title>", "<svg viewBox=", "<thead>"} {
		if !strings.Contains(page, part) {
			t.Errorf("the page has no %s", part)
		}
	}
	ids := map[string]bool{}
	for _, m := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if ids[m[1]] {
			t.Errorf("two elements have the id %q", m[1])
		}
		ids[m[1]] = true
	}
	for _, m := range regexp.MustCompile(`href="#([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if !ids[m[1]] {
			t.Errorf("link to #%s goes nowhere", m[1])
		}
	}
}

// The page says what the parts of the text report say, all of it.
func TestReportSaysWhatTheTextSays(t *testing.T) {
	p := fixture(t)
	page := words(render(t, p, examples(), Options{Dir: "runs/1"}))
	v := reports.SummaryOf(p, reports.Options{Dir: "runs/1"})
	want := slices.Concat([]string{v.Run, v.Measured, v.Verdict + ": " + v.Network, v.Unseen}, v.Spoiled, v.Odd,
		reports.WarningsOf(p), reports.ReasonsOf(p),
		reports.FindingsOf(p), reports.PairsOf(p, false).Says, []string{"bcast-binary"})
	record, others := reports.RecordOf(p)
	grids := []reports.Grid{v.Numbers, record, others, reports.ValidationOf(p), reports.FunctionsOf(p)}
	for _, s := range []reports.Section{reports.QualityOf(p), reports.FilesOf(p, "runs/1"), reports.EnvironmentOf(p)} {
		want = slices.Concat(want, s.Says, s.List)
		for _, t := range s.Tables {
			want, grids = append(want, t.Says...), append(grids, t.Grid)
			if t.More != nil {
				want = append(want, t.More.Items...)
			}
		}
	}
	for _, g := range grids {
		for _, r := range g.Rows {
			want = append(want, strings.Join(r, " "))
		}
	}
	for _, f := range examples() {
		want = append(want, f.Title, f.Says)
	}
	for _, s := range want {
		if s = strings.Join(strings.Fields(s), " "); !strings.Contains(page, s) {
			t.Errorf("the page does not say %q", s)
		}
	}
}

// L of LogGP and L_cluster are two numbers.
func TestMeanings(t *testing.T) {
	p := fixture(t)
	p.Parameters = map[string]params.Parameter{"L": {Unit: "s", Status: params.StatusOK}}
	p.Functions["L_cluster"] = params.Function{Form: "c0", Unit: "s"}
	page := markup(render(t, p, nil, Options{}))
	for _, want := range []string{
		`<td class="symbol" title="Latency in LogGP: the time of a message of one byte in the network,`,
		`<td class="symbol function" title="Time of a packet of m bytes in the network while p hosts`,
		`<td class="symbol function" title="Smallest interval between packets of m bytes that one host sends.`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %s", want)
		}
	}
}

// The policy lets run exactly what is there: each element's text has its hash in the policy, and there are no others.
func TestPolicy(t *testing.T) {
	page := render(t, fixture(t), examples(), Options{})
	m := regexp.MustCompile(`http-equiv="Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(page)
	if m == nil {
		t.Fatal("no policy")
	}
	policy := html.UnescapeString(m[1])
	for _, part := range []string{"default-src 'none'", "base-uri 'none'", "form-action 'none'", "img-src data:;"} {
		if !strings.Contains(policy, part) {
			t.Errorf("policy without %s: %s", part, policy)
		}
	}
	for _, part := range []string{"unsafe-", "http", "*", "connect-src"} {
		if strings.Contains(policy, part) {
			t.Errorf("policy with %s: %s", part, policy)
		}
	}
	for _, want := range []struct {
		element, end string
	}{{`<script>`, "</script>"}, {`<style>`, "</style>"}} {
		parts := strings.Split(page, want.element)
		if len(parts) != 2 {
			t.Fatalf("%d × %s, want 1", len(parts)-1, want.element)
		}
		text, _, _ := strings.Cut(parts[1], want.end)
		sum := sha256.Sum256([]byte(text))
		if !strings.Contains(policy, base64.StdEncoding.EncodeToString(sum[:])) {
			t.Errorf("the policy does not allow %s", want.element)
		}
	}
	if found := regexp.MustCompile(`(?i)<[^>]+ (style|on[a-z]+)=`).FindString(markup(page)); found != "" {
		t.Errorf("attribute that the policy forbids: %s", found)
	}
}

func TestHostileText(t *testing.T) {
	evil := `</script><script>alert(1)</script><img src=x onerror=alert(2)>"'&`
	p := fixture(t)
	p.Run.ID, p.Run.Hosts[0], p.Pairs[0].From, p.Pairs[0].Slow = evil, evil, evil, evil
	p.Findings = append(p.Findings, params.Finding{Code: params.Code(evil), Level: params.Warning, Message: evil})
	a := p.Parameters["a"]
	a.Label, a.Unit, a.Source, a.Status = evil, evil, evil, evil
	p.Parameters["a"], p.Parameters[evil] = a, a
	p.Functions[evil] = params.Function{Form: evil, Unit: evil, Label: evil, Source: evil,
		Coeff: map[string]float64{evil: 1}}
	p.Environment.Common[evil] = evil
	p.Environment.Differences[evil] = map[string]string{evil: evil}
	p.Validation[0].Pattern = evil
	figures := examples()
	for i := range figures {
		f := &figures[i]
		f.ID, f.Section, f.Title, f.Says, f.X.Name, f.Y.Unit = evil, evil, evil, evil, evil, evil
		for j := range f.Traces {
			f.Traces[j].Name, f.Traces[j].Kind = evil, evil
		}
		if f.Heat != nil {
			f.Heat.Names[0] = evil
		}
	}
	for _, page := range []string{render(t, p, figures, Options{Dir: evil, History: figures}),
		pageOf(t, evil, []string{evil},
			reports.Section{Title: evil, Tables: []reports.Table{{Title: evil,
				Grid: reports.Grid{Columns: []reports.Column{{Name: evil}},
					Rows: [][]string{{evil}}}}}}, figures)} {
		if strings.Contains(page, "<script>alert") || strings.Contains(page, "<img") {
			t.Error("text of the run became markup")
		}
		if n := strings.Count(page, "</script>"); n != 1 {
			t.Errorf("%d script elements end", n)
		}
		if n := strings.Count(page, "<svg"); n != strings.Count(page, "</svg>") || n < len(figures) {
			t.Errorf("%d drawings", n)
		}
	}
}

func pageOf(t testing.TB, title string, lead []string, s reports.Section, figures []figure.Figure) string {
	t.Helper()
	var b bytes.Buffer
	if err := Page(&b, title, lead, s, figures); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestSameBytes(t *testing.T) {
	first := render(t, fixture(t), examples(), Options{Dir: "d", History: []figure.Figure{timeline()}})
	for range 3 {
		if again := render(t, fixture(t), examples(), Options{Dir: "d",
			History: []figure.Figure{timeline()}}); again != first {
			t.Fatal("the same input gave other bytes")
		}
	}
}

func TestPage(t *testing.T) {
	page := pageOf(t, "calib history", []string{"Nothing changed."},
		reports.Section{Title: "Changes", Tables: []reports.Table{
			{Grid: reports.Grid{Columns: []reports.Column{{Name: "run"}, {Name: "a", Kind: reports.KindNumber}},
				Rows: [][]string{{"r1", "1 ms"}}}}}}, []figure.Figure{timeline()})
	for _, want := range []string{"<h1>calib history</h1>", "<p>Nothing changed.</p>", `<th scope="col" class="number">a</th>`, `<td class="number" data-name=`,
		`<section id="changes"`, `<section id="history"`, `<figure id="t-x"`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %s", want)
		}
	}
}

// Nothing was measured: the page still stands.
func TestEmpty(t *testing.T) {
	page := words(render(t, &params.Params{}, nil, Options{}))
	for _, want := range []string{"No parameters", "too few to see contention", "calib history add"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

func TestManyLinksAreCounted(t *testing.T) {
	p := fixture(t)
	p.Pairs = nil
	for range 500 {
		v := 1e-3
		p.Pairs = append(p.Pairs, params.Pair{From: "x", To: "y", Latency: &v, Slow: "slow"})
	}
	page := words(render(t, p, nil, Options{}))
	if !strings.Contains(page, "The 60 slowest; 440 more are in params.json.") ||
		strings.Contains(page, "All: 500 pairs") {
		t.Error("the table of links is not bounded")
	}
}

// maxReport is what a report may take: it is kept for years, and mailed.
const maxReport = 400_000

// The report of a run in which each of 64 hosts was measured with each, one of them slow, is small, and so is that of
// many points.
func TestSize(t *testing.T) {
	p := fixture(t)
	p.Run.Hosts, p.Pairs = nil, nil
	for i := range 64 {
		p.Run.Hosts = append(p.Run.Hosts, fmt.Sprintf("node%02d.rack%d.example.org", i, i/16))
	}
	for i, from := range p.Run.Hosts {
		for j, to := range p.Run.Hosts {
			latency, rate := 1e-3+1e-6/float64(1+i+j), 1e8+1e3*float64(64*i+j)
			q := params.Pair{From: from, To: to, Latency: &latency, Rate: &rate}
			if i == 17 || j == 17 {
				q.Slow = "latency 2.0 × the median of all pairs"
			}
			p.Pairs = append(p.Pairs, q)
		}
	}
	many := timeline()
	for i := range 5000 {
		many.Traces[0].Points = append(many.Traces[0].Points,
			figure.Point{X: 1.7502e9 + float64(i)*86400, Y: 1e-3 + 1e-7*float64(i*i%101)})
	}
	figure.Settle(&many)
	page := render(t, p, figure.Build(p, nil, nil), Options{Dir: "d", History: []figure.Figure{many}})
	if len(page) > maxReport {
		t.Errorf("%d bytes, want at most %d", len(page), maxReport)
	}
	if !strings.Contains(words(page), "node17.rack1.example.org") || strings.Count(page, `class="cells"`) != 3 || !strings.Contains(page, "<summary>Numbers</summary>") {
		t.Error("matrices without their numbers")
	}
	if !strings.Contains(words(page), "of 5,003 points are drawn") {
		t.Error("points are left out without a word")
	}
	golden := render(t, fixture(t), figure.Build(fixture(t), nil, nil), Options{Dir: "d"})
	if len(golden) > maxReport {
		t.Errorf("the sparc1994 cluster: %d bytes", len(golden))
	}
	t.Logf("%d and %d bytes", len(page), len(golden))
}

// What is the same on every host is folded; what differs is not.
func TestEnvironmentFolds(t *testing.T) {
	p := fixture(t)
	p.Environment = params.Environment{Common: map[string]string{"kernel": "6.18"},
		Differences: map[string]map[string]string{"cpu": {"h1": "x", "h2": "y"}}}
	_, part, _ := strings.Cut(markup(render(t, p, nil, Options{})), `>Environment</h2>`)
	differs, common := strings.Index(part, "The hosts differ in"), strings.Index(part, "<details><summary>The same on "+
		"every host: 1 fact")
	if differs < 0 || common < differs || strings.Index(part, "6.18") < common {
		t.Errorf("the environment: %s", part)
	}
}
