package agent

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"calib/bench/experiments"
)

const marked = 15 * time.Minute

// look has an agent that was started for a look of a watch take it, and measure, unless it is to go on without.
func look(t *testing.T, watch string, measures bool) error {
	t.Helper()
	s := newServer(ServerOptions{}, &fakePlane{})
	defer s.Close()
	session := session("r1")
	session.Watch, session.Keep = watch, marked
	secret, err := s.prepare(session, nil)
	if err != nil {
		return classify("node3", err)
	} else if !measures {
		return nil
	}
	x := task()
	e, _ := experiments.Lookup(x.Exp)
	_, done, err := s.begin(t.Context(), &x, e, secret)
	if err != nil {
		t.Fatal(err)
	}
	done()
	return nil
}

// A host is left to one watch, between its looks too, and the other is told which it is. When no look has come for as
// long as was said, the other has the host. A look that has measured nothing keeps nobody away.
func TestMark(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	const anna, ben = "anna on gate, store /a\u202e.db", "ben on desk, store /b.db"
	synctest.Test(t, func(t *testing.T) {
		none := func(err error) {
			t.Helper()
			if err != nil {
				t.Error(err)
			}
		}
		refused := func(err error) {
			t.Helper()
			mustBe(t, err, ErrWatched, `busy with another watch: "anna on gate, store /a\u202e.db"; it has the host until`)
			mustBe(t, err, ErrBusy)
		}
		none(look(t, ben, false))
		none(look(t, anna, true))
		refused(look(t, ben, true))
		time.Sleep(marked - time.Second)
		refused(look(t, ben, true))
		none(look(t, anna, true)) // of its next look, or started again
		time.Sleep(2 * time.Second)
		refused(look(t, ben, true))
		none(look(t, anna, false)) // which has the host, and had no time for it
		refused(look(t, ben, true))
		none(look(t, "", true)) // a run
		refused(look(t, ben, false))
		time.Sleep(marked)
		none(look(t, ben, true))
		mustBe(t, look(t, anna, true), ErrWatched, "ben on desk")
	})
}

// Of watches that come at once one has the host, with all of its agents there.
func TestMarkAtOnce(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	defer syscall.Umask(syscall.Umask(0o022)) // which servers of one process may set for each other
	var all sync.WaitGroup
	var errs [2][8]error
	for w := range errs {
		for i := range errs[w] {
			all.Go(func() { errs[w][i] = look(t, []string{"anna", "ben"}[w], true) })
		}
	}
	all.Wait()
	if errs[0] == errs[1] || errs[0] != [8]error{} && errs[1] != [8]error{} {
		t.Error(errs)
	}
}

// What another user has put in the place of the file is not written, and keeps nobody away or waiting for long.
func TestMarkOfStrangers(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	if err := look(t, "anna", true); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	path, mine := filepath.Join(dir, files[0].Name()), filepath.Join(dir, "mine")
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o666 {
		t.Errorf("%v, %v: another user cannot write it", info, err)
	}
	text := func(s string) func() error {
		return func() error { return errors.Join(os.WriteFile(path, []byte(s), 0o666), os.Chmod(path, 0o666)) }
	}
	link := func(how func(string, string) error) func() error { return func() error { return how(mine, path) } }
	if err := os.WriteFile(mine, []byte("kept"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, put := range map[string]func() error{
		"rubbish": text("2\x00"), "a year": text("2999-01-01T00:00:00Z ben\n"), "link": link(os.Symlink),
		"hard link": link(os.Link), "pipe": func() error { return syscall.Mkfifo(path, 0o666) },
		"directory": func() error { return os.Mkdir(path, 0o777) },
	} {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if err := put(); err != nil {
			t.Fatal(err)
		}
		if err := look(t, "anna", true); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if kept, err := os.ReadFile(mine); err != nil || string(kept) != "kept" {
		t.Errorf("%q, %v", kept, err)
	}
	synctest.Test(t, func(t *testing.T) {
		_ = os.Remove(path)
		err := look(t, "anna", true)
		held, err2 := os.Open(path)
		if err := errors.Join(err, err2, syscall.Flock(int(held.Fd()), syscall.LOCK_EX)); err != nil {
			t.Fatal(err)
		}
		defer held.Close()
		if err := look(t, "ben", true); err != nil {
			t.Error(err)
		}
	})
}
