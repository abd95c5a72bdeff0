package command

import (
	"bufio"
	"calib/internal/exit"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// A second signal ends the process. How a run goes on is said where there is one.
func TestSecondSignal(t *testing.T) {
	const child = "CALIB_SECOND_SIGNAL"
	if how, ok := os.LookupEnv(child); ok {
		ctx, _ := Interruptible(os.Stderr)
		if how != "" {
			GoesOn.Store(&how)
		}
		fmt.Println("ready")
		<-ctx.Done()
		fmt.Println("interrupted")
		select {}
	}
	const ended = "calib: interrupted a second time: ended at once"
	for how, want := range map[string]string{"": ended + "\n", "calib run --resume r goes on": ended + ", without a fit; calib run --resume r goes on\n"} {
		cmd := exec.Command(os.Args[0], "-test.run", "^TestSecondSignal$")
		cmd.Env = append(os.Environ(), child+"="+how)
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
		if cmd.ProcessState.ExitCode() != exit.Interrupted || said.String() != want {
			t.Errorf("exit %d, said %q, want %q", cmd.ProcessState.ExitCode(), said.String(), want)
		}
	}
}
