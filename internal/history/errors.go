package history

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// primary returns the primary result code of an error of SQLite, or 0.
func primary(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code() & 0xff
	}
	return 0
}

// wrap says what was attempted on which store, and what can be done about it.
func (s *Store) wrap(what string, err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	hint, class := classify(err)
	if class == nil {
		return fmt.Errorf("history %s: %s: %w", s.path, what, err)
	}
	return fmt.Errorf("history %s: %s: %w (%w); %s", s.path, what, class, cause{err}, hint)
}

// classify returns the class of an error of SQLite, and a hint what to do about it.
func classify(err error) (hint string, class error) {
	switch primary(err) {
	case sqlite3.SQLITE_NOTADB:
		return "give another file as --store", ErrNotStore
	case sqlite3.SQLITE_CORRUPT:
		return "move it away and add the runs again, or let sqlite3's .recover save what can be read", ErrDamaged
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM:
		return "give a --store in a directory that this user may write to", ErrReadOnly
	case sqlite3.SQLITE_CANTOPEN:
		return "is its directory there, and may this user write to it?", ErrReadOnly
	case sqlite3.SQLITE_FULL:
		return "nothing was changed; free some space and do it again", ErrFull
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return "nothing was changed; do it again when that has ended", ErrBusy
	}
	return "", nil
}

// cause is an error of SQLite without the library's repetition of itself.
type cause struct{ err error }

func (c cause) Unwrap() error { return c.err }

func (c cause) Error() string {
	text := c.err.Error()
	if primary(c.err) == 0 {
		return text
	}
	var e *sqlite.Error
	if errors.As(c.err, &e) {
		text = e.Error()
	}
	if i := strings.LastIndex(text, ": "); i >= 0 {
		text = text[i+2:]
	}
	return text
}
