package programs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"time"
)

// tries of a run whose lab was late.
const tries = 3

// exitLate is the exit code of calib lab run --strict when the emulated wire was late.
const exitLate = 5

// LabRun is one calibration of an emulated cluster by the real command.
type LabRun struct {
	Calib   string   // path of the command
	Lab     string   // name of the lab; two at once need two
	Network string   // lab file or PRESET:HOSTS
	Out     string   // run directory; what is there is removed
	Flags   []string // of calib run: plan, seed
}

// Args is the command line.
func (r LabRun) Args() []string {
	return slices.Concat(InLab(r.Calib, r.Network, "--strict", "--name", r.Lab), []string{"--out", r.Out, "--quiet", "--yes"}, r.Flags)
}

// InLab is the command line of calib run on an emulated cluster, which has flags of its own. Those of calib run follow.
func InLab(calib, network string, flags ...string) []string {
	return slices.Concat([]string{calib, "lab", "run"}, flags, []string{network, "--", calib, "run", "--hosts", "{hosts}", "--launch", "ip netns exec {host}"})
}

// Do runs it, and again while the lab was late: such a run never counts. The error of one that failed, or was late
// each time, holds the end of what it printed.
func (r LabRun) Do(ctx context.Context) error {
	for try := 1; ; try++ {
		if err := os.RemoveAll(r.Out); err != nil {
			return err
		}
		cmd := Command(ctx, time.Minute, r.Args()...)
		text, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		switch {
		case err == nil:
			return nil
		case errors.As(err, &exit) && exit.ExitCode() == exitLate && try < tries && ctx.Err() == nil:
			fmt.Fprintf(os.Stderr, "%s: the lab was late, try %d\n", r.Network, try)
		default:
			return Failed(cmd, err, text)
		}
	}
}
