package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"calib/cmd/calib/internal/command"
	"calib/internal/exit"
	"calib/internal/lab"
	"calib/internal/netspec"
)

// labCommand is calib lab.
func labCommand() *cli.Command {
	return &cli.Command{
		Name:  "lab",
		Usage: "build an emulated cluster of known parameters: real TCP between network namespaces",
		Description: "calib lab up --preset sparc1994 --hosts 8    build it, and print its hosts file\n" +
			"calib lab down                               remove every trace of it\n" +
			"calib lab run FILE -- calib run --hosts {hosts} --launch 'ip netns exec {host}'\n" +
			"                                             both, around a command\n" +
			"Works as root and, where the kernel allows user namespaces, without. FILE is YAML; see examples/lab-*.yaml.\n" +
			"Presets: sparc1994 is the cluster of Stoica, Sultan and Keyes (1994); hku2000 that of Tam and Wang (2000) at the\n" +
			"University of Hong Kong; switch is a slowed switch of today.",
		Subcommands: []*cli.Command{
			{Name: "up", Usage: "build a lab and print its hosts file", ArgsUsage: "[FILE|PRESET[:HOSTS]]",
				Flags: slices.Concat(specFlags(), nameFlags(), []cli.Flag{command.JSONFlag()}), Action: labUp},
			{Name: "down", Usage: "remove every trace of a lab, also of a half-built or crashed one",
				Flags: slices.Concat(nameFlags(), []cli.Flag{&cli.BoolFlag{Name: "all", Usage: "all labs"}, command.JSONFlag()}), Action: labDown},
			{Name: "run", Usage: "build a lab, run a command beside it, take the lab down",
				ArgsUsage: "FILE|PRESET[:HOSTS] -- COMMAND...",
				Description: "{hosts} in the command stands for the path of the hosts file. The command finds the variables\n" +
					lab.EnvHosts + ", " + lab.EnvLaunch + " and " + lab.EnvStats + ". Its exit code is this one's.",
				Flags: slices.Concat(specFlags(), nameFlags(), []cli.Flag{
					&cli.BoolFlag{Name: "strict", Usage: "exit 5 if the command succeeded but the lab was late"}}),
				Action: labRun},
			{Name: "list", Aliases: []string{"status"}, Usage: "list the labs and whether they are up",
				Flags: []cli.Flag{command.JSONFlag()}, Action: labList},
			{Name: "stats", Usage: "print a running lab's counters and whether it keeps its times",
				Flags: slices.Concat(nameFlags(), []cli.Flag{command.JSONFlag()}), Action: labStats},
			{Name: "presets", Usage: "list the networks that are built in", Flags: []cli.Flag{command.JSONFlag()}, Action: labPresets},
			{Name: "wire", Hidden: true, Usage: "move a lab's packets (started by up)",
				Action: func(*cli.Context) error { return lab.RunWire(os.Stdin, os.Stdout) }},
			{Name: "hold", Hidden: true, Usage: "keep a lab's user namespace (started by up)",
				Action: func(*cli.Context) error { return lab.RunHolder(os.Stdin, os.Stdout) }},
		},
		Action: command.Group,
	}
}

func specFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "preset", Usage: "built-in network `NAME`: " + strings.Join(netspec.PresetNames(), ", ")},
		&cli.IntFlag{Name: "hosts", Usage: "`N` hosts, instead of the file's or the preset's own number"},
		&cli.IntFlag{Name: "cpu", Usage: "pin the process that moves the packets to CPU `N`"},
		&cli.BoolFlag{Name: "idle", Usage: "let idle CPUs sleep: saves power, and spares a virtual machine its quota, but hosts " +
			"answer tens of microseconds later"},
		&cli.StringFlag{Name: "congestion", Value: lab.DefaultCongestion, Usage: "TCP congestion control `NAME` of the hosts; \"" +
			lab.OwnCongestion + "\" is the machine's default. BBR's timers run where packets are moved, and make them late"},
	}
}

func nameFlags() []cli.Flag {
	return []cli.Flag{&cli.StringFlag{Name: "name", Value: lab.DefaultName,
		Usage: "`NAME` of the lab; its hosts are NAME-h0, NAME-h1 and so on"}}
}

// labSpec reads the network from --preset, or else from the argument arg.
func labSpec(c *cli.Context, arg string) (*netspec.Spec, error) {
	preset := c.String("preset")
	if (preset == "") == (arg == "") {
		return nil, exit.Usagef("want a network: either --preset NAME (%s), or a lab file such as examples/lab-sparc1994.yaml",
			strings.Join(netspec.PresetNames(), ", "))
	}
	var spec *netspec.Spec
	var err error
	if preset != "" {
		spec, err = netspec.Preset(preset, 0)
	} else {
		spec, err = netspec.Resolve(arg)
	}
	if err == nil && c.IsSet("hosts") {
		spec.Hosts = c.Int("hosts")
		err = spec.Validate()
	}
	if err != nil {
		return nil, exit.Usagef("lab: %w", err)
	}
	return spec, nil
}

func labOptions(c *cli.Context) lab.Options {
	o := lab.Options{Name: c.String("name"), Idle: c.Bool("idle"), Congestion: c.String("congestion")}
	if c.IsSet("cpu") {
		cpu := c.Int("cpu")
		o.CPU = &cpu
	}
	return o
}

// labError gives a wrong use of the lab its exit code.
func labError(err error) error {
	if errors.Is(err, lab.ErrUse) {
		return exit.With(exit.Usage, err)
	}
	return err
}

func labUp(c *cli.Context) error {
	if err := command.NoFlagsAfter(c); err != nil {
		return err
	}
	if c.NArg() > 1 {
		return exit.Usagef("want one lab file, got %d arguments", c.NArg())
	}
	spec, err := labSpec(c, c.Args().First())
	if err != nil {
		return err
	}
	l, err := lab.Up(c.Context, spec, labOptions(c))
	if err != nil {
		return labError(err)
	}
	return command.Answer(c, "lab up", l.State, func(w io.Writer) error {
		fmt.Fprint(w, lab.HostsFile(l.Name, spec, l.Launch))
		fmt.Fprintf(c.App.ErrWriter, "lab %s is up; this hosts file is %s; take the lab down with: calib lab down --name %s\n",
			l.Name, l.HostsPath, l.Name)
		return nil
	})
}

// taken is the data of calib lab down --json.
type taken struct {
	Down   []string `json:"down"`   // labs that were taken down
	Absent []string `json:"absent"` // names of which there was none
}

func labDown(c *cli.Context) error {
	if c.Args().Present() {
		return exit.Usagef("want no argument, got %q: name the lab with --name", c.Args().First())
	}
	names := []string{c.String("name")}
	if c.Bool("all") {
		labs, err := lab.List("")
		if err != nil {
			return err
		}
		names = nil
		for _, l := range labs {
			names = append(names, l.Name)
		}
	}
	t := taken{Down: []string{}, Absent: []string{}}
	var errs []error
	for _, name := range names {
		switch err := lab.Down("", name); {
		case errors.Is(err, lab.ErrNoLab):
			t.Absent = append(t.Absent, name)
		case err != nil:
			errs = append(errs, err)
		default:
			t.Down = append(t.Down, name)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return labError(err)
	}
	return command.Answer(c, "lab down", t, func(io.Writer) error {
		for _, name := range t.Absent {
			fmt.Fprintf(c.App.ErrWriter, "lab %s: nothing to take down\n", name)
		}
		return nil
	})
}

func labRun(c *cli.Context) error {
	args := c.Args().Slice()
	network := ""
	if c.String("preset") == "" && len(args) > 0 {
		network, args = args[0], args[1:]
	}
	// The cli library swallows the -- that follows a flag, but not one that follows an argument.
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	} else if network != "" {
		return exit.Usagef("want -- between %s and the command: calib lab run %s -- COMMAND", network, network)
	}
	if i := slices.Index(args, "--"); network == "" && i == 1 {
		return exit.Usagef("want either --preset or a lab file, not both")
	}
	spec, err := labSpec(c, network)
	if err != nil {
		return err
	}
	code, err := lab.Run(c.Context, spec, labOptions(c), lab.Command{
		Args: args, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Strict: c.Bool("strict"),
	})
	switch {
	case err != nil && errors.Is(err, lab.ErrUse):
		return labError(err)
	case err != nil:
		return exit.With(code, err)
	case code != 0:
		return command.Silent(exit.With(code, fmt.Errorf("the command ended with exit code %d", code)), nil)
	}
	return nil
}
