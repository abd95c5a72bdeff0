package lab

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"calib/internal/files"
)

// DefaultDir is where labs keep their files: /run/calib-lab for root, and a directory of the user's own elsewhere.
func DefaultDir() string {
	if os.Geteuid() == 0 {
		return "/run/calib-lab"
	}
	return filepath.Join(os.TempDir(), fmt.Sprintf("calib-lab-%d", os.Geteuid()))
}

// lock makes this process the only one that changes labs in dir, until the function it returns is called. The lock is
// on the directory itself, and the last lab's owner removes that, so that no file is left behind.
func lock(dir string) (func(), error) {
	f, err := files.Lock(dir, unix.LOCK_EX, func() (*os.File, error) {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
		if err := files.Alone(dir, 0o022); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrPermission, err)
		}
		return os.Open(dir)
	})
	if err != nil {
		f.Close() // also of none
		return nil, fmt.Errorf("lock %s: %w", dir, err)
	}
	return func() {
		removeIfEmpty(dir)
		f.Close()
	}, nil
}

func statePath(dir, name string) string { return filepath.Join(dir, name+".json") }

func (s *State) save(dir string) error {
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return files.Replace(statePath(dir, s.Name), append(text, '\n'))
}

func load(dir, name string) (*State, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	path := statePath(dir, name)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %q (calib lab list shows those there are)", ErrNoLab, name)
	}
	if err != nil {
		return nil, err
	}
	var s State
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if s.Name != name || s.Spec.Validate() != nil {
		return nil, fmt.Errorf("%s: not the state of lab %q: remove the file", path, name)
	}
	return &s, nil
}

// Load returns the lab of that name as it is now. dir "" is DefaultDir. Its errors wrap ErrNoLab.
func Load(dir, name string) (Status, error) {
	o := Options{Name: name, Dir: dir}.withDefaults()
	s, err := load(o.Dir, o.Name)
	if err != nil {
		return Status{}, err
	}
	st := Status{State: *s, Up: s.Wire.alive()}
	switch {
	case st.Up:
	case s.Wire.PID == 0:
		st.Problem = "half-built: take it down with " + downCommand(s.Name)
	default:
		st.Problem = fmt.Sprintf("its wire (process %d, log %s) died and its devices with it: take it down with %s",
			s.Wire.PID, s.LogPath, downCommand(s.Name))
	}
	return st, nil
}

func downCommand(name string) string { return "`calib lab down --name " + name + "`" }

// List returns the labs there are, by name. dir "" is DefaultDir.
func List(dir string) ([]Status, error) {
	o := Options{Dir: dir}.withDefaults()
	entries, err := os.ReadDir(o.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	labs := []Status{}
	for _, e := range entries {
		if name, isState := strings.CutSuffix(e.Name(), ".json"); isState {
			st, err := Load(o.Dir, name)
			if err != nil {
				st = Status{State: State{Name: name}, Problem: err.Error()}
			}
			labs = append(labs, st)
		}
	}
	slices.SortFunc(labs, func(a, b Status) int { return strings.Compare(a.Name, b.Name) })
	return labs, nil
}
