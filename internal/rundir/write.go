package rundir

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
)

// writeFile replaces a file whole: readers, and a crash at any moment, see the old content or the new.
func writeFile(path string, b []byte) error {
	dir, name := filepath.Split(path)
	f, err := os.CreateTemp(dir, "."+name+".*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, reason(err))
	}
	_, err = f.Write(b)
	if err == nil {
		err = f.Chmod(0o644)
	}
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
		return fmt.Errorf("write %s: %w", path, reason(err))
	}
	return syncDir(dir)
}

// syncDir makes a rename durable.
func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sync %s: %w", dir, reason(err))
	}
	defer f.Close()
	if err := f.Sync(); err != nil {
		return fmt.Errorf("sync %s: %w", dir, reason(err))
	}
	return nil
}

// Log is the log of a run.
type Log struct {
	*slog.Logger
	f *os.File
}

// OpenLog opens log.jsonl to append: one JSON object on each line, of level debug and above.
func (d *Dir) OpenLog() (*Log, error) {
	f, err := os.OpenFile(d.File(LogFile), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	return &Log{slog.New(slog.NewJSONHandler(f, &slog.HandlerOptions{Level: slog.LevelDebug})), f}, nil
}

// Close ends the log.
func (l *Log) Close() error { return l.f.Close() }
