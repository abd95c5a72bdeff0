package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"calib/cmd/calib/internal/command"
	"calib/cmd/calib/internal/measuring"
	"calib/internal/exit"
	"calib/internal/lab"
	"calib/internal/lists"
	"calib/internal/netspec"
	"calib/internal/units"
)

func labCommand() *cli.Command {
	return &cli.Command{
		Name:  "lab",
		Usage: "build an emulated cluster of known parameters",
		Description: "calib lab up sparc1994:8              real TCP between network namespaces\n" +
			"calib lab down                        remove every trace of it\n" +
			"calib lab run sparc1994:8 -- COMMAND  both, around a command\n" +
			"calib lab selfcheck RUN               calibrate a copy of a run's network\n" +
			"Works as root and, where the kernel allows user namespaces, without. A network is a\n" +
			"preset or a YAML file (examples/lab-*.yaml). Presets: sparc1994 is the cluster of\n" +
			"Stoica, Sultan and Keyes (1994); hku2000 that of Tam and Wang (2000) at the University\n" +
			"of Hong Kong; switch is a slowed switch of today.",
		Subcommands: []*cli.Command{
			{Name: "up", Usage: "build a lab and print its hosts file", ArgsUsage: "FILE|PRESET[:HOSTS]",
				Description: "calib lab up sparc1994:8 >hosts.txt",
				Flags:       append(specFlags(), nameFlag(), command.JSONFlag()), Action: labUp},
			{Name: "down", Usage: "remove every trace of a lab, also of a half-built or crashed one",
				Description: "calib lab down --all",
				Flags:       []cli.Flag{nameFlag(), &cli.BoolFlag{Name: "all", Usage: "all labs"}, command.JSONFlag()},
				Action:      labDown},
			{Name: "run", Usage: "build a lab, run a command beside it, take the lab down",
				ArgsUsage: "FILE|PRESET[:HOSTS] -- COMMAND...",
				Description: "calib lab run sparc1994:8 -- \\\n" +
					"    calib run --hosts {hosts} --launch '$CALIB_LAB_LAUNCH'\n" +
					"{hosts} in the command stands for the path of the hosts file. The command finds the\n" +
					"variables " + lab.EnvHosts + ", " + lab.EnvLaunch + " and " + lab.EnvStats + ". calib exits\nwith its code.",
				Flags: append(specFlags(), nameFlag(),
					&cli.BoolFlag{Name: "strict", Usage: "exit 5 if the command succeeded but the lab was late"}),
				Action: labRun},
			measuring.SelfcheckCommand(),
			{Name: "list", Usage: "list the labs and whether they are up",
				Description: "calib lab list", Flags: []cli.Flag{command.JSONFlag()}, Action: labList},
			{Name: "stats", Usage: "print a running lab's counters and whether it keeps its times",
				Description: "calib lab stats", Flags: []cli.Flag{nameFlag(), command.JSONFlag()}, Action: labStats},
			{Name: "presets", Usage: "list the networks that are built in",
				Description: "calib lab presets", Flags: []cli.Flag{command.JSONFlag()}, Action: labPresets},
			{Name: "wire", Hidden: true, Usage: "move a lab's packets (started by up)",
				Action: func(*cli.Context) error { return lab.RunWire(os.Stdin, os.Stdout) }},
		},
		Action: command.Group,
	}
}

func specFlags() []cli.Flag {
	return []cli.Flag{
		&cli.IntFlag{Name: "cpu", Usage: "pin the process that moves the packets to CPU `N`"},
		&cli.BoolFlag{Name: "idle", Usage: "let idle CPUs sleep: less power, but hosts answer later"},
		&cli.StringFlag{Name: "congestion", Value: lab.DefaultCongestion,
			Usage: "TCP congestion control `NAME` of the hosts, or \"" + lab.OwnCongestion + "\""},
	}
}

func nameFlag() cli.Flag {
	return &cli.StringFlag{Name: "name", Value: lab.DefaultName,
		Usage: "`NAME` of the lab; its hosts are NAME-h0, NAME-h1, …"}
}

func labSpec(arg string) (*netspec.Spec, error) {
	if arg == "" {
		return nil, exit.Usagef("want a network: a preset (%s) such as sparc1994:8, or a lab file such as "+
			"examples/lab-sparc1994.yaml", strings.Join(netspec.PresetNames(), ", "))
	}
	spec, err := netspec.Resolve(arg)
	if err != nil {
		return nil, exit.Usagef("lab: %w", err)
	}
	return spec, nil
}

func labOptions(c *cli.Context) lab.Options {
	o := lab.Options{Name: c.String("name"), Idle: c.Bool("idle"), Congestion: c.String("congestion")}
	if c.IsSet("cpu") {
		o.CPU = new(c.Int("cpu"))
	}
	return o
}

func labUp(c *cli.Context) error {
	if c.NArg() > 1 {
		return exit.Usagef("want one network, got %d arguments", c.NArg())
	}
	spec, err := labSpec(c.Args().First())
	if err != nil {
		return err
	}
	l, err := lab.Up(c.Context, spec, labOptions(c))
	if err != nil {
		return err
	}
	return command.Answer(c, "lab up", l.State, func(w io.Writer) error {
		fmt.Fprint(w, lab.HostsFile(l.Name, spec, l.Launch))
		fmt.Fprintf(c.App.ErrWriter, "lab %s is up; this hosts file is %s; take the lab down with: "+
			"calib lab down --name %s\n", l.Name, l.HostsPath, l.Name)
		return nil
	})
}

type taken struct {
	Down   []string `json:"down"`   // labs that were taken down
	Absent []string `json:"absent"` // names of which there was none
}

func labDown(c *cli.Context) error {
	names := []string{c.String("name")}
	if c.Bool("all") && c.IsSet("name") {
		return exit.Usagef("--name names one lab, and --all takes all: give one of them")
	} else if c.Bool("all") {
		labs, err := lab.List("")
		if err != nil {
			return err
		}
		names = lists.Map(labs, func(l lab.Status) string { return l.Name })
	}
	t := taken{Down: []string{}, Absent: []string{}}
	var failed error
	for _, name := range names {
		switch err := lab.Down("", name); {
		case err == nil:
			t.Down = append(t.Down, name)
		case errors.Is(err, lab.ErrNoLab):
			t.Absent = append(t.Absent, name)
		default:
			failed = errors.Join(failed, err)
		}
	}
	if failed != nil {
		return failed
	}
	return command.Answer(c, "lab down", t, func(io.Writer) error {
		for _, name := range t.Absent {
			fmt.Fprintf(c.App.ErrWriter, "lab %s: nothing to take down\n", name)
		}
		return nil
	})
}

func labRun(c *cli.Context) error {
	spec, err := labSpec(c.Args().First())
	if err != nil {
		return err
	}
	args := c.Args().Tail()
	if len(args) == 0 || args[0] != "--" {
		return exit.Usagef("want -- between %[1]s and the command: calib lab run %[1]s -- COMMAND", c.Args().First())
	}
	args = args[1:]
	code, err := lab.Run(c.Context, spec, labOptions(c), lab.Command{
		Args: args, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Strict: c.Bool("strict"),
	})
	switch {
	case err != nil:
		return exit.With(code, err)
	case code != 0:
		return command.Silent(exit.With(code, fmt.Errorf("the command ended with exit code %d", code)), nil)
	}
	return nil
}

func labList(c *cli.Context) error {
	labs, err := lab.List("")
	if err != nil {
		return err
	}
	return command.Answer(c, "lab list", append([]lab.Status{}, labs...), func(w io.Writer) error {
		if len(labs) == 0 {
			fmt.Fprintln(c.App.ErrWriter, "no lab is up; build one with: calib lab up sparc1994")
			return nil
		}
		t := command.NewTable(w, "LAB", "HOSTS", "MEDIUM", "SINCE", "STATE")
		for _, l := range labs {
			state := "up"
			if !l.Up {
				state = l.Problem
			}
			t.Row(l.Name, l.Spec.Hosts, l.Spec.Mode, l.Created.Local().Format(time.DateTime), state)
		}
		return t.Flush()
	})
}

type labReport struct {
	Verdict lab.Verdict `json:"verdict"`
	Stats   lab.Stats   `json:"stats"`
}

func labStats(c *cli.Context) error {
	l, err := lab.Load("", c.String("name"))
	if err != nil {
		return err
	}
	if !l.Up {
		return fmt.Errorf("lab %s: %s", l.Name, l.Problem)
	}
	s, err := lab.ReadStats(l.StatsPath)
	if err != nil {
		return err
	}
	r := labReport{Verdict: lab.Judge(s), Stats: s}
	return command.Answer(c, "lab stats", r, r.print)
}

func (r labReport) print(w io.Writer) error {
	s := r.Stats
	idle := map[bool]string{false: "idle CPUs sleep", true: "idle CPUs are kept awake"}[s.Awake]
	sent := map[bool]string{false: "read from the device", true: "stamped by TCP"}[s.PreciseSend]
	fmt.Fprintf(w, "lab %s: up %s, priority %s, %s, packets count as sent when %s\n%v\n",
		s.Lab, units.Format(s.Uptime, "s"), s.Priority, idle, sent, r.Verdict)
	if s.MediumQueueMax > 0 {
		fmt.Fprintf(w, "shared medium: at most %d packets inside\n", s.MediumQueueMax)
	}
	if n := s.Strays + s.Refused; n > 0 {
		fmt.Fprintf(w, "packets to no host of the lab: %d; refused by the receiving kernel: %d\n", s.Strays, s.Refused)
	}
	t := command.NewTable(w, "HOST", "SENT", "OF THEM FREE", "PAYLOAD", "RECEIVED", "PAYLOAD", "DROPPED FULL",
		"DROPPED LOST", "MOST INSIDE TX/PORT/RX")
	for _, h := range s.Hosts {
		t.Row(h.Host, h.SentPackets, h.SentFree, h.SentBytes, h.RecvPackets, h.RecvBytes, h.BufferDrops, h.LossDrops,
			fmt.Sprintf("%d/%d/%d", h.TxQueueMax, h.PortQueueMax, h.RxQueueMax))
	}
	return t.Flush()
}

func labPresets(c *cli.Context) error {
	var specs []netspec.Spec
	for _, name := range netspec.PresetNames() {
		s, _ := netspec.Preset(name, 0) // of the list
		specs = append(specs, *s)
	}
	headings := []string{"PRESET", "HOSTS", "MEDIUM", "a", "b", "a_c", "b_c", "DELAY", "BUFFER"}
	return command.AnswerTable(c, "lab presets", specs, headings, func(t command.Table) {
		for _, s := range specs {
			buffer := "unlimited"
			if s.Buffer > 0 {
				buffer = fmt.Sprintf("%d packets", s.Buffer)
			}
			t.Row(s.Name, s.Hosts, s.Mode, units.Format(s.Host.A, "s"), units.Format(s.Host.B, "s/B"),
				units.Format(s.Medium.A, "s"), units.Format(s.Medium.B, "s/B"), units.Format(s.L, "s"), buffer)
		}
	})
}
