// Command calib-agent is the part of calib that runs on the hosts, alone: calib copies it there, since it has a fifth
// of the size. It takes the command line of calib agent as far as calib itself uses it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"calib/agent"
	"calib/internal/certs"
	"calib/internal/machine"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "calib-agent:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) == 1 && args[0] == "--version" {
		_, err := fmt.Println("calib-agent", machine.Version())
		return err
	}
	if len(args) == 0 || args[0] != "agent" {
		return errors.New("want agent --stdio or agent --join HOST --name NAME; calib starts it with these")
	}
	f := flag.NewFlagSet("calib-agent agent", flag.ContinueOnError)
	stdio := f.Bool("stdio", false, "serve one coordinator over standard input and output")
	host := f.String("join", "", "connect to the coordinator on this `HOST`, which is told the rest on standard input")
	name := f.String("name", "", "`NAME` under which it joins")
	o := agent.ServerOptions{Log: slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))}
	f.StringVar(&o.Data, "data", ":0", "take data connections on `ADDR`")
	if err := f.Parse(args[1:]); err != nil {
		return err
	}
	if f.NArg() > 0 || *stdio == (*host != "") {
		return errors.New("give --stdio, or --join HOST and --name NAME, and nothing else behind the flags")
	}
	s, err := agent.NewServer(o)
	if err != nil {
		return err
	}
	defer s.Close()
	if *stdio {
		return s.ServeStream(ctx, os.Stdin, os.Stdout)
	}
	return certs.Join(ctx, s.ServeStream, *host, *name, os.Stdin, os.Stdout)
}
