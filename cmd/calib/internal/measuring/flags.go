package measuring

import (
	"github.com/urfave/cli/v2"

	"calib/cmd/calib/internal/command"
)

// WhereFlags say which hosts.
func WhereFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "hosts", Usage: "`FILE` of hosts, one or a range a line (see calib hosts --help)"},
		&cli.StringSliceFlag{Name: "host", Usage: "host or `RANGE` such as node[01-16,20]; may be repeated"},
		&cli.IntFlag{Name: "local", Usage: "`N` agents on this machine, over loopback"},
		&cli.StringFlag{Name: "sim", Usage: "no hosts at all: simulate `PRESET[:HOSTS]` or a lab file, in virtual time"},
		&cli.StringFlag{Name: "launch", Value: "ssh {host}", EnvVars: []string{"CALIB_LAUNCH"},
			Usage: "`PREFIX` that runs a command on {host} with its standard streams, such as 'ip netns exec {host}'"},
		&cli.StringFlag{Name: "agent-binary", Usage: "`PATH` of the calib binary for the hosts, where they differ from this machine"},
	}
}

// PlanFlags say what to measure.
func PlanFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "plan", Value: "standard", Usage: "`NAME|FILE`: quick, standard, full, or a plan file"},
		&cli.StringFlag{Name: "only", Usage: "experiments, comma separated: `pingpong,paired`"},
		&cli.StringFlag{Name: "sizes", Usage: "message sizes: `1,64,1KiB..4MiB`"},
		&cli.Uint64Flag{Name: "seed", Usage: "`N` of the schedule and the bootstrap; else the plan file's, or drawn and recorded"},
		&cli.DurationFlag{Name: "budget", Usage: "longest time to measure, such as `5m`; 0 is the plan's"},
		&cli.BoolFlag{Name: "all-pairs", Usage: "ping-pong between all pairs of hosts"},
		&cli.BoolFlag{Name: "isolate", Usage: "one pair at a time"},
		&cli.StringFlag{Name: "send-buffer", Usage: "fixed send buffer of the data connections, `SIZE` such as 128KiB (SO_SNDBUF); empty is the kernel's, which grows"},
		&cli.StringFlag{Name: "congestion", Usage: "TCP congestion control `NAME` of the data connections; empty is the hosts' own"},
	}
}

// OutFlags say how to tell it.
func OutFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "out", Usage: "run `DIR`ectory; default calib-run-DATE-TIME"},
		command.JSONFlag(), command.QuietFlag(),
		&cli.BoolFlag{Name: "yes", Usage: "do not ask, also when the plan is long"},
		&cli.StringFlag{Name: "resume", Usage: "go on with the interrupted run in `DIR`"},
	}
}
