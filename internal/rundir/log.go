package rundir

import (
	"log/slog"
	"os"
)

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
