package command

import (
	"cmp"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/urfave/cli/v2"

	"calib/reports"
)

// Tools is the group of the commands that are not part of the work itself.
const Tools = "Tools"

const (
	helpColumns = 80
	nameColumns = 26 // the longest name that has its text beside it
)

// Grouped puts flags under a heading of their own in the help.
func Grouped(heading string, flags []cli.Flag) []cli.Flag {
	for _, f := range flags {
		reflect.ValueOf(f).Elem().FieldByName("Category").SetString(heading) // which every kind of flag has
	}
	return flags
}

// OfApp is an application as a command: the one above all others.
func OfApp(app *cli.App) *cli.Command {
	return &cli.Command{Name: app.Name, HelpName: app.Name, Usage: app.Usage, Description: app.Description,
		Flags: app.Flags, Subcommands: app.Commands}
}

// Synopsis is the form of command lines that run c. In them c is called name, as in "calib hosts expand".
func Synopsis(name string, c *cli.Command) string {
	if len(c.Subcommands) > 0 && c.ArgsUsage == "" {
		name += " COMMAND"
	}
	return strings.TrimSpace(name + " [OPTIONS] " + c.ArgsUsage)
}

// PrintHelp prints the help of calib, a *cli.App, or of a command, a *cli.Command: what it does, examples, commands and
// flags in their groups. No line is longer than 80 columns.
func PrintHelp(w io.Writer, _ string, data any) {
	c, ok := data.(*cli.Command)
	if !ok {
		c = OfApp(data.(*cli.App))
	}
	for _, l := range reports.Wrapped(Synopsis(c.HelpName, c)+": "+c.Usage, helpColumns) {
		fmt.Fprintln(w, l)
	}
	if c.Description != "" {
		fmt.Fprintln(w, "  "+strings.Join(described(c.Description), "\n  "))
	}
	var t Index
	for _, sub := range c.Subcommands {
		if !sub.Hidden {
			t.Add(cmp.Or(sub.Category, "Commands"), sub.Name, sub.Usage)
		}
	}
	for _, f := range c.VisibleFlags() {
		if d, ok := f.(cli.DocGenerationFlag); ok && f != cli.HelpFlag {
			name, says := flagWords(d)
			category := f.(cli.CategorizableFlag).GetCategory()
			t.Add(cmp.Or(category, "Options"), name, says)
		}
	}
	t.Print(w)
}

// described are the lines of a description: examples as they are, and below them sentences, wrapped. These begin at the
// first line with a capital letter or a brace in front.
func described(text string) []string {
	lines := strings.Split(text, "\n")
	prose := slices.IndexFunc(lines, func(l string) bool {
		return l != "" && (unicode.IsUpper(rune(l[0])) || l[0] == '{')
	})
	if prose < 0 {
		return lines
	}
	return append(lines[:prose], reports.Wrapped(strings.Join(lines[prose:], " "), helpColumns-2)...)
}

// flagWords are a flag with the name of its value, and what it says: its default at the end, where it has one.
func flagWords(f cli.DocGenerationFlag) (name, says string) {
	name, says = "--"+f.(cli.Flag).Names()[0], f.GetUsage()
	if !f.TakesValue() {
		return name, says
	}
	value := "VALUE"
	if before, rest, ok := strings.Cut(says, "`"); ok {
		word, after, _ := strings.Cut(rest, "`")
		value, says = word, before+word+after
	}
	if v := f.GetValue(); !slices.Contains([]string{"", "0", "0s", "[]"}, v) {
		says += " (default " + v + ")"
	}
	return name + " " + value, says
}

// Index is names with what they are, under headings, in the order in which these first come.
type Index struct {
	headings []string
	rows     map[string][][2]string
}

func (t *Index) Add(heading, name, says string) {
	if t.rows == nil {
		t.rows = map[string][][2]string{}
	}
	if t.rows[heading] == nil {
		t.headings = append(t.headings, heading)
	}
	t.rows[heading] = append(t.rows[heading], [2]string{name, says})
}

// Print prints the names in a column, and beside them what they are, within 80 columns.
func (t *Index) Print(w io.Writer) {
	width := 0
	for _, rows := range t.rows {
		for _, r := range rows {
			width = max(width, min(len(r[0]), nameColumns))
		}
	}
	for _, heading := range t.headings {
		fmt.Fprintf(w, "\n%s:\n", heading)
		for _, r := range t.rows[heading] {
			lines := reports.Wrapped(r[1], helpColumns-width-4)
			if len(r[0]) > width {
				lines = slices.Insert(lines, 0, "")
			}
			for i, l := range lines {
				name := map[bool]string{true: r[0]}[i == 0]
				fmt.Fprintln(w, strings.TrimRight(fmt.Sprintf("  %-*s  %s", width, name, l), " "))
			}
		}
	}
}
