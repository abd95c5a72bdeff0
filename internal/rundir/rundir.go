// Package rundir keeps one run on disk: a directory with a fixed set of files, of which run.json says what the run was
// and how far it came.
//
// Its opinion: a run directory is valid at every moment. A file is replaced whole (written beside, synced, renamed) or
// only appended to; one coordinator holds the directory, and a second is told which process that is. A directory that
// holds anything is never written into by mistake, nor is one that other users may change.
package rundir

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"calib/internal/dataset"
	"calib/internal/files"
	"calib/params"
)

const (
	RunFile     = "run.json"
	SamplesFile = "samples.jsonl"
	ParamsFile  = "params.json"
	PointsFile  = params.PointsFile
	ReportFile  = "report.txt"
	HTMLFile    = "report.html"
	LogFile     = "log.jsonl"
)

var ErrExists = errors.New("exists and is not empty")

// DefaultName is the name of a run directory made at a moment, in that moment's time zone.
func DefaultName(now time.Time) string { return "calib-run-" + now.Format("20060102-150405") }

// Dir is a run directory, for one goroutine.
type Dir struct {
	path string
	made bool     // by Create: there was nothing at path
	lock *os.File // nil where the directory is open for reading
	run  Run
}

// Create makes a run directory at path, which must not exist or be empty, locks it and writes run.json with status
// running. Parents are made too.
func Create(path string, r Run) (*Dir, error) {
	_, err := os.Lstat(path)
	d := &Dir{path: path, made: errors.Is(err, fs.ErrNotExist)}
	if err := d.create(r); err != nil {
		return nil, errors.Join(createError(path, err), d.Close())
	}
	return d, nil
}

func (d *Dir) create(r Run) (err error) {
	if err = os.MkdirAll(d.path, 0o755); err == nil {
		err = ownDir(d.path)
	}
	if err == nil {
		err = empty(d.path) // before the lock, so that a directory which is something else is not touched
	}
	if err == nil || errors.Is(err, errHoldsRun) { // the error of a locked run says more
		if d.lock, err = acquire(d.path); err == nil {
			err = empty(d.path)
		}
	}
	if err != nil {
		return err
	}
	r.Status = StatusRunning
	return d.Update(func(run *Run) { *run = r })
}

// errHoldsRun is ErrExists where what exists is a run.
var errHoldsRun = fmt.Errorf("holds a run already: %w; --resume continues it, another --out starts a new one",
	ErrExists)

// empty returns ErrExists if path holds anything but a lock.
func empty(path string) error {
	entries, err := os.ReadDir(path)
	if err != nil {
		return files.Reason(err)
	}
	if _, err := os.Stat(filepath.Join(path, RunFile)); err == nil {
		return errHoldsRun
	}
	for _, e := range entries {
		if e.Name() != lockFile {
			return fmt.Errorf("%w (there is %s in it); choose another --out", ErrExists, e.Name())
		}
	}
	return nil
}

// createError says what to do about a directory that cannot be made or written.
func createError(path string, err error) error {
	hint := "; choose another --out"
	switch {
	case errors.Is(err, ErrExists), errors.Is(err, ErrLocked), errors.Is(err, ErrForeign):
		hint = ""
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		hint = "; it is not writable for this user, choose another --out"
	case errors.Is(err, syscall.ENOTDIR), errors.Is(err, fs.ErrExist):
		hint = "; a file is in the way, choose another --out"
	case errors.Is(err, syscall.ENOSPC):
		hint = "; the disk is full, free some space or choose another --out"
	}
	return fmt.Errorf("run directory %s: %w%s", path, files.Reason(err), hint)
}

// Open opens an existing run directory for reading and for replacing its params and reports. path may also be a file in
// it.
func Open(path string) (*Dir, error) {
	path, err := Find(path)
	if err != nil {
		return nil, err
	}
	b, err := files.Read(filepath.Join(path, RunFile), 256<<20) // that of 1,000 hosts has about 10 MB
	if err != nil {
		return nil, err
	}
	r, err := decodeRun(path, b)
	if err != nil {
		return nil, err
	}
	return &Dir{path: path, run: r}, nil
}

// Resume opens an existing run directory to go on measuring: it takes the lock. It refuses, with ErrChanged, samples
// that are not those that were measured. run.json stays as it is until GoOn.
func Resume(path string) (*Dir, error) {
	d, err := Edit(path)
	if err != nil {
		return nil, err
	}
	if err = d.resumable(); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// GoOn sets the status to running, and seals what samples.jsonl begins with.
func (d *Dir) GoOn() error {
	err := d.Update(func(r *Run) { r.Status, r.ExitCode, r.Ended, r.Resumed = StatusRunning, nil, nil, true })
	return cmp.Or(err, d.Seal())
}

// Edit opens an existing run directory to change its run.json: it takes the lock.
func Edit(path string) (*Dir, error) {
	path, err := Find(path)
	if err != nil {
		return nil, err
	}
	if err := ownDir(path); err != nil {
		return nil, createError(path, err)
	}
	l, err := acquire(path)
	if err != nil {
		return nil, createError(path, err)
	}
	d, err := Open(path) // after the lock, to read what another coordinator wrote last
	if err != nil {
		return nil, errors.Join(err, release(l))
	}
	d.lock = l
	return d, nil
}

// Find returns the run directory that arg names: the directory itself, or the one that holds the file arg.
func Find(arg string) (string, error) {
	info, err := os.Stat(arg)
	if err != nil {
		return "", fmt.Errorf("run %s: %w; give the directory that calib run printed", arg, files.Reason(err))
	}
	dir := arg
	if !info.IsDir() {
		dir = filepath.Dir(arg)
	}
	if _, err := os.Stat(filepath.Join(dir, RunFile)); err != nil {
		return "", fmt.Errorf("run %s: %w: no %s in it (%w)", dir, ErrNotRun, RunFile, files.Reason(err))
	}
	return dir, nil
}

func (d *Dir) Path() string { return d.path }

func (d *Dir) File(name string) string { return filepath.Join(d.path, name) }

func (d *Dir) Run() Run { return d.run }

// Update changes run.json. It is written whole or not at all. change must replace slices, not write into them.
func (d *Dir) Update(change func(*Run)) error {
	if d.lock == nil {
		return fmt.Errorf("run %s: opened for reading", d.path)
	}
	r := d.run
	change(&r)
	r.Schema, r.Coordinator = Schema, self()
	if r.Hosts == nil {
		r.Hosts = []dataset.Host{}
	}
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("run %s: %s: %w", d.path, RunFile, err)
	}
	if err := files.Replace(d.File(RunFile), append(b, '\n')); err != nil {
		return err
	}
	d.run = r
	return nil
}

func (d *Dir) Samples() (dataset.Source, error) {
	s, err := dataset.Open(d.File(SamplesFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = fmt.Errorf("run %s: nothing was measured: %w", d.path, err)
	case err == nil && s.Head().Run != d.run.ID:
		err = fmt.Errorf("run %s: %s is of another run, %s: put back its own", d.path, SamplesFile, s.Head().Run)
	}
	return s, err
}

// WriteParams replaces params.json and, before it, points.json. Processes take turns at it, so that both are of one of
// them, where the file system has locks.
func (d *Dir) WriteParams(p *params.Params) error {
	turn, _ := files.Lock(d.path, syscall.LOCK_EX, func() (*os.File, error) { return os.Open(d.path) })
	defer turn.Close() // of none is an error, which says nothing
	points := func(w io.Writer) error { return params.EncodePoints(w, p) }
	if err := files.ReplaceBy(d.File(PointsFile), points); err != nil {
		return err
	}
	return files.ReplaceBy(d.File(ParamsFile), func(w io.Writer) error { return params.EncodeShort(w, p) })
}

func (d *Dir) ReadParams() (*params.Params, error) {
	p, err := params.Load(d.File(ParamsFile))
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("run %s: no %s yet; calib fit %s makes it: %w", d.path, ParamsFile, d.path, err)
	}
	return p, err
}

// Close unlocks the directory for another coordinator.
func (d *Dir) Close() error {
	if d.lock == nil {
		return nil
	}
	l := d.lock
	d.lock = nil
	return release(l)
}

// Discard removes a directory in which no run has begun: run.json, the log and the lock, and the directory itself where
// Create made it. What else is in it stays.
func (d *Dir) Discard() error {
	var errs []error
	for _, name := range []string{LogFile, RunFile} {
		if err := os.Remove(d.File(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	errs = append(errs, d.Close())
	if d.made {
		_ = os.Remove(d.path) // what somebody else has put there meanwhile stays
	}
	return errors.Join(errs...)
}

// Clear empties a run directory, where there is one, for Create. It refuses one that another coordinator writes.
func Clear(path string) error {
	d := &Dir{path: path}
	err := files.Alone(path, 0o002)
	if err == nil {
		d.lock, err = acquire(path)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return createError(path, err)
	}
	entries, err := os.ReadDir(path)
	for _, e := range entries {
		if e.Name() != lockFile { // which keeps others away
			err = cmp.Or(err, os.RemoveAll(d.File(e.Name())))
		}
	}
	return errors.Join(err, d.Close())
}

// OpenLog opens log.jsonl to append: one JSON object on each line, of level debug and above. The caller closes it.
func (d *Dir) OpenLog() (log *slog.Logger, closeLog func() error, err error) {
	f, err := openOwn(d.File(LogFile), os.O_CREATE|os.O_WRONLY|os.O_APPEND)
	if err != nil {
		return nil, nil, createError(d.path, err)
	}
	return slog.New(slog.NewJSONHandler(f, &slog.HandlerOptions{Level: slog.LevelDebug})), f.Close, nil
}
