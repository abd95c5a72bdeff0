package launch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"time"

	"calib/internal/certs"
	"calib/internal/lists"
)

// Step is the agents of many hosts, started by one command: a step of a job. Its streams serve all of them, line by
// line: what is written reaches every host, and each line from there begins with the host's name. So all take each step
// of the exchange together, and then each agent connects by itself (certs.Join):
//
//	→ a line of script that says what machine it is
//	← calib-launch x1 uname Linux x86_64                      from every host
//	→ run.sh for that machine
//	← calib-launch x1 need       or have
//	→ copy, and the binary under gzip, where one needs it; or go
//	← calib-launch x1 ready
//	← calib-launch x1 join HASH                               from its agent
//	→ where to connect to
//
// A host that has failed is left out of the rest. What it still reads does no harm: its shell takes the script whole,
// which ends it.
type Step struct {
	p      *Process
	port   *certs.Listener
	left   []string          // hosts that have not failed
	keys   map[string]string // by host, what its agent shows when it connects
	failed map[string]error  // by host
	until  time.Time         // when every agent must have connected
}

const (
	firstAnswer = 2 * time.Minute // a scheduler may still be readying nodes
	// connectLimit is less than agents wait for the first word on their connections: they wait for each other.
	connectLimit = 10 * time.Second
	stepExit     = 5 * time.Second
)

// Slurm is the command of a step on n nodes of a job, which are given as a list that Slurm reads: one task a node,
// beside other steps, on any CPU of the node. The end of one task ends no other. It is not unbuffered: lines stay
// whole.
func Slurm(nodes string, n int) []string {
	return []string{"srun", "--nodelist=" + nodes, fmt.Sprintf("--nodes=%d", n), fmt.Sprintf("--ntasks=%d", n),
		"--ntasks-per-node=1", "--overlap", "--cpu-bind=none", "--mpi=none", "--kill-on-bad-exit=0",
		"--wait=0", "--no-kill", "--chdir=/", "sh"}
}

// What the shell of a task puts before its answers, and the rest of its agent's arguments.
const (
	slurmName = "${SLURMD_NODENAME:?is not set: this is no task of Slurm} "
	slurmJoin = `--name "$SLURMD_NODENAME" --join "${SLURM_LAUNCH_NODE_IPADDR:?is not set}"`
)

// Job is what a step is started with: the command, the names of the hosts on which it runs a shell, and the ports on
// which their agents reach this host.
type Job struct {
	Command []string
	Hosts   []string
	Ports   certs.Ports
}

// StartStep starts agents, each with args. It returns when every agent can connect or has failed. The caller ends the
// step with Close.
func StartStep(ctx context.Context, j Job, binaries []Binary, args []string) (*Step, error) {
	port, err := certs.Listen(j.Ports)
	if err != nil {
		return nil, err
	}
	p, err := start(stepExit, j.Command)
	if err != nil {
		return nil, errors.Join(err, port.Close())
	}
	s := &Step{p: p, port: port, left: slices.Clone(j.Hosts), keys: map[string]string{}, failed: map[string]error{}}
	stop := context.AfterFunc(ctx, p.end)
	err = s.exchange(binaries, args)
	if !stop() {
		err = context.Cause(ctx)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start agents by %s: %w", j.Command[0], err), s.Close())
	}
	p.setTimeout(0)
	go func() { _, _ = io.Copy(io.Discard, p.out) }() // until Close: a step that cannot write would stop
	return s, nil
}

func (s *Step) exchange(binaries []Binary, args []string) error {
	machines, err := s.ask(strings.ReplaceAll(unameScript, "@NAME@", slurmName)+"\n", firstAnswer, "uname")
	if err != nil {
		return err
	}
	binary, err := pickCommon(binaries, machines)
	if err != nil {
		return err
	}
	script, packed, err := fill(binary, slurmName, ":", args, slurmJoin)
	if err != nil {
		return err
	}
	has, err := s.ask(script, stepTimeout, "need", "have")
	if err != nil {
		return err
	}
	answer := "go\n"
	for _, words := range has {
		if words[0] == "need" {
			answer = "copy\n" + string(packed)
		}
	}
	keys, err := s.ask(answer, stepTimeout, "join")
	if err != nil {
		return err
	}
	for host, words := range keys {
		s.keys[host] = strings.Join(words[1:], " ")
		s.port.Expect(s.keys[host])
	}
	err = s.send(s.port.Invitation(), stepTimeout)
	s.until = time.Now().Add(connectLimit)
	return err
}

func pickCommon(binaries []Binary, machines map[string][]string) (b Binary, err error) {
	first := ""
	for host, words := range lists.ByKey(machines) {
		if len(words) != 3 {
			return b, oddAnswer("of "+host, words)
		}
		next, err := pick(binaries, words[1], words[2])
		if err != nil {
			return b, fmt.Errorf("%s: %w", host, err)
		}
		if first != "" && next.Hash != b.Hash {
			return b, fmt.Errorf("%w: %s and %s are of different kinds, and a step has one binary: start them one by one with "+
				"--launch 'srun --unbuffered --overlap -N1 -n1 -w {host}'", ErrArch, first, host)
		}
		first, b = host, next
	}
	return b, nil
}

func (s *Step) send(text string, limit time.Duration) error {
	err := s.p.send(text, limit)
	if err != nil {
		err = s.p.explain(ErrUnreachable, err)
	}
	return err
}

// ask sends text to every host, and returns the words of their answers, each of which begins with one of these. Hosts
// that fail, or do not answer within the limit, are left out from then on; it is an error where none is left.
func (s *Step) ask(text string, limit time.Duration, first ...string) (map[string][]string, error) {
	if err := s.send(text, limit); err != nil {
		return nil, err
	}
	s.p.setTimeout(limit)
	answers := map[string][]string{}
	for len(answers) < len(s.left) {
		line, err := s.p.out.ReadString('\n')
		if err != nil {
			err = fmt.Errorf("step %s: %w", first[0], s.p.explain(ErrUnreachable, err))
			for _, host := range slices.Clone(s.left) {
				if answers[host] == nil {
					s.leave(host, err)
				}
			}
			break
		}
		_, said, _ := strings.Cut(line, marker)
		words := strings.Fields(said)
		switch {
		case len(words) < 2 || !slices.Contains(s.left, words[0]):
		case words[1] == "fail":
			why := failure(strings.Join(words[2:], " "), "XDG_CACHE_HOME=/DIR in calib's environment")
			s.leave(words[0], fmt.Errorf("%w; the step said %s", why, s.p.quote()))
		case slices.Contains(first, words[1]):
			answers[words[0]] = words[1:]
		}
	}
	if len(s.left) == 0 {
		var all []error
		for _, err := range lists.ByKey(s.failed) {
			all = append(all, err)
		}
		return nil, errors.Join(all...)
	}
	return answers, nil
}

func (s *Step) leave(host string, err error) {
	s.failed[host] = fmt.Errorf("launch %s: %w", host, err)
	s.left = slices.DeleteFunc(s.left, func(h string) bool { return h == host })
}

func (s *Step) Connect(ctx context.Context, host string) (io.ReadWriteCloser, error) {
	if err := s.failed[host]; err != nil {
		return nil, err
	}
	ctx, cancel := context.WithDeadlineCause(ctx, s.until, ErrTimeout)
	defer cancel()
	c, err := s.port.Await(ctx, s.keys[host])
	if err != nil {
		return nil, fmt.Errorf("launch %s: step connect: its agent does not reach port %d of this host: %w: let a firewall "+
			"pass it, or start agents one by one with --launch 'srun --unbuffered --overlap -N1 -n1 -w {host}'; "+
			"the step said %s", host, s.port.Port(), err, s.p.quote())
	}
	return &member{Conn: c, step: s.p}, nil
}

type member struct {
	net.Conn
	step *Process
}

// Read says why the connection has ended, as far as the step's command knows it.
func (m *member) Read(b []byte) (int, error) {
	n, err := m.Conn.Read(b)
	if err != nil {
		err = fmt.Errorf("%w: %v; the step said %s", ErrDied, err, m.step.quote())
	}
	return n, err
}

// Close is safe to call twice. Its error would say that the other end closed first.
func (m *member) Close() error {
	_ = m.Conn.Close()
	return nil
}

// Close ends the step with what is left of its agents. It is safe to call twice.
func (s *Step) Close() error { return errors.Join(s.p.Close(), s.port.Close()) }
