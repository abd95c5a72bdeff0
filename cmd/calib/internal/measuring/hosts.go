package measuring

import (
	"io"

	"github.com/urfave/cli/v2"

	"calib/cmd/calib/internal/command"
	"calib/internal/exit"
	"calib/internal/hosts"
	"calib/run"
)

// HostsCommand is calib hosts.
func HostsCommand() *cli.Command {
	return &cli.Command{
		Name: "hosts", Usage: "work with host lists",
		Description: "A hosts file has one host or range a line, # comments, then key=value:\n" +
			"node[01-16,20] user=bench cpu=2\ngate addr=10.1.0.1 port=7100\ncalib://[fd00::5]:7077\n" +
			"calib+unix:///run/calib/agent.sock addr=10.1.0.2\n" +
			"addr= and port= are where peers dial for data, user= whom ssh logs in as, cpu= where the timing thread is pinned.",
		Subcommands: []*cli.Command{
			hostsTool("expand", "print the hosts of ranges or hosts files, one a line", "RANGE|FILE...",
				"ranges such as node[01-16], or hosts files", expand),
			hostsTool("fold", "print host names as ranges", "NAME...", "host names",
				func(c *cli.Context) ([]string, error) { return []string{hosts.Fold(c.Args().Slice())}, nil }),
		},
		Action: command.Group,
	}
}

// hostsTool is a command that makes texts of its arguments, which it is to be given.
func hostsTool(name, usage, args, want string, of func(*cli.Context) ([]string, error)) *cli.Command {
	return &cli.Command{Name: name, Usage: usage, ArgsUsage: args, Flags: []cli.Flag{command.JSONFlag()}, Action: func(c *cli.Context) error {
		if err := command.NoFlagsAfter(c); err != nil {
			return err
		}
		if c.NArg() == 0 {
			return exit.Usagef("hosts %s: give %s", name, want)
		}
		texts, err := of(c)
		if err != nil {
			return err
		}
		return command.Answer(c, "hosts "+name, texts, func(w io.Writer) error { return command.Lines(w, texts) })
	}}
}

func expand(c *cli.Context) ([]string, error) {
	var names []string
	for _, arg := range c.Args().Slice() {
		w := run.Where{Ranges: []string{arg}}
		if command.Exists(arg) {
			w = run.Where{HostsFile: arg}
		}
		list, err := w.List(func(s string) { command.Note(c, s) })
		if err != nil {
			return nil, err
		}
		for _, h := range list {
			names = append(names, h.Name)
		}
	}
	return names, nil
}
