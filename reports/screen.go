package reports

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"calib/internal/params"
)

// spoiledShown and oddNamed are how many things that spoiled a run, and how many hosts and pairs, the screen has;
// the report has all.
const spoiledShown, oddNamed = 2, 2

// Screen writes the summary of a run, on a screen of 24 lines of 80 columns. Options.All writes the whole report.
func Screen(w io.Writer, p *params.Params, o Options) error {
	if o.All {
		return Text(w, p, o)
	}
	pg := newPage(o)
	pg.Width = min(pg.Width, minWidth)
	s := SummaryOf(p, o.Dir, o.Took)
	s.Spoiled = s.Spoiled[:min(len(s.Spoiled), spoiledShown)]
	if more := len(s.Odd) - oddNamed; more > 0 {
		s.Odd = append(s.Odd[:oddNamed], fmt.Sprintf("The report has %d more.", more))
	}
	pg.summary(s)
	if pg.Dir != "" {
		pg.WriteByte('\n')
		fmt.Fprintf(pg, "Report    %s\nNumbers   %s\n", Clean(filepath.Join(pg.Dir, "report.html")), Clean(filepath.Join(pg.Dir, "params.json")))
		for _, command := range s.Next {
			fmt.Fprintf(pg, "Next      %s\n", command)
		}
	}
	return pg.flush(w)
}

// summary writes what the screen and the report begin with.
func (p *page) summary(s Summary) {
	hue := map[string]colour{good: green, usable: yellow, poor: red}[s.Verdict]
	p.line(0, "%s: %s", p.paint(hue, s.Verdict), s.Network)
	for _, text := range s.Spoiled {
		p.line(2, "  %s", text)
	}
	if len(s.Odd) > 0 {
		p.line(2, "  %s", p.paint(red, strings.Join(s.Odd, " ")))
	} else {
		p.line(2, "  No host or pair is slow.")
	}
	p.WriteByte('\n')
	if len(s.Numbers.Rows) == 0 {
		p.line(2, "No numbers: no model found the measurements that it needs.")
	} else {
		p.write(s.Numbers)
	}
	p.WriteByte('\n')
	if s.Unseen != "" {
		p.line(2, "  Unseen traffic: %s", s.Unseen)
	}
	p.line(2, "  %s", s.Measured)
}
