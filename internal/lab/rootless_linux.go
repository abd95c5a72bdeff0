package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"calib/internal/netspec"

	"golang.org/x/sys/unix"
)

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
	if err := c.request(ctx, childConfig{Spec: *spec, Options: o, Attached: attached}, &l.State); err != nil {
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
		return errors.Join(err, respond(out, nil, err))
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
