package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"calib/internal/netspec"
)

// launchRoot runs a command on a host for whoever owns the namespaces.
const launchRoot = "ip netns exec {host}"

// buildTime bounds how long the wire may take to make its devices: some milliseconds a host.
const buildTime = 2 * time.Minute

type Lab struct {
	State
	dir string
	// life, if not nil, ends the lab's processes when it is closed, as it is when this process dies.
	life io.Closer
}

// Up builds a lab that stays until Down. It fails with ErrExists if there is one of that name, and with ErrPermission
// where neither root nor user namespaces are to be had; what it had begun is taken down again.
func Up(ctx context.Context, spec *netspec.Spec, o Options) (*Lab, error) {
	return up(ctx, spec, o, false)
}

// up is Up; an attached lab does not outlive this process.
func up(ctx context.Context, spec *netspec.Spec, o Options, attached bool) (*Lab, error) {
	o = o.withDefaults()
	if err := checkName(o.Name); err != nil {
		return nil, err
	}
	if err := spec.Validate(); err != nil {
		return nil, fmt.Errorf("%w: lab spec: %w", ErrUse, err)
	}
	if mtu := MTU(spec); mtu > 65535 {
		return nil, fmt.Errorf("%w: lab spec: mss: %d makes an MTU of %d, the limit is 65535", ErrUse, spec.MSS, mtu)
	}
	if !privileged() {
		return upRootless(ctx, spec, o, attached)
	}
	return build(ctx, spec, o, launchRoot, Process{}, attached)
}

// privileged reports whether this thread may make network namespaces and mount their names.
func privileged() bool {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err != nil {
		return false
	}
	need := uint32(1<<unix.CAP_SYS_ADMIN | 1<<unix.CAP_NET_ADMIN)
	return data[0].Effective&need == need
}

func build(ctx context.Context, spec *netspec.Spec, o Options, launch string, holder Process, attached bool) (*Lab, error) {
	if attached {
		if err := clearDead(o); err != nil {
			return nil, err
		}
	}
	unlock, err := lock(o.Dir)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := checkFree(o, spec.Hosts); err != nil {
		return nil, err
	}
	file := func(suffix string) string { return filepath.Join(o.Dir, o.Name+suffix) }
	l := &Lab{dir: o.Dir, State: State{
		Name: o.Name, Spec: *spec, Created: time.Now().UTC(), Launch: launch, Holder: holder,
		HostsPath: file(".hosts"), StatsPath: file(".sock"), LogPath: file(".log"),
	}}
	if holder.PID != 0 {
		l.UserNamespace = namespaceOf(holder.PID, "user")
	}
	if err := l.save(o.Dir); err != nil {
		return nil, fmt.Errorf("save the lab's state: %w", err)
	}
	if err := l.assemble(ctx, o, attached); err != nil {
		l.release()
		return nil, errors.Join(err, dismantle(o.Dir, &l.State))
	}
	return l, nil
}

// clearDead removes what is left of a lab of that name whose wire and holder are dead, as after a crash of the
// machine's session. A lab for one command may do so: nobody can use such remains.
func clearDead(o Options) error {
	unlock, err := lock(o.Dir)
	if err != nil {
		return err
	}
	defer unlock() // of a directory that may be gone with the lab
	st, err := Load(o.Dir, o.Name)
	if errors.Is(err, ErrNoLab) || err == nil && (st.Up || st.Holder.alive()) {
		return nil
	}
	if err != nil {
		return err
	}
	return dismantle(o.Dir, &st.State)
}

// checkFree makes sure that neither a lab of that name exists nor a namespace that its hosts would need.
func checkFree(o Options, hosts int) error {
	switch st, err := Load(o.Dir, o.Name); {
	case err == nil && st.Up:
		return fmt.Errorf("%w: %s is up with %d hosts (wire: process %d): take it down with %s or choose another --name",
			ErrExists, o.Name, st.Spec.Hosts, st.Wire.PID, downCommand(o.Name))
	case err == nil:
		return fmt.Errorf("%w: %s: %s", ErrExists, o.Name, st.Problem)
	case !errors.Is(err, ErrNoLab):
		return err
	}
	for i := range hosts {
		name := HostName(o.Name, i)
		if _, err := os.Lstat(filepath.Join(netnsDir, name)); err == nil {
			return fmt.Errorf("%w: namespace %s belongs to no lab: delete it with `ip netns delete %s` or choose another --name",
				ErrExists, name, name)
		}
	}
	return nil
}

func (l *Lab) assemble(ctx context.Context, o Options, attached bool) error {
	if err := os.WriteFile(l.HostsPath, []byte(HostsFile(l.Name, &l.Spec, l.Launch)), 0o644); err != nil {
		return err
	}
	for _, name := range l.Hosts() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := createNamespace(name); err != nil {
			return err
		}
	}
	return l.startWire(ctx, o, attached)
}

// startWire starts the wire as a process of its own session and waits until its devices are up. It gets to know what to
// build only after its number is in the state file, so that no wire can run that Down does not find.
func (l *Lab) startWire(ctx context.Context, o Options, attached bool) error {
	log, err := os.OpenFile(l.LogPath, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := selfCommand("lab", "wire")
	cmd.Stderr = log
	c, err := startChild(cmd)
	if err != nil {
		return fmt.Errorf("%w: start it: %w", ErrWire, err)
	}
	l.life = c.in
	if l.Wire, err = processOf(cmd.Process.Pid); err == nil {
		err = l.save(l.dir)
	}
	if err != nil {
		return fmt.Errorf("save the lab's state: %w", err)
	}
	cfg := childConfig{Spec: l.Spec, Options: o, Attached: attached, Socket: l.StatsPath}
	if _, err := c.request(ctx, cfg); err != nil {
		return fmt.Errorf("start the wire: %w%s", err, logTail(l.LogPath))
	}
	if !attached {
		l.release()
	}
	return nil
}

func (l *Lab) release() {
	if l.life != nil {
		l.life.Close()
		l.life = nil
	}
}

// How long a process is given to end by itself.
const (
	wireEndTime   = 2 * time.Second
	holderEndTime = 15 * time.Second
)

// Down removes every trace of a lab, whether it is up, half-built or crashed: the wire, the devices, the processes that
// still run on its hosts, the namespaces and the files. dir "" is DefaultDir. It fails with ErrNoLab if there is none.
func Down(dir, name string) error {
	o := Options{Name: name, Dir: dir}.withDefaults()
	// A lab without root is taken down by its holder, which needs the lock itself.
	s, err := load(o.Dir, o.Name)
	if err != nil {
		return err
	}
	if err := s.Holder.end(holderEndTime, s.Spec.Hosts); err != nil {
		return fmt.Errorf("lab %s: holder: %w", o.Name, err)
	}
	unlock, err := lock(o.Dir)
	if err != nil {
		return err
	}
	defer unlock()
	if s, err = load(o.Dir, o.Name); errors.Is(err, ErrNoLab) {
		removeIfEmpty(o.Dir)
		return nil // the holder was thorough
	}
	if err != nil {
		return err
	}
	return dismantle(o.Dir, s)
}

func (l *Lab) Close() error {
	err := Down(l.dir, l.Name)
	l.release()
	if errors.Is(err, ErrNoLab) {
		return nil
	}
	return err
}

// dismantle removes what s lists. It goes on after an error, keeps the state file if there was one, and reports all.
func dismantle(dir string, s *State) error {
	errs := []error{s.Wire.end(wireEndTime, s.Spec.Hosts)}
	if s.Holder.PID != 0 && s.Holder.PID != os.Getpid() {
		// The network namespaces of a lab without root are named in its holder's mount namespace only, and end with the
		// processes in them. All of those are in its user namespace.
		errs = append(errs, endAll(processesIn("user", map[uint64]bool{s.UserNamespace: s.UserNamespace != 0})))
	} else {
		errs = append(errs, endAll(processesOn(s.Hosts())))
		for _, name := range s.Hosts() {
			errs = append(errs, deleteNamespace(name))
		}
		removeIfEmpty(netnsDir)
	}
	for _, path := range []string{s.HostsPath, s.StatsPath, s.LogPath} {
		errs = append(errs, removeFile(path))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("take down lab %s: %w", s.Name, err)
	}
	if err := removeFile(statePath(dir, s.Name)); err != nil {
		return fmt.Errorf("take down lab %s: %w", s.Name, err)
	}
	removeIfEmpty(dir)
	return nil
}

func removeFile(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// removeIfEmpty removes a directory that other labs or tools may still need; then the system refuses, as it should.
func removeIfEmpty(dir string) { _ = os.Remove(dir) }

func endAll(ps []Process) error {
	errs := make([]error, len(ps))
	var wg sync.WaitGroup
	for i, p := range ps {
		wg.Go(func() { errs[i] = p.end(wireEndTime, 0) })
	}
	wg.Wait()
	return errors.Join(errs...)
}
