package measuring

import (
	"io"

	"github.com/urfave/cli/v2"

	"calib/cmd/calib/internal/command"
	"calib/internal/hosts"
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
			{Name: "expand", Usage: "print the hosts of ranges or hosts files, one a line", ArgsUsage: "RANGE|FILE...",
				Flags: []cli.Flag{command.JSONFlag()}, Action: hostsExpand},
			{Name: "fold", Usage: "print host names as ranges", ArgsUsage: "NAME...",
				Flags: []cli.Flag{command.JSONFlag()}, Action: hostsFold},
		},
		Action: command.Group,
	}
}

func hostsExpand(c *cli.Context) error {
	if err := command.NoFlagsAfter(c); err != nil {
		return err
	}
	if c.NArg() == 0 {
		return command.Usagef("hosts expand: give ranges such as node[01-16], or hosts files")
	}
	var names []string
	for _, arg := range c.Args().Slice() {
		w := where{Ranges: []string{arg}}
		if command.Exists(arg) {
			w = where{HostsFile: arg}
		}
		list, err := w.list(func(s string) { command.Note(c, s) })
		if err != nil {
			return err
		}
		for _, h := range list {
			names = append(names, h.Name)
		}
	}
	return command.Answer(c, "hosts expand", names, func(w io.Writer) error { return command.Lines(w, names) })
}

func hostsFold(c *cli.Context) error {
	if err := command.NoFlagsAfter(c); err != nil {
		return err
	}
	if c.NArg() == 0 {
		return command.Usagef("hosts fold: give host names")
	}
	folded := []string{hosts.Fold(c.Args().Slice())}
	return command.Answer(c, "hosts fold", folded, func(w io.Writer) error { return command.Lines(w, folded) })
}
