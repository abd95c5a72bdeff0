package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"calib/internal/exit"
	"calib/internal/lists"
	"calib/internal/netspec"
)

// exitSignal is what the exit code of a command that a signal ended has beside the signal's number, as in a shell.
const exitSignal = 128

// interruptTime is how long the command has to end after the run is cancelled.
const interruptTime = 30 * time.Second

// Run builds a lab, runs a command beside it, and takes the lab down whatever happened. Signals that would end this
// process go to the command. Run returns the command's exit code, and prints the verdict on the lab's lateness to
// Stderr. The lab ends with this process, even if it is killed.
func Run(ctx context.Context, spec *netspec.Spec, o Options, c Command) (code int, err error) {
	if len(c.Args) == 0 {
		return 2, fmt.Errorf("%w: no command: want `calib lab run FILE|PRESET -- COMMAND`", ErrUse)
	}
	built := false
	v, err := Within(ctx, spec, o, func(ctx context.Context, l *Lab) (err error) {
		built = true
		code, err = l.command(ctx, c)
		return err
	})
	if !built || errors.Is(err, ErrWire) {
		return 1, err
	}
	fmt.Fprintf(c.Stderr, "lab %s: %v\n", o.withDefaults().Name, v)
	if v.Late && c.Strict && code == 0 && err == nil {
		code = exit.Inconclusive
	}
	if err != nil {
		code = max(code, 1)
	}
	return code, err
}

func (l *Lab) command(ctx context.Context, c Command) (int, error) {
	args := lists.Map(c.Args, strings.NewReplacer("{hosts}", l.HostsPath).Replace)
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Stdin, c.Stdout, c.Stderr
	cmd.Env = append(os.Environ(), EnvHosts+"="+l.HostsPath, EnvLaunch+"="+l.Launch, EnvStats+"="+l.StatsPath)
	cmd.WaitDelay = interruptTime
	cmd.Cancel = func() error {
		if errors.Is(context.Cause(ctx), ErrWire) {
			return cmd.Process.Signal(unix.SIGTERM)
		}
		return nil // the command has got the signal that ended ctx
	}
	signals := make(chan os.Signal, 4)
	wanted := []os.Signal{unix.SIGINT, unix.SIGTERM}
	if !signal.Ignored(unix.SIGHUP) { // as under nohup, also by the command
		wanted = append(wanted, unix.SIGHUP)
	}
	signal.Notify(signals, wanted...)
	defer close(signals)
	defer signal.Stop(signals)
	if err := cmd.Start(); err != nil {
		return 1, fmt.Errorf("start the command: %w", err)
	}
	go func() {
		for s := range signals {
			if s != unix.SIGINT || !onTerminal() { // a terminal has sent its Ctrl-C to the command itself
				_ = cmd.Process.Signal(s)
			}
		}
	}()
	_ = cmd.Wait() // how it ended is in its state
	if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return exitSignal + int(ws.Signal()), nil
	}
	return cmd.ProcessState.ExitCode(), nil
}

// logTail returns the end of a log, to be appended to an error: the log is removed with the lab.
func logTail(path string) string {
	const most = 2000
	text, err := os.ReadFile(path)
	if err != nil || len(text) == 0 {
		return ""
	}
	return ": its log ends with: " + strings.TrimSpace(string(text[max(0, len(text)-most):]))
}

// watchWire cancels ctx when the wire ends. It watches until ctx ends.
func (l *Lab) watchWire(ctx context.Context, cancel context.CancelCauseFunc) {
	if fd, ok := l.Wire.open(); ok {
		defer unix.Close(fd)
		for !ended(fd, time.Second) {
			if ctx.Err() != nil {
				return
			}
		}
	}
	cancel(ErrWire)
}

// onTerminal reports whether a terminal signals this process, whatever its input is.
func onTerminal() bool {
	terminal, err := os.Open("/dev/tty")
	if err != nil {
		return false
	}
	defer terminal.Close()
	group, err := unix.IoctlGetInt(int(terminal.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

// Within builds a lab, calls do with it, takes the lab down whatever happened, and returns the verdict on its lateness.
// There is none on a lab that was not built, or whose wire has died: the context of do then ends, with ErrWire as its
// cause. It ends with ctx, too. Where this process is killed the wire ends with it; what is left of the hosts'
// namespaces then goes with Down, or with the next lab of that name.
func Within(
	ctx context.Context, spec *netspec.Spec, o Options, do func(context.Context, *Lab) error,
) (v Verdict, err error) {
	l, err := up(ctx, spec, o, wireConfig{Attached: true, Rootless: !privileged()})
	if err != nil {
		return v, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	inner, cancel := context.WithCancelCause(ctx)
	go l.watchWire(inner, cancel)
	err = do(inner, l)
	cancel(nil)
	if !l.Wire.alive() {
		return v, errors.Join(fmt.Errorf("%w: it died%s", ErrWire, logTail(l.LogPath)), err)
	}
	stats, e := ReadStats(l.StatsPath)
	if e != nil {
		return v, errors.Join(err, e)
	}
	return Judge(stats), err
}
