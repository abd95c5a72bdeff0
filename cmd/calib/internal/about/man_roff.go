package about

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"calib/cmd/calib/internal/command"
	"calib/internal/rundir"
)

// roff is a man page in the making: the macros of man(7), letters of ASCII only.
type roff struct{ strings.Builder }

func (r *roff) macro(s string) { r.WriteString(s + "\n") }

// line writes text that is escaped already. A line must not begin as a macro does.
func (r *roff) line(s string) {
	if s == "" {
		return
	}
	if s[0] == '.' || s[0] == '\'' {
		s = `\&` + s
	}
	r.WriteString(s + "\n")
}

func (r *roff) section(name string) { r.macro(".SH " + name) }

// head begins a page. Its date is that of the commit, so that one build gives the same bytes at any time.
func (r *roff) head(name, usage string, b build) {
	date, _, _ := strings.Cut(b.Time, "T")
	r.macro(fmt.Sprintf(`.TH "%s" "1" "%s" "%s" "calib manual"`, escape(strings.ToUpper(name)), date, escape("calib "+b.Version)))
	r.macro(".nh")
	r.macro(".ad l")
	r.section("NAME")
	r.line(escape(name) + ` \- ` + escape(usage))
}

func (r *roff) paragraphs(lines []string) {
	if len(lines) == 0 {
		return
	}
	r.macro(".PP")
	for _, l := range lines {
		r.line(escape(l))
	}
}

// item is a term and what it means.
func (r *roff) item(term, about string) {
	r.macro(".TP")
	r.line(term)
	if about == "" {
		about = `\&`
	}
	r.line(about)
}

// command writes a command and those below it.
func (r *roff) command(above string, c *cli.Command) {
	r.macro(".SS " + synopsis(above, c))
	r.line(escape(sentence(c.Usage)))
	prose, examples := describe(c.Description)
	r.paragraphs(prose)
	r.examples(examples)
	r.options(c.VisibleFlags())
	for _, s := range visible(c.Subcommands) {
		r.command(above+" "+c.Name, s)
	}
}

func synopsis(above string, c *cli.Command) string {
	s := bold(above + " " + c.Name)
	if len(visible(c.Subcommands)) > 0 {
		s += " " + italic("command")
	}
	if len(c.VisibleFlags()) > 0 {
		s += " [" + italic("options") + "]"
	}
	if c.ArgsUsage != "" {
		s += " " + italic(c.ArgsUsage)
	}
	return s
}

func (r *roff) options(flags []cli.Flag) {
	for _, f := range flags {
		doc, ok := f.(cli.DocGenerationFlag)
		if !ok {
			continue
		}
		var names []string
		for _, n := range f.Names() {
			dash := "--"
			if len(n) == 1 {
				dash = "-"
			}
			names = append(names, bold(dash+n))
		}
		value, usage := placeholder(doc.GetUsage())
		term := strings.Join(names, ", ")
		if doc.TakesValue() {
			if value == "" {
				value = "VALUE"
			}
			term += " " + italic(value)
		}
		about := sentence(usage)
		switch v := doc.GetValue(); v {
		case "", "0", "0s", "[]", "false":
		default:
			about += " Default: " + v + "."
		}
		if env := doc.GetEnvVars(); len(env) > 0 {
			about += " Environment: " + strings.Join(env, ", ") + "."
		}
		r.item(term, escape(about))
	}
}

func (r *roff) examples(all []example) {
	for _, e := range all {
		r.item(bold(e.line), escape(sentence(e.about)))
	}
}

// tail ends a page with what all have.
func (r *roff) tail(examples []example, see []string) {
	r.section("EXIT STATUS")
	for _, e := range []struct {
		code  int
		about string
	}{
		{command.ExitOK, "Done, all of it."},
		{command.ExitFailed, "Failed."},
		{command.ExitUsage, "Wrong use: flags or files."},
		{command.ExitRegression, "A regression is confirmed."},
		{command.ExitPartial, "Partial: some hosts or slots failed; the results are saved and labelled."},
		{command.ExitInconclusive, "Inconclusive, or not comparable."},
		{command.ExitInterrupted, "Interrupted; the results are saved."},
	} {
		r.item(bold(fmt.Sprint(e.code)), escape(e.about))
	}
	r.section("FILES")
	r.line("A run directory holds:")
	for _, f := range []example{
		{rundir.RunFile, "The plan, the hosts, their environment, and how the run ended."},
		{rundir.SamplesFile, "Every timing, one batch a line."},
		{rundir.ParamsFile, "The parameters with intervals, and the fits behind them, in SI units."},
		{rundir.ReportFile, "The report as text."},
		{rundir.HTMLFile, "The report as a page with figures."},
		{rundir.LogFile, "What happened, one event a line."},
	} {
		r.item(italic(f.line), escape(f.about))
	}
	if len(examples) > 0 {
		r.section("EXAMPLES")
		r.examples(examples)
	}
	r.section("SEE ALSO")
	for i, name := range see {
		end := ","
		if i == len(see)-1 {
			end = ""
		}
		r.macro(`.BR ` + escape(name) + ` (1)` + end)
	}
}

func bold(s string) string { return `\fB` + escape(s) + `\fR` }

func italic(s string) string { return `\fI` + escape(s) + `\fR` }

// escape writes letters that roff would read otherwise, or that are not of ASCII, by name.
func escape(s string) string {
	var b strings.Builder
	for _, c := range strings.ReplaceAll(s, "\n", " ") {
		switch {
		case c == '\\':
			b.WriteString(`\e`)
		case c == '-':
			b.WriteString(`\-`)
		case c == '\'':
			b.WriteString(`\(aq`)
		case c == '"':
			b.WriteString(`\(dq`)
		case c == '`':
			b.WriteString(`\(ga`)
		case c == '^':
			b.WriteString(`\(ha`)
		case c == '~':
			b.WriteString(`\(ti`)
		case c > 126:
			fmt.Fprintf(&b, `\[u%04X]`, c)
		default:
			b.WriteRune(c)
		}
	}
	return b.String()
}
