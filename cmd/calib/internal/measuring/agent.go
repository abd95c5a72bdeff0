package measuring

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/urfave/cli/v2"

	"calib/agent"
	"calib/internal/certs"
	"calib/internal/exit"
	"calib/internal/launch"
	"calib/internal/units"
)

// AgentCommand is calib agent, which runs on every host. calib run starts it; a person does so only for a daemon.
func AgentCommand() *cli.Command {
	d := agent.DefaultLimits()
	return &cli.Command{
		Name:  "agent",
		Usage: "measure on this host for a coordinator",
		Description: "calib agent --listen unix  calib+unix:///run/calib/agent.sock\n" +
			"calib agent --listen 10.1.0.3:7433 --cert DIR  calib://10.1.0.3:7433\n" +
			"With --stdio the agent serves the coordinator at the other end of its standard\n" +
			"streams, and exits when its input closes. With --listen it is a daemon, which hosts\n" +
			"files name as above: on a unix socket that only its user and root can use, or on TCP\n" +
			"for coordinators with a certificate (see calib cert). No coordinator can raise the\n" +
			"limits.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "stdio", Usage: "serve one coordinator over standard input and output"},
			&cli.StringFlag{Name: "listen", Usage: "serve coordinators on `ADDR`: unix (/run/calib/agent.sock, for a user " +
				"$XDG_RUNTIME_DIR/calib/agent.sock), unix:/path, or host:port"},
			&cli.StringFlag{Name: "cert", Usage: "`DIR` of this agent's certificate, which calib cert issue has made"},
			&cli.StringFlag{Name: "data", Value: ":0", Usage: "take data connections on `ADDR`; port 0 is any"},
			&cli.StringFlag{Name: "cpu", Usage: "pin the timing thread to CPU `N`; default as the coordinator says"},
			&cli.StringFlag{Name: "join", Usage: "connect to the coordinator on `HOST` (calib run --slurm does)"},
			&cli.StringFlag{Name: "name", Usage: "the `HOST` as which it joins"},
			&cli.DurationFlag{Name: "max-duration", Value: d.Task, Usage: "longest `TIME` of a task"},
			&cli.StringFlag{Name: "max-bytes", Value: d.Bytes.String(), Usage: "max `SIZE` of traffic with one peer in one run"},
			&cli.StringFlag{Name: "max-memory", Value: d.Memory.String(),
				Usage: "max memory `SIZE` of one task"},
			&cli.StringFlag{Name: "max-rate", Usage: "send at most `SIZE` a second on each data connection, and " +
				"as much in datagrams; default no limit, and 10 Gbit/s"},
			&cli.IntFlag{Name: "max-peers", Value: d.Peers, Usage: "`N` hosts in one run besides this one"},
		},
		Action: runAgent,
	}
}

func runAgent(c *cli.Context) error {
	addr, joins := c.String("listen"), c.IsSet("join")
	switch {
	case joins && (c.Bool("stdio") || c.IsSet("listen") || c.String("name") == ""):
		return exit.Usagef("agent: --join HOST goes with --name HOST, and without --stdio and --listen")
	case !joins && c.Bool("stdio") == (addr != ""):
		return exit.Usagef("agent: give --stdio or --listen ADDR; --listen unix is the usual daemon")
	}
	limits, err := agentLimits(c)
	if err != nil {
		return err
	}
	level := slog.LevelInfo
	if addr == "" {
		level = slog.LevelWarn // what the coordinator shows when the agent dies should be why
	}
	serve, err := listener(c, addr)
	if err != nil {
		return exit.Usagef("agent: %w", err)
	}
	s, err := agent.NewServer(agent.ServerOptions{
		Shared: addr != "",
		Data:   c.String("data"), CPU: c.String("cpu"), Limits: limits,
		Log: slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: level})),
	})
	if err == nil {
		defer s.Close()
		err = serve(c.Context, s)
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("agent: %w", err)
	}
	return nil
}

// listener is how the agent serves at an address of --listen, of standard streams where there is none.
func listener(c *cli.Context, addr string) (func(context.Context, *agent.Server) error, error) {
	path, unix := strings.CutPrefix(addr, "unix:")
	unix = unix || addr == "unix"
	switch {
	case c.IsSet("join"): // a step of a job
		return func(ctx context.Context, s *agent.Server) error {
			return certs.Join(ctx, s.ServeStream, c.String("join"), c.String("name"), os.Stdin, os.Stdout)
		}, nil
	case c.String("cert") != "" && (addr == "" || unix):
		return nil, errors.New("--cert is for --listen host:port: standard streams and unix sockets need no " +
			"certificate")
	case addr == "":
		return func(ctx context.Context, s *agent.Server) error { return s.ServeStream(ctx, os.Stdin, os.Stdout) }, nil
	case unix:
		path, err := socketPath(strings.TrimPrefix(path, "unix"))
		return func(ctx context.Context, s *agent.Server) error { return s.ListenUnix(ctx, path) }, err
	}
	if _, _, err := net.SplitHostPort(addr); err != nil {
		return nil, fmt.Errorf("--listen %s: want unix, unix:/path or host:port", addr)
	}
	if c.String("cert") == "" {
		return nil, fmt.Errorf("--listen %s: every user of a machine reaches its TCP ports, those of loopback too, and an "+
			"agent sends traffic for whoever reaches it: give --cert DIR (calib cert issue), or listen on a unix socket "+
			"(--listen unix)", addr)
	}
	credentials, err := certs.Load(c.String("cert"))
	if err != nil {
		return nil, fmt.Errorf("--cert: %w", err)
	}
	if credentials.Role() != certs.Agent {
		return nil, fmt.Errorf("--cert %s: the certificate is for a coordinator: "+
			"an agent's is made by calib cert issue --agent", c.String("cert"))
	}
	return func(ctx context.Context, s *agent.Server) error { return s.ListenTLS(ctx, addr, credentials.Server()) }, nil
}

// socketPath is that of --listen unix:/path, or the usual one, whose directory is made where it is missing.
func socketPath(given string) (string, error) {
	if filepath.IsAbs(given) {
		return given, nil
	}
	if given != "" {
		return "", fmt.Errorf("--listen unix:%s: want the whole path of the socket", given)
	}
	dir := "/run"
	if os.Geteuid() != 0 {
		if dir = os.Getenv("XDG_RUNTIME_DIR"); dir == "" {
			return "", errors.New("--listen unix: this user has no XDG_RUNTIME_DIR: name the socket with --listen unix:/path")
		}
	}
	dir = filepath.Join(dir, "calib")
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	return filepath.Join(dir, "agent.sock"), nil
}

func agentLimits(c *cli.Context) (l agent.Limits, err error) {
	l.Task, l.Peers = c.Duration("max-duration"), c.Int("max-peers")
	for _, f := range []struct {
		name, of string
		to       *units.Bytes
	}{{"max-bytes", "", &l.Bytes}, {"max-memory", "", &l.Memory}, {"max-rate", " a second", &l.Rate}} {
		text := c.String(f.name)
		if text == "" && f.to == &l.Rate {
			continue
		}
		if *f.to, err = units.ParseBytes(text); err != nil {
			return l, exit.Usagef("agent: --%s: %w", f.name, err)
		}
		if *f.to <= 0 {
			return l, exit.Usagef("agent: --%s: %s%s allows nothing", f.name, text, f.of)
		}
	}
	if l.Task <= 0 || l.Peers <= 0 {
		return l, exit.Usagef("agent: --max-duration and --max-peers must be above 0")
	}
	return l, nil
}

// packedAgents are the agents in this calib, one for each system and processor, so that it can copy them to hosts. They
// are what make build and make release put here, under the build tag agents. A calib that was built otherwise has none,
// and copies itself.
var packedAgents = sync.OnceValues(func() ([]launch.Binary, error) { return unpackAgents(packed) })

func unpackAgents(files fs.FS) (out []launch.Binary, err error) {
	list, err := fs.ReadDir(files, ".")
	for _, f := range list {
		text, err := fs.ReadFile(files, f.Name())
		if err != nil {
			return nil, err
		}
		b, err := launch.Unpack(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name(), err)
		}
		out = append(out, b)
	}
	return out, err
}
