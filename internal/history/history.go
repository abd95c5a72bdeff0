// Package history keeps finished runs in one file, so that a network can be followed over time.
//
// Its opinion: the store is one SQLite file that any number of processes may use at once. A run is added whole or not
// at all, also when the power fails. It is stored with its params.json, so that no comparison needs the run directory
// again; its numbers are stored a second time, a row each in the table readings, so that one metric of all runs is read
// at once. A run is found by its ID and never changes: to add it again does nothing, to add another run of the same ID
// is an error. Everything done to a store is in its log, to which entries are only appended.
package history

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"calib/internal/exit"
	"calib/params"
)

// Errors that a caller may want to tell apart. Wrong use is what the user can correct on the command line.
var (
	ErrNotStore  = exit.Usagef("not a calib history")
	ErrNewer     = exit.Usagef("made by another calib")
	ErrDamaged   = errors.New("the history is damaged")
	ErrReadOnly  = errors.New("the history cannot be written here")
	ErrFull      = errors.New("no space left for the history")
	ErrBusy      = errors.New("another process holds the history")
	ErrNotFound  = exit.Usagef("not in the history")
	ErrAmbiguous = exit.Usagef("more than one run in the history")
	ErrConflict  = exit.Usagef("stored already with other parameters")
	ErrInUse     = exit.Usagef("used by a baseline")
	ErrInvalid   = exit.Usagef("cannot be stored")
)

type Entry struct {
	ID      string    `json:"id"`
	Started time.Time `json:"started"` // UTC
	Added   time.Time `json:"added"`   // to the store, UTC
	Plan    string    `json:"plan"`
	Hosts   int       `json:"hosts"`
	Status  string    `json:"status"` // of its run.json; "" where there was none
	Label   string    `json:"label,omitempty"`
	Commit  string    `json:"commit,omitempty"` // revision of what was tested
	Path    string    `json:"path,omitempty"`   // where it was when it was added
}

// Record is a whole run. Of one to be stored, ID, Plan and Hosts may be empty: they are then taken from Params.
type Record struct {
	Entry
	Params *params.Params
	Measured
}

type Measured struct {
	Detail json.RawMessage // of its run.json: the plan in full; nil where it is not known
	Took   time.Duration   // from its start to its end
}

// Filter selects runs; the zero value is all of them, oldest first.
type Filter struct {
	Last  int // the newest so many
	Since time.Time
	Label string
	Plan  string
}

// Store is an open history file. Its methods may be called from any goroutine.
type Store struct {
	db   *sql.DB
	Path string // of its file
	now  func() time.Time
}

func (s *Store) Close() error { return s.db.Close() }

// nanos is a time in the form in which it is stored.
func nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0 // before all that is stored
	}
	return t.UnixNano()
}

// moment reads such a time from a column.
type moment struct{ to *time.Time }

func (m moment) Scan(column any) error {
	ns, ok := column.(int64)
	if !ok {
		return fmt.Errorf("%w: %v is no time", ErrDamaged, column)
	}
	*m.to = time.Unix(0, ns).UTC()
	return nil
}

// collect reads all rows of a query; columns says where the columns of a row go.
func collect[T any](ctx context.Context, s *Store, what string, columns func(*T) []any, query string,
	args ...any) ([]T, error) {
	out := []T{}
	err := each(ctx, s, what, columns, func(v T) error {
		out = append(out, v)
		return nil
	}, query, args...)
	return out, err
}

// each calls f with the rows of a query, one after the other.
func each[T any](ctx context.Context, s *Store, what string, columns func(*T) []any, f func(T) error, query string,
	args ...any) error {
	rows, err := s.db.QueryContext(ctx, query, args...)
	if err != nil {
		return s.wrap(what, err)
	}
	defer rows.Close()
	for rows.Next() {
		var v T
		if err := rows.Scan(columns(&v)...); err != nil {
			return s.wrap(what, err)
		}
		if err := f(v); err != nil {
			return err
		}
	}
	return s.wrap(what, rows.Err())
}

// transaction is all or nothing. After an error it does nothing more: SQLite may have taken all back, and what follows
// would then stay by itself.
type transaction struct {
	*sql.Tx
	ctx context.Context
	now func() time.Time
	err error // the first
}

// change makes a transaction of what f does. An error of f, or of the transaction, takes all of it back.
func (s *Store) change(ctx context.Context, what string, f func(*transaction) error) error {
	begun, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return s.wrap(what, err)
	}
	defer begun.Rollback() // of what was not committed
	tx := &transaction{begun, ctx, s.now, nil}
	err = f(tx)
	if err = cmp.Or(err, tx.err); err == nil {
		err = tx.Commit()
	} else if ctx.Err() != nil { // the library's own error is then "statement is closed", or the like
		err = ctx.Err()
	}
	return s.wrap(what, err)
}

func (tx *transaction) exec(query string, args ...any) {
	if tx.err == nil {
		_, tx.err = tx.ExecContext(tx.ctx, query, args...)
	}
}

// row reads the columns of one row. That there is none, sql.ErrNoRows, is no error of the transaction.
func (tx *transaction) row(columns []any, query string, args ...any) error {
	if tx.err != nil {
		return tx.err
	}
	err := tx.QueryRowContext(tx.ctx, query, args...).Scan(columns...)
	if !errors.Is(err, sql.ErrNoRows) {
		tx.err = err
	}
	return err
}

// note appends to the log, within the transaction that it describes.
func (tx *transaction) note(kind, subject, detail string) error {
	tx.exec("INSERT INTO events (at, kind, subject, detail) VALUES (?, ?, ?, ?)", nanos(tx.now()), kind, subject, detail)
	return tx.err
}

// wrap says what was attempted on which store, and what can be done about it.
func (s *Store) wrap(what string, err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if e := (*sqlite.Error)(nil); errors.As(err, &e) {
		if c, ok := classes[e.Code()&0xff]; ok { // its primary result code
			text := e.Error()
			text = text[strings.LastIndex(": "+text, ": "):] // without the library's repetition of itself
			return fmt.Errorf("history %s: %s: %w (%s); %s", s.Path, what, c.class, text, c.hint)
		}
	}
	return fmt.Errorf("history %s: %s: %w", s.Path, what, err)
}

// classes are the classes of errors of SQLite, and hints what to do about them.
var classes = map[int]struct {
	class error
	hint  string
}{
	sqlite3.SQLITE_NOTADB: {ErrNotStore, "give another file as --store"},
	sqlite3.SQLITE_CORRUPT: {ErrDamaged,
		"move it away and add the runs again, or let sqlite3's .recover save what can be read"},
	sqlite3.SQLITE_READONLY: {ErrReadOnly, "give a --store in a directory that this user may write to"},
	sqlite3.SQLITE_PERM:     {ErrReadOnly, "give a --store in a directory that this user may write to"},
	sqlite3.SQLITE_CANTOPEN: {ErrReadOnly, "is its directory there, and may this user write to it?"},
	sqlite3.SQLITE_FULL:     {ErrFull, "nothing was changed; free some space and do it again"},
	sqlite3.SQLITE_BUSY:     {ErrBusy, "nothing was changed; do it again when that has ended"},
	sqlite3.SQLITE_LOCKED:   {ErrBusy, "nothing was changed; do it again when that has ended"},
}
