package measuring

import (
	"fmt"
	"log/slog"
	"os"

	"github.com/urfave/cli/v2"

	"calib/agent"
	"calib/cmd/calib/internal/command"
	"calib/internal/join"
)

// joinAgent is an agent of a step, which connects to its coordinator.
func joinAgent(c *cli.Context) error {
	if c.Bool("stdio") || c.IsSet("listen") || c.String("name") == "" || c.NArg() > 0 {
		return command.Usagef("agent: --join HOST goes with --name HOST, and without --stdio and --listen")
	}
	limits, err := agentLimits(c)
	if err != nil {
		return err
	}
	s, err := agent.NewServer(agent.ServerOptions{
		Data: c.String("data"), CPU: c.String("cpu"), Limits: limits,
		Log: slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	if err != nil {
		return fmt.Errorf("agent: %w", err)
	}
	defer s.Close()
	if err := join.Serve(c.Context, s, c.String("join"), c.String("name"), os.Stdin, os.Stdout); err != nil {
		return fmt.Errorf("agent: %w", err)
	}
	return nil
}
