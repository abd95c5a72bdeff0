package about

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"calib/cmd/calib/internal/command"
	"calib/internal/files"
	"calib/reports"
)

// ManCommand makes the pages of the tree of commands itself: what --help says and what the manual says are one text. The
// library's own converter was rejected: it goes through Markdown, where the examples of the descriptions lose their form.
func ManCommand() *cli.Command {
	return &cli.Command{
		Name: "man", Usage: "print the manual as a man page, or write a page for each command",
		Description: "calib man | man -l -                               read it\n" +
			"calib man --dir /usr/local/share/man/man1          install calib.1, calib-run.1 and so on",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "dir", Usage: "write calib.1 and a page for each command into `DIR`"},
			command.JSONFlag(),
		},
		Action: func(c *cli.Context) error {
			if err := command.NoArgs(c); err != nil {
				return err
			}
			all := pages(c.App, thisBuild())
			if c.IsSet("dir") {
				return writePages(c, all)
			}
			if c.Bool("json") {
				return reports.Result{Command: "man", Data: map[string]string{"page": all[0].text}}.Encode(c.App.Writer)
			}
			_, err := fmt.Fprint(c.App.Writer, all[0].text)
			return err
		},
	}
}

// writePages writes each page whole or not at all, and names the files.
func writePages(c *cli.Context, all []page) error {
	dir := c.String("dir")
	if dir == "" {
		return command.Usagef("--dir DIR: name a directory")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make the directory of the pages: %w", err)
	}
	var paths []string
	for _, p := range all {
		path := filepath.Join(dir, p.name)
		if err := files.Replace(path, []byte(p.text)); err != nil {
			return err
		}
		paths = append(paths, path)
	}
	return command.PrintFiles(c, "man", "", command.Written{Format: "man", Files: paths})
}

// page is one file of the manual.
type page struct{ name, text string }

// pages makes calib.1, which has the whole tree, and a page for each command.
func pages(app *cli.App, b build) []page {
	verbs := visible(app.Commands)
	r := &roff{}
	r.head("calib", app.Usage, b)
	r.section("SYNOPSIS")
	r.line(bold("calib") + " " + italic("command") + " [" + italic("options") + "] [" + italic("arguments") + "]")
	r.macro(".br")
	r.line(bold("calib --version") + " [" + bold("--json") + "]")
	_, examples := describe(app.Description) // its prose, the exit codes, has a section
	r.section("DESCRIPTION")
	r.line(escape(sentence(app.Usage)))
	r.line(escape("Options stand before arguments. Each command is also a page of its own, such as calib-run(1)."))
	r.section("COMMANDS")
	for _, v := range verbs {
		r.command("calib", v)
	}
	r.section("OPTIONS")
	r.options(app.VisibleFlags())
	r.tail(examples, seeAlso("calib", verbs))
	out := []page{{"calib.1", r.String()}}
	for _, v := range verbs {
		out = append(out, page{"calib-" + v.Name + ".1", verbPage(v, verbs, b)})
	}
	return out
}

func verbPage(v *cli.Command, verbs []*cli.Command, b build) string {
	r := &roff{}
	r.head("calib-"+v.Name, v.Usage, b)
	r.section("SYNOPSIS")
	r.line(synopsis("calib", v))
	for _, s := range visible(v.Subcommands) {
		r.macro(".br")
		r.line(synopsis("calib "+v.Name, s))
	}
	prose, examples := describe(v.Description)
	r.section("DESCRIPTION")
	r.line(escape(sentence(v.Usage)))
	r.paragraphs(prose)
	if subs := visible(v.Subcommands); len(subs) > 0 {
		r.section("COMMANDS")
		for _, s := range subs {
			r.command("calib "+v.Name, s)
		}
	}
	r.section("OPTIONS")
	r.options(append(slices.Clone(v.VisibleFlags()), cli.HelpFlag))
	r.tail(examples, seeAlso("calib-"+v.Name, verbs))
	return r.String()
}

// seeAlso lists the pages but for one's own.
func seeAlso(own string, verbs []*cli.Command) []string {
	names := []string{"calib"}
	for _, v := range verbs {
		names = append(names, "calib-"+v.Name)
	}
	return slices.DeleteFunc(names, func(n string) bool { return n == own })
}

// sentence makes a sentence of a usage.
func sentence(s string) string {
	if s == "" {
		return ""
	}
	return strings.TrimSuffix(strings.ToUpper(s[:1])+s[1:], ".") + "."
}

// example is a command line, and what it does.
type example struct{ line, about string }

// describe takes the examples out of a description: lines in two columns, or that begin with calib. What is indented goes on
// with the example before it.
func describe(text string) (prose []string, examples []example) {
	for _, line := range strings.Split(text, "\n") {
		left, about, columns := strings.Cut(line, "  ")
		about = strings.TrimSpace(about)
		switch {
		case strings.TrimSpace(line) == "":
		case left == "" && len(examples) > 0:
			last := &examples[len(examples)-1]
			last.about = strings.TrimSpace(last.about + " " + about)
		case columns && left != "" || strings.HasPrefix(line, "calib "):
			examples = append(examples, example{left, about})
		default:
			prose = append(prose, strings.TrimSpace(line))
		}
	}
	return prose, examples
}
