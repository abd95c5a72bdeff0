package command

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/urfave/cli/v2"

	"calib/internal/exit"
)

// A second signal ends the process.
func TestSecondSignal(t *testing.T) {
	const child = "CALIB_SECOND_SIGNAL"
	if os.Getenv(child) != "" {
		ctx := Interruptible()
		fmt.Println("ready")
		<-ctx.Done()
		fmt.Println("interrupted")
		select {}
	}
	cmd := exec.Command(os.Args[0], "-test.run", "^TestSecondSignal$")
	cmd.Env = append(os.Environ(), child+"=1")
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() { // each line asks for a signal
		if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
			t.Error(err)
		}
	}
	_ = cmd.Wait() // its code is asked below
	code, want := cmd.ProcessState.ExitCode(), "calib: interrupted a second time: ended at once\n"
	if code != exit.Interrupted || said.String() != want {
		t.Errorf("exit %d, said %q, want %q", code, said.String(), want)
	}
}

// A long computation does not keep anybody waiting who interrupts it.
func TestComputeIsInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := cli.NewContext(cli.NewApp(), nil, &cli.Context{Context: ctx})
	if err := Compute(c, func() error { return exit.Usagef("wrong") }); exit.CodeOf(err) != exit.Usage {
		t.Errorf("what is computed says %v", err)
	}
	err := Compute(c, func() error {
		cancel()
		select {}
	})
	if exit.CodeOf(err) != exit.Interrupted {
		t.Errorf("interrupted: %v", err)
	}
}
