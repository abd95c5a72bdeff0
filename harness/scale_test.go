package harness

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"calib/internal/progress"
	calibrun "calib/run"
	"calib/run/plan"
)

const scaleHeader = "hosts | slots | samples, MB | coordinating, s | slots, s | CPU, s | peak, MB | fit and report, " +
	"s | its CPU, s | its peak, MB | report, MB | check, virtual s | coordinator's CPU, s"

// usage is what a program took: wall and CPU time [s], and its largest resident memory [MB].
type usage struct{ wall, cpu, peak float64 }

// use runs a program to its end.
func use(args ...string) (u usage, err error) {
	c := command(interrupted, args...)
	begun := time.Now()
	out, err := c.CombinedOutput()
	if err != nil {
		return u, failed(c, err, out)
	}
	u.wall, u.cpu = time.Since(begun).Seconds(), (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds()
	if r, ok := c.ProcessState.SysUsage().(*syscall.Rusage); ok {
		u.peak = float64(r.Maxrss) * 1024 / 1e6 // Linux counts KiB
	}
	return u, nil
}

// scaled measures and fits a number of simulated hosts, and returns the row of the table.
func scaled(calib, plan, dir string, hosts int) (string, error) {
	spec := fmt.Sprintf("name: scale\nhosts: %d\nmode: switched\nmss: 1448\nseed: 1\nl: 20e-6\n"+
		"host: {a: 20e-6, b: 0.02e-6}\nmedium: {a: 10e-6, b: 0.02e-6}\n", hosts)
	file := dir + ".yaml"
	if err := os.WriteFile(file, []byte(spec), 0o600); err != nil {
		return "", err
	}
	measure, err := use(calib, "run", "--no-fit", "--sim", file, "--plan", plan, "--out", dir, "--quiet", "--yes")
	if err != nil {
		return "", err
	}
	fit, err := use(calib, "fit", dir)
	if err != nil {
		return "", err
	}
	log, err := slotsOf(dir)
	if err != nil {
		return "", err
	}
	megabytes := func(name string) float64 {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			return 0
		}
		return float64(info.Size()) / 1e6
	}
	check, cpu, err := checkScaled(hosts)
	if err != nil {
		return "", err
	}
	cells := []string{strconv.Itoa(hosts), strconv.Itoa(log.slots)}
	busy := log.busy.Seconds()
	for _, v := range []float64{megabytes("samples.jsonl"), measure.wall - busy, busy, measure.cpu, measure.peak, fit.wall,
		fit.cpu, fit.peak, megabytes("report.html"), check, cpu} {
		cells = append(cells, strconv.FormatFloat(v, 'f', 2, 64))
	}
	return "| " + strings.Join(cells, " | ") + " |", nil
}

// checkScaled checks so many hosts on a simulated switch. It returns the virtual time until the verdict and the CPU
// time of the coordinator, which has a thread of its own here: hosts work in others [s].
func checkScaled(hosts int) (virtual, cpu float64, err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	used := func() float64 {
		var u syscall.Rusage
		err = errors.Join(err, syscall.Getrusage(syscall.RUSAGE_THREAD, &u))
		return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
	}
	before := used()
	found, failed := calibrun.Check(interrupted, calibrun.Config{
		Plan: plan.Plan{Seed: 1}, Where: calibrun.Where{Sim: fmt.Sprintf("switch:%d", hosts)},
		Show: progress.New(io.Discard, progress.Quiet, time.Now),
	}, calibrun.Checking{Budget: time.Minute, Margin: 0.02})
	cpu = used() - before
	if len(found.Slow) > 0 || !found.Decided {
		failed = errors.Join(failed, fmt.Errorf("a healthy switch of %d hosts: %+v", hosts, found.Slow))
	}
	return found.Took.Seconds(), cpu, errors.Join(err, failed)
}

func TestScaled(t *testing.T) {
	plan := put(t, t.TempDir(), "plan.yaml",
		"experiments: [clock, pingpong]\nmax_bytes: 1KiB\neffort: 0.05\nrounds: {min: 2, max: 2}\nbudget: 0s\n")
	row, err := scaled(build(t), plan, filepath.Join(t.TempDir(), "run"), 4)
	if err != nil {
		t.Fatal(err)
	}
	columns := strings.Count(scaleHeader, "|") + 2
	if !strings.HasPrefix(row, "| 4 | ") || strings.Contains(row, "-") || strings.Count(row, "|") != columns {
		t.Errorf("%s\n%s", scaleHeader, row)
	}
}
