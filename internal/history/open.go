package history

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"github.com/pressly/goose/v3"
	"modernc.org/sqlite"

	"calib/internal/exit"
)

const application = 0x63616c69 // marks the file as a calib history, in SQLite's header: "cali"

const patience = 10 * time.Second // how long a writer waits for another: an add takes milliseconds

// Open opens the store at path. Where there is none, it makes it, with its directory, or else, unless create, it
// returns fs.ErrNotExist. A store of an older calib is brought up to date, each step in a transaction of its own. A
// store of a newer one is ErrNewer, any other file ErrNotStore. In a place that cannot be written, a store is opened
// for reading.
func Open(ctx context.Context, path string, create bool) (*Store, error) {
	switch info, err := os.Stat(path); {
	case err != nil && create:
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return nil, fmt.Errorf("history %s: make its directory: %w; choose another --store", path, err)
		}
	case errors.Is(err, fs.ErrNotExist):
		return nil, exit.Usagef("there is no history at %s yet: %w; calib history add RUN makes it", path, fs.ErrNotExist)
	case err != nil:
		return nil, fmt.Errorf("history: %w", err)
	case !info.Mode().IsRegular():
		kind := map[bool]string{true: "directory", false: "device or pipe"}[info.IsDir()]
		return nil, fmt.Errorf("history %s: %w: it is a %s; give a file as --store", path, ErrNotStore, kind)
	}
	var errs error
	for _, mode := range []string{"mode=rwc", "mode=ro&immutable=1"} {
		s, err := connect(path, mode)
		if err != nil {
			return nil, err
		}
		if err = s.begin(ctx); err == nil {
			return s, nil
		}
		if errs = errors.Join(errs, err, s.Close()); !errors.Is(err, ErrReadOnly) || !atRest(path) {
			break
		}
	}
	return nil, errs
}

// atRest reports whether all of a store is in its one file, so that it can be read without writing.
func atRest(path string) bool {
	info, err := os.Stat(path)
	log, logErr := os.Stat(path + "-wal")
	return err == nil && info.Size() > 0 && (errors.Is(logErr, fs.ErrNotExist) || logErr == nil && log.Size() == 0)
}

// connect prepares connections to the file; nothing is read yet.
func connect(path, mode string) (*Store, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("history %s: %w", path, err)
	}
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(abs), RawQuery: mode + "&_txlock=immediate&_busy_timeout=" +
		strconv.FormatInt(patience.Milliseconds(), 10) + "&_foreign_keys=1&_synchronous=FULL"}
	c, err := sqlite.NewConnector(u.String())
	if err != nil {
		return nil, fmt.Errorf("history %s: %w", path, err)
	}
	db := sql.OpenDB(c)
	db.SetMaxIdleConns(runtime.GOMAXPROCS(0)) // so many series are read side by side
	return &Store{db: db, Path: path, now: time.Now}, nil
}

// begin makes sure that the file is a store of this version. Processes that make or migrate a store at the same time
// all find it made.
func (s *Store) begin(ctx context.Context) error {
	// Where another process goes over to WAL at this moment, SQLite does not wait but says at once that it is busy.
	for begun := time.Now(); ; time.Sleep(patience / 1000) {
		err := s.claim(ctx)
		if err == nil {
			break
		}
		if !errors.Is(err, ErrBusy) || time.Since(begun) > patience || ctx.Err() != nil {
			return err
		}
	}
	p, err := s.provider()
	if err != nil {
		return err
	}
	attempts := len(p.ListSources()) + 1 // another process may be the first at each step
	for attempt := 1; ; attempt++ {
		older, err := s.older(ctx, p)
		if older && err == nil {
			_, err = p.Up(ctx)
			err = s.wrap("bring it up to date", err)
		}
		if err == nil || errors.Is(err, ErrNewer) || attempt == attempts || ctx.Err() != nil {
			return err
		}
	}
}

// older reports whether the store is of an older version. One of a newer version is ErrNewer.
func (s *Store) older(ctx context.Context, p *goose.Provider) (bool, error) {
	current, target, err := p.GetVersions(ctx)
	if err == nil && current > target {
		return false, fmt.Errorf("history %s: %w: its version is %d, this build has %d; use that calib, or add "+
			"the runs to another --store", s.Path, ErrNewer, current, target)
	}
	return current < target, s.wrap("read its version", err)
}

// claim marks an empty file as a store, and refuses the database of another program without having changed it.
func (s *Store) claim(ctx context.Context) error {
	var id, tables int64
	err := s.db.QueryRowContext(ctx, `SELECT application_id, (SELECT count(*) FROM sqlite_schema)
		FROM pragma_application_id`).Scan(&id, &tables)
	ours := id == application
	switch {
	case err != nil:
		return s.wrap("open", err)
	case !ours && (id != 0 || tables != 0):
		return fmt.Errorf("history %s: %w: it is the database of another program; give another file as --store",
			s.Path, ErrNotStore)
	case !ours:
		if _, err := s.db.ExecContext(ctx, "PRAGMA application_id = "+strconv.Itoa(application)); err != nil {
			return s.wrap("make the store", err)
		}
	}
	var mode string
	return s.wrap("open", s.db.QueryRowContext(ctx, "PRAGMA journal_mode = WAL").Scan(&mode))
}

//go:embed migrations
var migrations embed.FS

func (s *Store) provider() (*goose.Provider, error) {
	files, _ := fs.Sub(migrations, "migrations") // which there is
	p, err := goose.NewProvider(goose.DialectSQLite3, s.db, files, goose.WithLogger(goose.NopLogger()),
		goose.WithDisableGlobalRegistry(true))
	if err != nil {
		err = fmt.Errorf("history %s: migrations: %w", s.Path, err)
	}
	return p, err
}
