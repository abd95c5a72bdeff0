package command

import (
	"slices"
	"strings"

	"calib/internal/exit"
	"github.com/urfave/cli/v2"
)

// FlagsFirst moves a command's flags, with their values, before its arguments: the cli library stops reading flags at
// the first argument. What is behind "--" stays where it is.
func FlagsFirst(cmds []*cli.Command, args []string) []string {
	i := 1
	var c *cli.Command
	for ; i < len(args); i++ {
		k := slices.IndexFunc(cmds, func(c *cli.Command) bool { return c.HasName(args[i]) })
		if k < 0 {
			break
		}
		c, cmds = cmds[k], cmds[k].Subcommands
	}
	if c == nil || args[len(args)-1] == "--"+cli.BashCompletionFlag.Names()[0] {
		return args
	}
	flags, rest := slices.Clone(args[:i]), []string{}
	for ; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "--":
			return slices.Concat(flags, rest, args[i:])
		case !looksLikeFlag(a):
			rest = append(rest, a)
		case !takesValue(c, a):
			flags = append(flags, a)
		case i+1 == len(args): // it would take an argument for its value
			return args
		default:
			flags = append(flags, a, args[i+1])
			i++
		}
	}
	return append(flags, rest...)
}

func looksLikeFlag(a string) bool { return strings.HasPrefix(a, "-") && a != "-" }

// takesValue reports whether the next argument belongs to flag a of c.
func takesValue(c *cli.Command, a string) bool {
	name := strings.TrimLeft(a, "-")
	for _, f := range c.Flags {
		if _, isBool := f.(*cli.BoolFlag); !isBool && slices.Contains(f.Names(), name) {
			return true
		}
	}
	return false
}

// NoFlagsAfter rejects an argument that looks like a flag, which FlagsFirst leaves where it stands behind "--" or has
// no value.
func NoFlagsAfter(c *cli.Context) error {
	for _, a := range c.Args().Slice() {
		if looksLikeFlag(a) {
			return exit.Usagef("argument %s looks like a flag, but stands behind -- or has no value (see %s --help)", a, c.Command.HelpName)
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
		return "", exit.Usagef("want one %s, got %d arguments (see %s --help)", what, c.NArg(), c.Command.HelpName)
	}
	return c.Args().First(), nil
}

// NoArgs rejects any argument.
func NoArgs(c *cli.Context) error {
	if err := NoFlagsAfter(c); err != nil || c.NArg() == 0 {
		return err
	}
	return exit.Usagef("unexpected argument %q (see %s --help)", c.Args().First(), c.Command.HelpName)
}

// Group is the action of a command that only has subcommands.
func Group(c *cli.Context) error {
	if c.Args().Present() {
		return exit.Usagef("no command %q; %s --help lists them", c.Args().First(), c.Command.HelpName)
	}
	return cli.ShowSubcommandHelp(c)
}

// JSONFlag asks for one JSON document.
func JSONFlag() cli.Flag {
	return &cli.BoolFlag{Name: "json", Usage: "print one JSON document; progress as JSON lines on standard error"}
}

// QuietFlag switches progress off.
func QuietFlag() cli.Flag { return &cli.BoolFlag{Name: "quiet", Usage: "no progress"} }

// List is the words of a flag, separated by commas; blanks around them do not count.
func List(c *cli.Context, flag string) []string {
	words := strings.Split(c.String(flag), ",")
	for i := range words {
		words[i] = strings.TrimSpace(words[i])
	}
	return words
}

// AllFlag asks for the whole report on the terminal.
func AllFlag() cli.Flag {
	return &cli.BoolFlag{Name: "all", Usage: "print the whole report, not only what fits a screen"}
}

// HelpFlag turns "calib help COMMAND…" into "calib COMMAND… --help".
func HelpFlag(args []string) []string {
	if len(args) < 2 || args[1] != "help" {
		return args
	}
	return append(append(args[:1:1], args[2:]...), "--help")
}
