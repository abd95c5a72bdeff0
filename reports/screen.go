package reports

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"

	"calib/internal/lists"
	"calib/params"
)

const screenLines = 24 // the height of the screen, in lines of minWidth columns

// Screen writes the summary of a run on one screen, where the paths in it are no longer than two lines. Options.All
// writes the whole report.
func Screen(w io.Writer, p *params.Params, o Options) error {
	if o.All {
		return Text(w, p, o)
	}
	o.Width = minWidth
	s := SummaryOf(p, o)
	s.Measured = brief(s.Measured)
	s.Spoiled, s.Odd, s.Classes = lists.Map(s.Spoiled, brief), lists.Map(s.Odd, brief), lists.Map(s.Classes, brief)
	for {
		pg := newPage(o)
		pg.summary(s)
		if pg.Dir != "" {
			pg.WriteByte('\n')
			fmt.Fprintf(pg, "Report    %s\nNumbers   %s\n", Clean(filepath.Join(pg.Dir, "report.html")),
				Clean(filepath.Join(pg.Dir, "params.json")))
			for _, command := range s.Next {
				fmt.Fprintf(pg, "Next      %s\n", Clean(command))
			}
		}
		lines := 0 // of a terminal
		for l := range strings.Lines(pg.String()) {
			lines += 1 + (text.StringWidthWithoutEscSequences(l)-1)/minWidth
		}
		if lines <= screenLines || !s.giveWay() {
			return pg.flush(w)
		}
	}
}

// giveWay takes from s what a reader misses least on the screen; false where nothing is left to take. Of each list of
// sentences two stay longer than the rows that the verdict does not need, and one to the end.
func (s *Summary) giveWay() bool {
	for least := 2; least > 0; least-- {
		for _, list := range []*[]string{&s.Odd, &s.Spoiled, &s.Classes, &s.Next} {
			if n := len(*list); n > least {
				*list, s.more = (*list)[:n-1], true
				return true
			}
		}
		if s.spare > 0 {
			s.spare, s.more, s.Numbers.Rows = s.spare-1, true, s.Numbers.Rows[:len(s.Numbers.Rows)-1]
			return true
		}
	}
	return false
}

// brief is s in one line of the screen: without its last clauses, else cut off.
func brief(s string) string {
	const width = minWidth - len("  ")
	if text.StringWidth(s) <= width {
		return s
	}
	s = text.Trim(s, width-1)
	if at := max(strings.LastIndex(s, ", "), strings.LastIndex(s, ": ")); at > width/2 {
		return s[:at] + "."
	}
	return s + "…"
}

func (p *page) summary(s Summary) {
	hue := map[string]colour{good: green, usable: yellow, poor: red}[s.Verdict]
	p.line(0, "%s: %s", p.paint(hue, s.Verdict), s.Network)
	for _, text := range s.Spoiled {
		p.line(2, "  %s", text)
	}
	for _, text := range s.Odd {
		p.line(2, "  %s", p.paint(red, text))
	}
	if len(s.Odd) == 0 {
		p.line(2, "  No host or pair is slow.")
	}
	for _, text := range s.Classes {
		p.line(2, "  %s", text)
	}
	p.WriteByte('\n')
	if len(s.Numbers.Rows) == 0 {
		p.line(2, "No numbers: no model found the measurements that it needs.")
	} else {
		p.write(s.Numbers)
	}
	if s.more {
		p.line(2, "  The report has more.")
	}
	p.WriteByte('\n')
	if s.Unseen != "" {
		p.line(2, "  Unseen traffic: %s", s.Unseen)
	}
	p.line(2, "  %s", s.Measured)
}
