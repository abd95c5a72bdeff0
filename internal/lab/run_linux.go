package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"calib/internal/netspec"
)

// Exit codes of Run beside the command's own.
const (
	exitLate = 5 // the lab was late and Strict asked to fail
	// A command ended by a signal counts as 128 + its number, as in a shell.
	exitSignal = 128
)

// interruptTime is how long the command has to end after the run is cancelled.
const interruptTime = 30 * time.Second

// Command is what Run runs in a lab.
type Command struct {
	// Args is the command; {hosts} in it stands for the path of the hosts file.
	Args           []string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Strict turns the success of a command on a late lab into exit code 5.
	Strict bool
}

// Run builds a lab, runs a command beside it, takes the lab down whatever happened, and returns the command's exit
// code. It prints the verdict on the lab's lateness to Stderr. The lab ends with this process, even if it is killed.
func Run(ctx context.Context, spec *netspec.Spec, o Options, c Command) (code int, err error) {
	if len(c.Args) == 0 {
		return 2, fmt.Errorf("%w: no command: want `calib lab run FILE|PRESET -- COMMAND`", ErrUse)
	}
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, unix.SIGINT, unix.SIGTERM, unix.SIGHUP)
	defer signal.Stop(signals)
	buildCtx, cancel := context.WithCancel(ctx)
	built := make(chan struct{})
	go func() {
		select {
		case <-signals:
			cancel()
		case <-built:
		}
	}()
	l, err := up(buildCtx, spec, o, true)
	close(built)
	cancel()
	if err != nil {
		return 1, err
	}
	defer func() {
		if e := l.Close(); e != nil {
			code, err = max(code, 1), errors.Join(err, e)
		}
	}()
	code, err = l.command(ctx, c, signals)
	if errors.Is(err, ErrWire) {
		return 1, err
	}
	stats, e := ReadStats(l.StatsPath)
	if e != nil {
		return 1, errors.Join(err, e)
	}
	v := Judge(stats)
	fmt.Fprintf(c.Stderr, "lab %s: %v\n", l.Name, v)
	if v.Late && c.Strict && code == 0 && err == nil {
		code = exitLate
	}
	return code, err
}

// command runs c to its end.
func (l *Lab) command(ctx context.Context, c Command, signals <-chan os.Signal) (int, error) {
	args := make([]string, len(c.Args))
	for i, a := range c.Args {
		args[i] = strings.ReplaceAll(a, "{hosts}", l.HostsPath)
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Stdin, c.Stdout, c.Stderr
	cmd.Env = append(os.Environ(), EnvHosts+"="+l.HostsPath, EnvLaunch+"="+l.Launch, EnvStats+"="+l.StatsPath)
	if err := cmd.Start(); err != nil {
		return 1, fmt.Errorf("start the command: %w", err)
	}
	ended := make(chan struct{})
	defer close(ended)
	died := l.watchWire(ended)
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	var wireErr error
	var kill <-chan time.Time
	cancelled := ctx.Done()
	for {
		select {
		case err := <-done:
			return exitCode(cmd, err, wireErr)
		case s := <-signals:
			// A terminal has sent its Ctrl-C to the command itself.
			if s != unix.SIGINT || !onTerminal() {
				_ = cmd.Process.Signal(s)
			}
		case <-cancelled:
			cancelled, kill = nil, time.After(interruptTime)
		case <-died:
			died, kill = nil, time.After(interruptTime)
			wireErr = fmt.Errorf("%w: it died while the command ran%s", ErrWire, logTail(l.LogPath))
			_ = cmd.Process.Signal(unix.SIGTERM)
		case <-kill:
			_ = cmd.Process.Kill()
		}
	}
}

func exitCode(cmd *exec.Cmd, err, wireErr error) (int, error) {
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		code := exit.ExitCode()
		if ws, ok := exit.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
			code = exitSignal + int(ws.Signal())
		}
		return code, wireErr
	case err != nil:
		return 1, errors.Join(fmt.Errorf("run %s: %w", cmd.Args[0], err), wireErr)
	case wireErr != nil:
		return 1, wireErr
	}
	return 0, nil
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

// watchWire returns a channel that is closed when the wire ends; it watches until stop is closed.
func (l *Lab) watchWire(stop <-chan struct{}) <-chan struct{} {
	died := make(chan struct{})
	go func() {
		fd, ok := l.Wire.open()
		if !ok {
			close(died)
			return
		}
		defer unix.Close(fd)
		for !ended(fd, time.Second) {
			select {
			case <-stop:
				return
			default:
			}
		}
		close(died)
	}()
	return died
}

// onTerminal reports whether this process is in the foreground of a terminal.
func onTerminal() bool {
	group, err := unix.IoctlGetInt(0, unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}
