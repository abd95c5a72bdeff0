package measuring

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"

	"calib/cmd/calib/internal/agents"
	"calib/cmd/calib/internal/command"
	"calib/internal/hosts"
	"calib/internal/launch"
	"calib/internal/units"
)

// starter starts the agents of a run that are no daemons.
type starter struct {
	start  func(context.Context, hosts.Host) (io.ReadWriteCloser, error)
	at     func(context.Context, hosts.Host) string // where peers dial a host without addr=
	copied func() (hosts int, bytes int64)
	close  func() error // when all agents have been closed
	builds []string     // that may answer: hashes
}

// starter is chosen by the flags. A step of a job starts all its agents here.
func (w where) starter(ctx context.Context, list []hosts.Host) (*starter, error) {
	own, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if w.Local > 0 {
		return launched(launch.Local(own)), nil
	}
	binaries, err := w.binaries(own)
	if err != nil {
		return nil, command.WithCode(command.ExitUsage, err)
	}
	var s *starter
	if w.Slurm {
		s, err = step(ctx, list, binaries)
	} else if l, bad := launch.Template(w.Launch, binaries...); bad == nil {
		s = launched(l)
	} else {
		err = command.WithCode(command.ExitUsage, bad)
	}
	if err != nil {
		return nil, err
	}
	for _, b := range binaries {
		s.builds = append(s.builds, b.Hash)
	}
	return s, nil
}

// binaries are what may be copied to a host, the first that fits: what the user gave, the agents that are a part of this calib, and itself.
func (w where) binaries(own string) ([]launch.Binary, error) {
	var out []launch.Binary
	if w.AgentBinary != "" {
		b, err := launch.ReadBinary(w.AgentBinary)
		if err != nil {
			return nil, err
		}
		out = append(out, b)
	}
	parts, err := agents.All()
	if err != nil {
		return nil, err
	}
	self, err := launch.ReadBinary(own)
	return append(append(out, parts...), self), err
}

func launched(l *launch.Launcher) *starter {
	return &starter{
		start: func(ctx context.Context, h hosts.Host) (io.ReadWriteCloser, error) {
			p, err := l.Launch(ctx, launch.Host{Name: h.Name, User: h.User}, agentArgs(h)...)
			if err != nil {
				return nil, err
			}
			return p, nil
		},
		at: func(ctx context.Context, h hosts.Host) string {
			return l.Hostname(ctx, launch.Host{Name: h.Name, User: h.User})
		},
		copied: l.Copied, close: func() error { return nil },
	}
}

// step starts one step of the job for all hosts. Their agents listen on every address.
func step(ctx context.Context, list []hosts.Host, binaries []launch.Binary) (*starter, error) {
	names := make([]string, len(list))
	for i, h := range list {
		names[i] = h.Name
	}
	job := launch.Job{Command: launch.Slurm(hosts.Fold(names), len(names)), Hosts: names, Ports: slurmPorts()}
	s, err := launch.StartStep(ctx, job, binaries, []string{"agent", "--data", ":0"})
	if err != nil {
		return nil, err
	}
	return &starter{
		start:  func(ctx context.Context, h hosts.Host) (io.ReadWriteCloser, error) { return s.Connect(ctx, h.Name) },
		at:     func(_ context.Context, h hosts.Host) string { return h.Name },
		copied: s.Copied, close: s.Close,
	}, nil
}

// mostCopied is what a host is to be sent at most [B].
const mostCopied = 8 << 20

// copiedText says what the hosts were sent; it is empty where all had it.
func copiedText(n int, bytes int64) string {
	if n == 0 {
		return ""
	}
	each := bytes / int64(n)
	s := fmt.Sprintf("copied the agent, %s, to %s", units.Format(float64(each), "B"), units.GroupedPlural(n, "host"))
	if each > mostCopied {
		s += ": this calib was built without its small agent, and copied itself (make build has it)"
	}
	return s
}

// atOnce is how many hosts are reached at a time.
func (w where) atOnce() int { return cmp.Or(w.Fanout, defaultFanout) }
