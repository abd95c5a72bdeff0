package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"calib/internal/netspec"
)

// launchRoot runs a command on a host for whoever owns the namespaces.
const launchRoot = "ip netns exec {host}"

// A lab without root lives in a user namespace where this user is root, and in a mount namespace where /run is private.
// The wire keeps both. Commands reach the hosts from outside with nsenter, so that they run in the user's own
// environment until they ask for a host.
const launchRootless = "nsenter -t %d -U -m --preserve-credentials " + launchRoot

// buildTime bounds how long the wire may take to make its devices: some milliseconds a host.
const buildTime = 2 * time.Minute

type Lab struct {
	State
	dir string
	// life, if not nil, ends the lab's wire when it is closed, as it is when this process dies.
	life io.Closer
}

// Up builds a lab that stays until Down. It fails with ErrExists if there is one of that name, and where neither root
// nor user namespaces are to be had. What it had begun is then taken down again.
func Up(ctx context.Context, spec *netspec.Spec, o Options) (*Lab, error) {
	return up(ctx, spec, o, wireConfig{Rootless: !privileged()})
}

// up is Up; an attached lab does not outlive this process.
func up(ctx context.Context, spec *netspec.Spec, o Options, cfg wireConfig) (*Lab, error) {
	o = o.withDefaults()
	if err := checkName(o.Name); err != nil {
		return nil, err
	}
	if err := spec.Validate(); err != nil {
		return nil, fmt.Errorf("%w: lab spec: %w", ErrUse, err)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	unlock, err := lock(o.Dir)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := makeFree(o, spec.Hosts, cfg.Attached); err != nil {
		return nil, err
	}
	file := func(suffix string) string { return filepath.Join(o.Dir, o.Name+suffix) }
	l := &Lab{dir: o.Dir, State: State{
		Name: o.Name, Spec: *spec, Created: time.Now().UTC(), Launch: launchRoot,
		HostsPath: file(".hosts"), StatsPath: file(".sock"), LogPath: file(".log"),
	}}
	if err := l.save(o.Dir); err != nil {
		return nil, fmt.Errorf("save the lab's state: %w", err)
	}
	cfg.Spec, cfg.Options, cfg.Socket = *spec, o, l.StatsPath
	if err := l.startWire(ctx, cfg); err != nil {
		l.release()
		return nil, errors.Join(err, dismantle(o.Dir, &l.State))
	}
	return l, nil
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

// makeFree makes sure that neither a lab of that name exists nor a namespace that its hosts would need. A lab for one
// command takes the place of one whose wire is dead, as after a crash of the machine's session: nobody can use that.
func makeFree(o Options, hosts int, clear bool) error {
	st, err := Load(o.Dir, o.Name)
	if err == nil && !st.Up && clear {
		if err = dismantle(o.Dir, &st.State); err == nil {
			err = ErrNoLab
		}
	}
	switch {
	case err == nil && st.Up:
		return fmt.Errorf("%w: %s is up with %d hosts (wire: process %d): take it down with %s or choose another --name",
			ErrExists, o.Name, st.Spec.Hosts, st.Wire.PID, downCommand(o.Name))
	case err == nil:
		return fmt.Errorf("%w: %s: %s", ErrExists, o.Name, st.Problem)
	case !errors.Is(err, ErrNoLab):
		return err
	}
	if !privileged() {
		return nil // its names are its own
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

// startWire starts the wire in a session of its own, so that a Ctrl-C does not reach it, and waits until its devices
// are up. It gets to know what to build only after its number is in the state file, so that no wire can run that Down
// does not find.
func (l *Lab) startWire(ctx context.Context, cfg wireConfig) error {
	log, err := os.OpenFile(l.LogPath, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command("/proc/self/exe", "lab", "wire")
	cmd.Args[0], cmd.Dir, cmd.Stderr = "calib", "/", log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if cfg.Rootless {
		cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Geteuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getegid(), Size: 1}}
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, said, err := os.Pipe() // rather than StdoutPipe, which Wait would close under the reader
	if err != nil {
		return err
	}
	defer out.Close()
	cmd.Stdout = said
	err = cmd.Start()
	said.Close()
	switch {
	case err != nil && cfg.Rootless:
		return fmt.Errorf("%w: this user is not root, and making a user namespace failed: %w: run as root, or see the "+
			"sysctls user.max_user_namespaces, kernel.unprivileged_userns_clone and "+
			"kernel.apparmor_restrict_unprivileged_userns", ErrPermission, err)
	case err != nil:
		return fmt.Errorf("%w: start it: %w", ErrWire, err)
	}
	go func() { _ = cmd.Wait() }() // reaps it; how it ended is in its log
	l.life = in
	if cfg.Rootless {
		l.Launch, l.UserNamespace = fmt.Sprintf(launchRootless, cmd.Process.Pid), namespaceOf(cmd.Process.Pid, "user")
	}
	if l.Wire, err = processOf(cmd.Process.Pid); err == nil {
		err = l.save(l.dir)
	}
	if err != nil {
		return fmt.Errorf("save the lab's state: %w", err)
	}
	if err := os.WriteFile(l.HostsPath, []byte(HostsFile(l.Name, &l.Spec, l.Launch)), 0o644); err != nil {
		return err
	}
	if err := request(ctx, in, out, cfg); err != nil {
		return fmt.Errorf("start the wire: %w%s", err, logTail(l.LogPath))
	}
	if !cfg.Attached {
		l.release()
	}
	return nil
}

// request tells the wire what to build and waits for its reply: why it is not ready, or nothing.
func request(ctx context.Context, in io.Writer, out io.ReadCloser, cfg wireConfig) error {
	if err := json.NewEncoder(in).Encode(cfg); err != nil {
		return fmt.Errorf("send it what to build: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, buildTime)
	defer cancel()
	defer context.AfterFunc(ctx, func() { out.Close() })() // which ends reading
	var failed string
	switch err := json.NewDecoder(out).Decode(&failed); {
	case err != nil && ctx.Err() != nil:
		return fmt.Errorf("it is not ready: %w", context.Cause(ctx))
	case err != nil:
		return fmt.Errorf("%w: it ended without a reply: %w", ErrWire, err)
	case failed != "":
		return errors.New(failed)
	}
	return nil
}

func (l *Lab) release() {
	if l.life != nil {
		l.life.Close()
		l.life = nil
	}
}

const endTime = 2 * time.Second

// Down removes every trace of a lab, whether it is up, half-built or crashed: the wire, the devices, the processes that
// still run on its hosts, the namespaces and the files. dir "" is DefaultDir. It fails with ErrNoLab if there is none.
func Down(dir, name string) error {
	o := Options{Name: name, Dir: dir}.withDefaults()
	if _, err := load(o.Dir, o.Name); err != nil { // lock would make the directory
		return err
	}
	unlock, err := lock(o.Dir)
	if err != nil {
		return err
	}
	defer unlock()
	s, err := load(o.Dir, o.Name)
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
	left := processesOn(s.Hosts())
	if s.UserNamespace != 0 {
		// The network namespaces of a lab without root are named in its wire's mount namespace only, and end with the
		// processes in them. All of those are in its user namespace.
		left = processesIn("user", map[uint64]bool{s.UserNamespace: true})
		if !s.Wire.alive() { // then the number may be that of another's namespace by now
			left = slices.DeleteFunc(left, func(p Process) bool {
				return !isNamespace(fmt.Sprintf("/proc/%d/root%s/%s", p.PID, netnsDir, s.Hosts()[0]))
			})
		}
	}
	errs := []error{s.Wire.end(endTime, s.Spec.Hosts), endAll(left)}
	if s.UserNamespace == 0 {
		for _, name := range s.Hosts() {
			errs = append(errs, deleteNamespace(name))
		}
		removeIfEmpty(netnsDir)
	}
	for _, path := range []string{s.HostsPath, s.StatsPath, s.LogPath} {
		errs = append(errs, removeFile(path))
	}
	err := errors.Join(errs...)
	if err == nil {
		err = removeFile(statePath(dir, s.Name))
	}
	if err != nil {
		return fmt.Errorf("take down lab %s: %w", s.Name, err)
	}
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
		wg.Go(func() { errs[i] = p.end(endTime, 0) })
	}
	wg.Wait()
	return errors.Join(errs...)
}
