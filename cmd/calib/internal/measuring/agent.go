package measuring

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/urfave/cli/v2"

	"calib/agent"
	"calib/cmd/calib/internal/command"
	"calib/internal/units"
)

// AgentCommand is calib agent, the part of calib that runs on every host. calib run starts it; a person does so only for a daemon.
func AgentCommand() *cli.Command {
	d := agent.DefaultLimits()
	return &cli.Command{
		Name:  "agent",
		Usage: "measure on this host for a coordinator (calib run starts its own agents)",
		Description: "With --stdio the agent serves the coordinator at the other end of its standard streams and exits when its\n" +
			"input closes. With --listen it is a daemon, named calib://host:port in a hosts file; without credentials it\n" +
			"takes loopback addresses only. The limits hold for every coordinator; none can raise them.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "stdio", Usage: "serve one coordinator over standard input and output"},
			&cli.StringFlag{Name: "listen", Usage: "serve coordinators on `ADDR`, for example 127.0.0.1:7433"},
			&cli.StringFlag{Name: "data", Value: ":0", Usage: "take data connections on `ADDR`; port 0 is any"},
			&cli.StringFlag{Name: "cpu", Usage: "pin the timing thread to CPU `N`"},
			&cli.StringFlag{Name: "join", Usage: "connect to the coordinator on `HOST`, which tells the rest on standard input (calib run --slurm does this)"},
			&cli.StringFlag{Name: "name", Usage: "the `HOST` as which it joins"},
			&cli.DurationFlag{Name: "max-duration", Value: d.Task, Usage: "longest task"},
			&cli.StringFlag{Name: "max-bytes", Value: d.Bytes.String(), Usage: "`SIZE` of all traffic with one peer in one run"},
			&cli.StringFlag{Name: "max-memory", Value: d.Memory.String(), Usage: "`SIZE` of the buffers of one task"},
			&cli.StringFlag{Name: "max-rate", Usage: "send at most `SIZE` a second on each data connection, and as much in datagrams"},
			&cli.IntFlag{Name: "max-peers", Value: d.Peers, Usage: "hosts in one run besides this one"},
		},
		Action: runAgent,
	}
}

func runAgent(c *cli.Context) error {
	if c.IsSet("join") {
		return joinAgent(c)
	}
	addr := c.String("listen")
	if c.Bool("stdio") == (addr != "") {
		return command.Usagef("agent: give --stdio or --listen ADDR")
	}
	if c.NArg() > 0 {
		return command.Usagef("agent: unexpected argument %q", c.Args().First())
	}
	limits, err := agentLimits(c)
	if err != nil {
		return err
	}
	level := slog.LevelInfo
	if addr == "" {
		level = slog.LevelWarn // what the coordinator shows when the agent dies should be why
	}
	ctx, stop := signal.NotifyContext(c.Context, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	s, err := agent.NewServer(agent.ServerOptions{
		Data: c.String("data"), CPU: c.String("cpu"), Limits: limits,
		Log: slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: level})),
	})
	if err != nil {
		return fmt.Errorf("agent: %w", err)
	}
	defer s.Close()
	if addr == "" {
		err = s.ServeStream(ctx, os.Stdin, os.Stdout)
	} else {
		err = s.Listen(ctx, addr)
	}
	switch {
	case errors.Is(err, agent.ErrOpen):
		return command.Usagef("agent: %w", err)
	case err != nil && !errors.Is(err, context.Canceled):
		return fmt.Errorf("agent: %w", err)
	}
	return nil
}

func agentLimits(c *cli.Context) (l agent.Limits, err error) {
	l.Task, l.Peers = c.Duration("max-duration"), c.Int("max-peers")
	for _, f := range []struct {
		name string
		to   *units.Bytes
	}{{"max-bytes", &l.Bytes}, {"max-memory", &l.Memory}} {
		if *f.to, err = units.ParseBytes(c.String(f.name)); err != nil {
			return l, command.Usagef("agent: --%s: %w", f.name, err)
		}
		if *f.to <= 0 {
			return l, command.Usagef("agent: --%s: %s allows nothing", f.name, c.String(f.name))
		}
	}
	if s := c.String("max-rate"); s != "" {
		if l.Rate, err = units.ParseBytes(s); err != nil {
			return l, command.Usagef("agent: --max-rate: %w", err)
		}
		if l.Rate <= 0 {
			return l, command.Usagef("agent: --max-rate: %s a second allows nothing", s)
		}
	}
	if l.Task <= 0 || l.Peers <= 0 {
		return l, command.Usagef("agent: --max-duration and --max-peers must be above 0")
	}
	return l, nil
}
