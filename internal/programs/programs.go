// Package programs runs other programs, for the comparisons behind make bench and make accuracy.
package programs

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// Command is a program that is interrupted when ctx ends, so that it can take down what it built, and killed after the
// patience has passed too.
func Command(ctx context.Context, patience time.Duration, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, args[0], args[1:]...)
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	c.WaitDelay = patience
	return c
}

// Run runs a program to its end, with an input. The error of one that fails holds the end of what it printed.
func Run(ctx context.Context, input string, args ...string) error {
	c := Command(ctx, time.Minute, args...)
	c.Stdin = strings.NewReader(input)
	if out, err := c.CombinedOutput(); err != nil {
		return Failed(c, err, out)
	}
	return nil
}

// Failed is the error of a program that ended with err and printed out.
func Failed(c *exec.Cmd, err error, out []byte) error {
	const most = 2000 // bytes: a log may be long
	return fmt.Errorf("%s: %w: %s", strings.Join(c.Args, " "), err, strings.TrimSpace(string(out[max(0, len(out)-most):])))
}

// Installed reports whether there is a program of that name.
func Installed(name string) bool {
	_, err := exec.LookPath(name)
	return err == nil
}

// BuildCalib builds the calib command to a file, as releases are.
func BuildCalib(ctx context.Context, to string) error {
	c := Command(ctx, time.Minute, "go", "build", "-o", to, "calib/cmd/calib")
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := c.CombinedOutput(); err != nil {
		return Failed(c, err, out)
	}
	return nil
}
