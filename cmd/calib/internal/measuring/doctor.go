package measuring

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/urfave/cli/v2"
	"golang.org/x/sys/unix"

	"calib/cmd/calib/internal/command"
	"calib/internal/dataset"
	"calib/internal/doctor"
	"calib/internal/environ"
	"calib/internal/plane"
	"calib/reports"
)

// DoctorCommand is calib doctor.
func DoctorCommand() *cli.Command {
	return &cli.Command{
		Name: "doctor", Usage: "what stands in the way of measuring, before anything is measured, and what mends it",
		Description: "calib doctor --hosts hosts.txt   starts agents, tries every pair of hosts for some milliseconds, and reads the hosts' settings\n" +
			"Exit codes: 0 nothing stands in the way, 4 some hosts or pairs cannot be measured, 1 nothing can.",
		Flags: append(WhereFlags(), command.JSONFlag(), command.QuietFlag()),
		Action: func(c *cli.Context) error {
			if err := command.NoArgs(c); err != nil {
				return err
			}
			r, err := examined(c)
			if err != nil {
				return err
			}
			switch {
			case r.Usable < 2:
				err = command.WithCode(command.ExitFailed, fmt.Errorf("no two hosts can be measured"))
			case !r.Ready:
				err = command.WithCode(command.ExitPartial, fmt.Errorf("some hosts or pairs cannot be measured"))
			}
			return command.AnswerResult(c, reports.Result{Command: "doctor", Data: r}, err, r.Text)
		},
	}
}

// examined starts agents, looks at hosts and pairs, and ends the agents again.
func examined(c *cli.Context) (r doctor.Report, err error) {
	w, err := whereOf(c)
	if err != nil {
		return r, err
	}
	if w.Sim != "" {
		return r, command.Usagef("--sim: there is nothing to examine in a simulated network")
	}
	j := emptyJob(c, "")
	j.detail.Where, j.dry = w, "doctor-"+strconv.FormatInt(time.Now().UnixNano(), 36)
	if j.list, err = w.hosts(func(s string) { command.Note(c, s) }); err != nil {
		return r, err
	}
	cl, err := j.start(c.Context)
	if err != nil {
		return r, err
	}
	defer func() {
		j.show.Done()
		if end := cl.close(); err == nil {
			err = end
		}
	}()
	j.show.Phase("examine the hosts")
	var f doctor.Facts
	f.Dir, f.Free = freeHere()
	// First: it takes out who refuses, and pairs name the others by index.
	if err = cl.claim(c.Context, plane.Session{Run: j.runID()}, checkAllowance, checkTickets); err != nil {
		return r, err
	}
	if f.Pairs, err = j.check(c.Context, cl, 0); err != nil {
		return r, err
	}
	f.Hosts = cl.examine(c.Context)
	for _, l := range cl.lost {
		f.Hosts = append(f.Hosts, doctor.Host{Name: l.Host, Lost: l.Error})
	}
	return doctor.Examine(f), nil
}

// examine asks every agent again who it is, and compares its clock with the one here: the first time, it had to be started.
func (c *cluster) examine(ctx context.Context) []doctor.Host {
	out := make([]doctor.Host, len(c.agents))
	var wg sync.WaitGroup
	for i, a := range c.agents {
		wg.Go(func() {
			sent := time.Now()
			info, err := a.Hello(ctx)
			took := time.Since(sent)
			if err != nil { // the check of pairs will say why
				info = c.infos[i]
			}
			out[i] = factsOf(c.infos[i], info)
			if ns, nerr := strconv.ParseInt(info.Now[environ.NowUnix], 10, 64); err == nil && nerr == nil {
				out[i].Offset, out[i].Bound = time.Unix(0, ns).Sub(sent)-took/2, took/2
			}
		})
	}
	wg.Wait()
	return out
}

// factsOf are the facts of a host, as the run names it.
func factsOf(named, says dataset.Host) doctor.Host {
	return doctor.Host{Name: named.Name, Addr: named.Addr, Boot: says.Boot, Env: says.Env, Now: says.Now}
}

// freeHere is how much room there is where a run would be written; negative where that is not known.
func freeHere() (dir string, free int64) {
	dir, err := os.Getwd()
	var disk unix.Statfs_t
	if err != nil || unix.Statfs(dir, &disk) != nil {
		return dir, -1
	}
	return dir, int64(disk.Bavail) * int64(disk.Bsize)
}
