package results

import (
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"calib/cmd/calib/internal/command"
	"calib/internal/exit"
	"calib/internal/glossary"
	"calib/internal/lists"
	"calib/params"
	"calib/reports"
)

func ExplainCommand() *cli.Command {
	return &cli.Command{
		Name: "explain", Usage: "say what a number is, and what would narrow it",
		ArgsUsage: "[NAME [RUN]]",
		Description: "calib explain a_c      what it is\n" +
			"calib explain a_c RUN  its value in a run, how good that is, and why\n" +
			"calib explain          the names",
		Flags: []cli.Flag{command.JSONFlag()},
		Action: func(c *cli.Context) (err error) {
			name, p := c.Args().First(), (*params.Params)(nil)
			switch c.NArg() {
			case 0:
				return listNumbers(c)
			case 1:
			case 2:
				if p, err = command.ReadParams(c.Args().Get(1)); err != nil {
					return err
				}
			default:
				return exit.Usagef("want a name and a run, got %d arguments", c.NArg())
			}
			e, ok := reports.Explain(name, p)
			if !ok {
				return exit.Usagef("explain %q: no such number or word; calib explain lists them",
					name)
			}
			return command.Answer(c, "explain", e, func(w io.Writer) error {
				return e.Text(w, command.PageOptions(c, ""))
			})
		},
	}
}

// listNumbers lists the names of all numbers and words, each with the first sentence of what it is.
func listNumbers(c *cli.Context) error {
	g := glossary.All()
	return command.Answer(c, "explain", g.Numbers, func(w io.Writer) error {
		var t command.Index
		first := func(heading, name, is string) {
			is, _, _ = strings.Cut(is, ". ")
			t.Add(heading, name, strings.TrimSuffix(is, "."))
		}
		for _, n := range g.Numbers {
			first("Experiment "+n.From, strings.Join(n.Names, ", "), n.Is)
		}
		for word, is := range lists.ByKey(g.Words) {
			first("Words", word, is)
		}
		t.Print(w)
		return nil
	})
}
