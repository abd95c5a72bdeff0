package command

import (
	"strings"

	"github.com/urfave/cli/v2"
)

// NoFlagsAfter rejects an argument that looks like a flag: the cli library stops reading flags at the first argument, and a
// flag after it would silently do nothing.
func NoFlagsAfter(c *cli.Context) error {
	for _, a := range c.Args().Slice() {
		if strings.HasPrefix(a, "-") && a != "-" {
			return Usagef("flag %s comes after an argument: write flags first (see %s --help)", a, c.Command.HelpName)
		}
	}
	return nil
}

// OneArg returns the single argument, which is called what.
func OneArg(c *cli.Context, what string) (string, error) {
	if err := NoFlagsAfter(c); err != nil {
		return "", err
	}
	if c.NArg() != 1 {
		return "", Usagef("want one %s, got %d arguments (see %s --help)", what, c.NArg(), c.Command.HelpName)
	}
	return c.Args().First(), nil
}

// NoArgs rejects any argument.
func NoArgs(c *cli.Context) error {
	if err := NoFlagsAfter(c); err != nil || c.NArg() == 0 {
		return err
	}
	return Usagef("unexpected argument %q (see %s --help)", c.Args().First(), c.Command.HelpName)
}

// Group is the action of a command that only has subcommands.
func Group(c *cli.Context) error {
	if c.Args().Present() {
		return Usagef("no command %q; %s --help lists them", c.Args().First(), c.Command.HelpName)
	}
	return cli.ShowSubcommandHelp(c)
}

// JSONFlag asks for one JSON document.
func JSONFlag() cli.Flag {
	return &cli.BoolFlag{Name: "json", Usage: "print one JSON document; progress as JSON lines on standard error"}
}

// QuietFlag switches progress off.
func QuietFlag() cli.Flag { return &cli.BoolFlag{Name: "quiet", Usage: "no progress"} }
