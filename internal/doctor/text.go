package doctor

import (
	_ "embed"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"text/template"

	"calib/internal/hosts"
	"calib/internal/units"
)

var titles = map[string]string{
	Blocks:   "Prevents measuring",
	Disturbs: "Disturbs the measurement",
	Notes:    "For information",
}

//go:embed report.txt
var layout string

var page = template.Must(template.New("report").Funcs(template.FuncMap{
	"count": units.Plural[int], "format": units.Format, "fold": hosts.Fold, "cell": cell,
	"grouped": units.Grouped[int],
	"dashed":  func(names []string) string { return strings.Join(names, " – ") },
	"title": func(r Report, i int) string { // above the first finding of a severity
		if i > 0 && r.Findings[i].Severity == r.Findings[i-1].Severity {
			return ""
		}
		return titles[r.Findings[i].Severity]
	},
}).Parse(layout))

// Text prints the report. Its table has tabs between cells.
func (r Report) Text(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if err := page.Execute(t, r); err != nil {
		return err
	}
	return t.Flush()
}

// Text is the finding in two lines, of so many hosts in all.
func (f Finding) Text(all int) string {
	where := hosts.Fold(f.Hosts)
	if strings.HasPrefix(f.Code, pairCode) {
		where = strings.Join(f.Hosts, " – ")
	} else if len(f.Hosts) > 1 && len(f.Hosts) == all {
		where = "all hosts"
	}
	return fmt.Sprintf("  %s: %s\n      %s\n", oneLine(where), f.What, f.Mend)
}

func cell(s string) string {
	if s == "" {
		return "–"
	}
	return oneLine(s)
}
