package command

import (
	"strings"

	"github.com/urfave/cli/v2"
)

// NoFlagsAfter rejects an argument that looks like a flag: the cli library stops reading flags at the first argument, and
// a flag after it would silently do nothing.
func NoFlagsAfter(c *cli.Context) error {
	for _, a := range c.Args().Slice() {
		if strings.HasPrefix(a, "-") && a != "-" {
			return Usagef("flag %s comes after an argument: write flags first (see %s --help)", a, c.Command.HelpName)
		}
	}
	return nil
}

// OneArg returns the single argument.
func OneArg(c *cli.Context, what string) (string, error) {
	if err := NoFlagsAfter(c); err != nil {
		return "", err
	}
	if c.NArg() != 1 {
		return "", Usagef("want one %s, got %d arguments (see %s --help)", what, c.NArg(), c.Command.HelpName)
	}
	return c.Args().First(), nil
}

// GroupAction is what a command does that only has subcommands.
func GroupAction(c *cli.Context) error {
	if c.Args().Present() {
		return Usagef("no command %q; %s --help lists them", c.Args().First(), c.Command.HelpName)
	}
	return cli.ShowSubcommandHelp(c)
}

// NoArgs rejects any argument.
func NoArgs(c *cli.Context) error {
	if c.NArg() == 0 {
		return nil
	}
	if err := NoFlagsAfter(c); err != nil {
		return err
	}
	return Usagef("unexpected argument %q (see %s --help)", c.Args().First(), c.Command.HelpName)
}
