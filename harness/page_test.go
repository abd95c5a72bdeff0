package harness

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"calib/internal/files"
	"calib/internal/machine"
)

// table is a page of results with one table.
type table struct {
	name   string // of the page; without, it is only logged
	header string // its columns, with bars between
	rows   []string
	after  string // what is written below the table
	part   bool   // cases were left out: the page that there is stays
}

// add logs a row and appends it.
func (p *table) add(t *testing.T, row string) {
	t.Helper()
	t.Log(row)
	p.rows = append(p.rows, row)
}

// run measures a case. The page is written only where all of its cases came to their end.
func (p *table) run(t *testing.T, name string, of func(*testing.T)) {
	t.Helper()
	done := false
	t.Run(name, func(t *testing.T) {
		of(t)
		done = true
	})
	p.part = p.part || !done
}

// tableHead begins a table with these columns, with bars between.
func tableHead(columns string) string {
	return fmt.Sprintf("\n| %s |\n|%s\n", columns, strings.Repeat("---|", strings.Count(columns, "|")+1))
}

// save writes the page, where all of it was measured.
func (p *table) save(t *testing.T) {
	t.Helper()
	if p.name == "" {
		return
	}
	if p.part || *pagesFlag == "" {
		t.Logf("the page %s is not written\n%s", p.name, p.after)
		return
	}
	words, err := wordsOf(p.name)
	if err != nil {
		t.Fatal(err)
	}
	text := words + tableHead(p.header) + strings.Join(p.rows, "\n") + "\n" + p.after
	write(t, p.name, text)
}

// wordsOf are what a page says first: its section of words.md.
func wordsOf(name string) (string, error) {
	text, err := os.ReadFile("harness/testdata/words.md")
	section := name
	for _, several := range []string{"budgets", "paths"} {
		if strings.HasPrefix(name, several+"-") {
			section = several
		}
	}
	_, after, found := strings.Cut(string(text), "\n## "+section+"\n")
	if err == nil && !found {
		err = fmt.Errorf("words.md has no section %s", name)
	}
	words, _, _ := strings.Cut(after, "\n## ")
	return strings.TrimSpace(words) + "\n", err
}

// stampLine is how the line of a page begins that says where it is from.
const stampLine = "Written on "

// write replaces a page of results: where it is from, and its text.
func write(t *testing.T, name, text string) {
	t.Helper()
	date := time.Now().UTC().Format(time.DateOnly)
	var measured []string
	for path := range strings.FieldsFuncSeq(*calibFlag, func(r rune) bool { return r == ',' }) {
		measured = append(measured, buildOf(t, path))
	}
	host, _ := machine.Collect("")
	page := fmt.Sprintf("# make %s\n\n%s%s, build %s, on %s.\n\n%s", name, stampLine, date,
		cmp.Or(strings.Join(measured, " and "), revision()), hostWords(host), text)
	if err := os.MkdirAll(*pagesFlag, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := files.Replace(filepath.Join(*pagesFlag, name+".md"), []byte(strings.TrimSpace(page)+"\n")); err != nil {
		t.Fatal(err)
	}
}

// revision is git's name of what is built here; -dirty where files differ from it.
func revision() string {
	out, err := output(context.Background(), "git", "describe", "--always", "--dirty", "--abbrev=12")
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(out)
}

// hostWords is a host in words, by its fingerprint.
func hostWords(facts map[string]string) string {
	return fmt.Sprintf("%s, %s CPUs, Linux %s", facts["cpu.model"], facts["cpu.cores"], facts["kernel"])
}

// A page says where it is from; the rest of it is what was given. Every page has words, and no others are stored.
func TestPage(t *testing.T) {
	pages := []string{"bench", "check", "counts", "paths-30s", "paths-2m", "scale", "watch-cost", "watch-faults", "year",
		"accuracy-virtual", "accuracy-gate-sim", "accuracy-gate-lab"}
	for _, s := range suites() {
		switch {
		case strings.HasPrefix(s.name, "short"):
		case strings.HasPrefix(s.name, "budgets-"):
			pages = append(pages, s.name)
		default:
			pages = append(pages, "accuracy-"+s.name)
		}
	}
	for _, name := range pages {
		if _, err := wordsOf(name); err != nil {
			t.Error(err)
		}
	}
	stored, err := filepath.Glob(filepath.Join(*pagesFlag, "*"))
	if err != nil || len(stored) == 0 {
		t.Error("no page is stored", err)
	}
	for _, path := range stored {
		name := strings.TrimSuffix(filepath.Base(path), ".md")
		if !slices.Contains(append(pages, "papers"), name) {
			t.Errorf("%s: nothing here writes it", path)
		}
	}
	before := *pagesFlag
	*pagesFlag = t.TempDir()
	t.Cleanup(func() { *pagesFlag = before })
	p := table{name: "scale", header: "a | b", after: "Below.", part: true}
	p.add(t, "| 1 | 2 |")
	path := filepath.Join(*pagesFlag, "scale.md")
	p.save(t)
	if _, err := os.Stat(path); err == nil {
		t.Error("a page of some of its cases was written")
	}
	p.part = false
	p.save(t)
	text := string(must(os.ReadFile(path)))
	if !strings.HasPrefix(text, "# make scale\n\n"+stampLine) || !strings.Contains(text, " CPUs, Linux ") ||
		!strings.HasSuffix(text, "\n\n| a | b |\n|---|---|\n| 1 | 2 |\nBelow.\n") {
		t.Errorf("%q", text)
	}
}
