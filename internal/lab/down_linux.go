package lab

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"
)

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

// Close takes the lab down.
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

// endAll ends processes at the same time.
func endAll(ps []Process) error {
	errs := make([]error, len(ps))
	var wg sync.WaitGroup
	for i, p := range ps {
		wg.Go(func() { errs[i] = p.end(wireEndTime, 0) })
	}
	wg.Wait()
	return errors.Join(errs...)
}
