package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"

	"calib/internal/netspec"
)

// selfCommand runs a hidden verb of this same program, in a session of its own, so that a Ctrl-C does not reach it.
func selfCommand(args ...string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe", args...)
	cmd.Args[0] = "calib"
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd
}

// childConfig is what the processes of a lab, its wire and its holder, read from their standard input.
type childConfig struct {
	Spec    netspec.Spec `json:"spec"`
	Options Options      `json:"options"`
	// Attached: end when standard input does.
	Attached bool   `json:"attached"`
	Socket   string `json:"socket"`
}

type child struct {
	in  io.WriteCloser
	out *os.File
}

func startChild(cmd *exec.Cmd) (*child, error) {
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	// An os.Pipe rather than StdoutPipe, which Wait would close under the reader.
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.Stdout = w
	err = cmd.Start()
	w.Close()
	if err != nil {
		r.Close()
		return nil, err
	}
	go func() { _ = cmd.Wait() }() // reaps it; how it ended is in its log
	return &child{in: in, out: r}, nil
}

// reply is a child's reply: what it made, or why it could not.
type reply struct {
	Error string `json:"error,omitempty"`
	Class int    `json:"class,omitempty"` // of the error, in classes
	State State  `json:"state,omitzero"`  // of the holder's lab
}

// classes are those of a child's errors; the first is that of any other.
var classes = []error{ErrWire, ErrPermission, ErrExists}

// relayed is an error of another process, with the text it had there.
type relayed struct {
	text  string
	class error
}

func (r relayed) Error() string { return r.text }
func (r relayed) Unwrap() error { return r.class }

// request tells the child what to build and waits for its reply.
func (c *child) request(ctx context.Context, cfg childConfig) (State, error) {
	defer c.out.Close()
	if err := json.NewEncoder(c.in).Encode(cfg); err != nil {
		return State{}, fmt.Errorf("send it what to build: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, buildTime)
	defer cancel()
	defer context.AfterFunc(ctx, func() { c.out.Close() })() // which ends reading
	var r reply
	switch err := json.NewDecoder(c.out).Decode(&r); {
	case err != nil && ctx.Err() != nil:
		return r.State, fmt.Errorf("it is not ready: %w", context.Cause(ctx))
	case err != nil:
		return r.State, fmt.Errorf("%w: it ended without a reply: %w", ErrWire, err)
	case r.Error != "":
		return r.State, relayed{r.Error, classes[r.Class]}
	}
	return r.State, nil
}

// untilStopped returns a context that ends with SIGTERM. Ctrl-C and the end of a terminal do nothing from then on.
func untilStopped() (context.Context, context.CancelFunc) {
	signal.Ignore(unix.SIGINT, unix.SIGHUP)
	return signal.NotifyContext(context.Background(), unix.SIGTERM)
}

// whenEnds calls stop when in ends: the process at its other end has closed it, or died.
func whenEnds(in io.Reader, stop func()) {
	_, _ = io.Copy(io.Discard, in)
	stop()
}

func respond(out io.Writer, s State, err error) error {
	r := reply{State: s}
	if err != nil {
		r.Error = err.Error()
		for i, class := range classes {
			if errors.Is(err, class) {
				r.Class = i
			}
		}
	}
	return json.NewEncoder(out).Encode(r)
}

// A lab without root lives in a user namespace where this user is root, and in a mount namespace where /run is private.
// A process, the holder, keeps both, builds the lab in them exactly as root does outside, and takes it down at the end.
// Commands reach the hosts from outside with nsenter, so that they run in the user's own environment until they ask for
// a host.
const launchRootless = "nsenter -t %d -U -m --preserve-credentials " + launchRoot

func upRootless(ctx context.Context, spec *netspec.Spec, o Options, attached bool) (*Lab, error) {
	if err := makeDir(o.Dir); err != nil {
		return nil, err
	}
	defer removeIfEmpty(o.Dir)
	cmd := selfCommand("lab", "hold")
	cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS
	cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Geteuid(), Size: 1}}
	cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getegid(), Size: 1}}
	c, err := startChild(cmd)
	if err != nil {
		return nil, fmt.Errorf("%w: this user is not root, and making a user namespace failed: %w: run as root, or see the "+
			"sysctls user.max_user_namespaces, kernel.unprivileged_userns_clone and kernel.apparmor_restrict_unprivileged_userns",
			ErrPermission, err)
	}
	l := &Lab{dir: o.Dir, life: c.in}
	holder, _ := processOf(cmd.Process.Pid) // none if it is gone already
	if l.State, err = c.request(ctx, childConfig{Spec: *spec, Options: o, Attached: attached}); err != nil {
		l.release()
		// An interrupted build may have left a holder at work, which reads its input only when it has finished.
		return nil, errors.Join(fmt.Errorf("build the lab in a user namespace: %w", err),
			holder.end(holderEndTime, spec.Hosts))
	}
	if !attached {
		l.release()
	}
	return l, nil
}

// RunHolder is the holder's process. It reads what to build from in, answers on out with the lab's State, and takes the
// lab down when it gets SIGTERM or, if the lab is attached, when in ends.
func RunHolder(in io.Reader, out io.Writer) error {
	ctx, cancel := untilStopped()
	defer cancel()
	var cfg childConfig
	if err := json.NewDecoder(in).Decode(&cfg); err != nil {
		return fmt.Errorf("read the holder's configuration: %w", err)
	}
	l, err := hold(ctx, cfg)
	if err != nil {
		return errors.Join(err, respond(out, State{}, err))
	}
	if err := respond(out, l.State, nil); err != nil {
		cancel()
	}
	if cfg.Attached {
		go whenEnds(in, cancel)
	}
	<-ctx.Done()
	unlock, err := lock(l.dir)
	if err != nil {
		return err
	}
	defer unlock()
	return dismantle(l.dir, &l.State)
}

func hold(ctx context.Context, cfg childConfig) (*Lab, error) {
	if err := privateRun(); err != nil {
		return nil, fmt.Errorf("%w: %w: this system allows user namespaces but nothing in them (on Ubuntu, the sysctl "+
			"kernel.apparmor_restrict_unprivileged_userns): run as root", ErrPermission, err)
	}
	self, err := processOf(os.Getpid())
	if err != nil {
		return nil, err
	}
	// The wire ends with the holder, however the holder ends.
	return build(ctx, &cfg.Spec, cfg.Options, fmt.Sprintf(launchRootless, self.PID), self, true)
}

// privateRun gives this mount namespace a /run of its own, where namespaces can be named.
func privateRun() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	if err := unix.Mount("tmpfs", "/run", "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=0755"); err != nil {
		return fmt.Errorf("mount a private /run: %w", err)
	}
	return nil
}
