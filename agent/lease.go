package agent

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"calib/bench"
	"calib/internal/plane"
	"calib/transport"
)

// Why a lease ends before its run does.
var (
	errSilence  = errors.New("the coordinator was silent for too long")
	errReleased = errors.New("the coordinator released the agent")
	errClosing  = errors.New("the agent is closing")
)

// lease gives one run the agent. It ends when released, when the coordinator is silent, or with the server. Its context
// ends with it and cancels the running task. The agent is free once that task has ended too.
type lease struct {
	secret  []byte // whoever has it holds the agent
	session plane.Session
	since   time.Time
	silent  *time.Timer
	ctx     context.Context
	cancel  context.CancelCauseFunc
	task    chan struct{} // of the running task: closed at its end; nil where none runs
	used    bool          // a task has begun, or its watch had the host before
}

const secretSize = 32

// prepare gives the agent to a run, or lets the run that holds it, and shows its secret, start over with a new session.
// It returns the secret of the lease.
func (s *Server) prepare(session plane.Session, secret []byte) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.lease; l != nil {
		if l.session.Run != session.Run || l.task != nil || !l.is(secret) {
			return nil, l.busy(secret)
		}
		s.end(l, errReleased)
	}
	used := false
	if session.Watch != "" {
		var err error
		if used, err = mark(session.Watch, session.Keep); err != nil {
			return nil, err
		}
	}
	if err := s.tickets.take(session.Tickets); err != nil {
		return nil, fault(ErrInvalid, "run %s: %w", session.Run, err)
	}
	if f := s.plane.Foreign(); f != (transport.Foreign{}) { // the next run is not to blame
		s.opts.Log.Warn("before the run", "strays", f.Strays, "refused", f.Refused, "why", f.Why)
	}
	if err := s.plane.Prepare(session); err != nil {
		s.plane.Reset()
		return nil, fault(ErrInvalid, "run %s: %w", session.Run, err)
	}
	l := &lease{secret: make([]byte, secretSize), session: session, since: time.Now(), used: used}
	rand.Read(l.secret) // never fails (crypto/rand)
	l.ctx, l.cancel = context.WithCancelCause(context.Background())
	l.silent = time.AfterFunc(s.opts.Silence, func() { s.drop(l, errSilence) })
	s.lease = l
	s.opts.Log.Info("prepared", "run", session.Run, "host", session.Self, "peers", len(session.Peers))
	return l.secret, nil
}

// is reports whether the secret is the lease's, in a time that tells nothing about it.
func (l *lease) is(secret []byte) bool { return subtle.ConstantTimeCompare(l.secret, secret) == 1 }

// busy is the error that says why the agent is not free. Only who holds it is told by which run. It is called with the
// server's lock held.
func (l *lease) busy(secret []byte) error {
	who, what := "another run", "holds the agent"
	if l.is(secret) {
		who = "run " + l.session.Run
	}
	if l.ctx.Err() != nil {
		what = "is being cancelled there"
	} else if l.task != nil {
		what = "is measuring there"
	}
	return fault(ErrBusy, "%s %s, since %s: wait until it ends, or end its coordinator",
		who, what, l.since.UTC().Format(time.RFC3339))
}

// with does f with the lease of a run that shows its secret.
func (s *Server) with(q *request, send func(answer) error, f func(*lease)) error {
	s.mu.Lock()
	l, err := s.held(q.Run, q.Secret)
	if err == nil {
		f(l)
	}
	s.mu.Unlock()
	if err != nil {
		return err
	}
	return send(answer{})
}

// held returns the lease of a run that shows its secret. It is called with the lock held.
func (s *Server) held(run string, secret []byte) (*lease, error) {
	l := s.lease
	switch {
	case l == nil:
		return nil, fault(ErrLease, "no run holds the agent: %s was not prepared, was released, or its coordinator "+
			"was silent for more than %v", run, s.opts.Silence)
	case l.session.Run != run || !l.is(secret):
		return nil, l.busy(secret)
	case l.ctx.Err() != nil:
		return nil, fault(ErrLease, "run %s was given up: %w", run, context.Cause(l.ctx))
	}
	return l, nil
}

// begin marks the start of a task, the function that it returns the end. The task before may still be ending, because
// its call was cancelled a moment ago: it is waited for as long as a cancelled task may take.
func (s *Server) begin(ctx context.Context, t *bench.Task, e *bench.Experiment, secret []byte) (*lease, func(), error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l, err := s.held(t.Run, secret)
	if err == nil && l.task != nil {
		before := l.task
		s.mu.Unlock()
		await(ctx, before, grace)
		s.mu.Lock()
		l, err = s.held(t.Run, secret)
	}
	if err != nil {
		return nil, nil, err
	}
	if l.task != nil {
		return nil, nil, l.busy(secret)
	}
	if err := s.opts.Limits.task(t, e, l.session.Self); err != nil {
		return nil, nil, err
	}
	t.OneClock = l.session.OneClock(t.Team)
	l.task, l.used = make(chan struct{}), true
	l.silent.Reset(s.opts.Silence)
	return l, sync.OnceFunc(func() { s.finish(l) }), nil
}

// await reports whether ended was closed before ctx ended or the time was over.
func await(ctx context.Context, ended <-chan struct{}, most time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	select {
	case <-ended:
		return true
	case <-ctx.Done():
		return false
	}
}

func (s *Server) finish(l *lease) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer close(l.task)
	l.task = nil
	if l.ctx.Err() != nil {
		s.free(l)
	}
}

// drop ends a lease: at once where nothing runs, otherwise when the task that it cancels has ended.
func (s *Server) drop(l *lease, why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lease == l && l.ctx.Err() == nil {
		s.opts.Log.Info("given up", "run", l.session.Run, "why", why.Error())
		s.end(l, why)
	}
}

// dropAny ends the lease, where there is one. It returns what is closed when its task has ended, nil where none runs.
func (s *Server) dropAny(why error) (task chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lease != nil {
		task = s.lease.task
		s.end(s.lease, why)
	}
	return task
}

// end and free are called with the lock held.
func (s *Server) end(l *lease, why error) {
	l.silent.Stop()
	l.cancel(why)
	if l.task == nil {
		s.free(l)
	}
}

func (s *Server) free(l *lease) {
	if s.lease == l {
		s.lease = nil
		s.plane.Reset()
		if l.session.Watch != "" && !l.used { // it looks without this host, or at none
			_, _ = mark(l.session.Watch, 0)
		}
	}
}

// mark leaves this host to a watch, also while that has no agent here, or says who has it. It reports whether the watch
// had it before. The mark is a file that all users of the host share; each network namespace has its own. A link in its
// place is not followed, and only a file that everybody may write is written. Without the file, watches do not know of
// each other.
func mark(watch string, keep time.Duration) (had bool, err error) {
	const flags, mode = os.O_RDWR | syscall.O_NOFOLLOW | syscall.O_NONBLOCK, 0o666
	network, _ := os.Readlink("/proc/self/ns/net")
	path := filepath.Join(os.TempDir(), "calib-watch-"+network)
	f, err := os.OpenFile(path, flags, 0)
	if errors.Is(err, fs.ErrNotExist) {
		if made, err := os.CreateTemp(os.TempDir(), "calib-watch-"); err == nil {
			_ = made.Chmod(mode) // whatever the umask is
			// No other watch may see the file before it has its mode. Of several the first stays.
			_ = os.Link(made.Name(), path)
			_ = errors.Join(os.Remove(made.Name()), made.Close())
		}
		f, err = os.OpenFile(path, flags, 0)
	}
	defer f.Close() // nil has nothing to close
	if info, _ := f.Stat(); err != nil || info.Mode() != mode || lock(f) != nil {
		return false, nil
	}
	text := make([]byte, 4096)
	n, _ := f.Read(text)
	line, _, _ := strings.Cut(string(text[:n]), "\n")
	until, other, _ := strings.Cut(line, " ")
	end, _ := time.Parse(time.RFC3339, until) // what is no mark has long ended; one that never ends is none
	left := time.Until(end)
	if had = left > 0 && left < 72*time.Hour; had && other != watch {
		return false, fault(ErrWatched, "%q; it has the host until %s at least: end it, or wait", other, until)
	}
	_, _ = f.WriteAt([]byte(time.Now().Add(keep).UTC().Format(time.RFC3339)+" "+watch+"\n"), 0) // or the disk is full
	return had, nil
}

// lock takes the kernel's lock of a file, within half a second: a stranger may hold it for ever. It ends with f.
func lock(f *os.File) error {
	for tries := time.Duration(0); ; tries++ {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err != syscall.EWOULDBLOCK || tries == 1000 {
			return err
		}
		time.Sleep(tries * time.Microsecond)
	}
}

// maxUsedTickets bounds what is remembered of tickets: 64 sessions of a thousand hosts. Beyond it the oldest are
// forgotten; each of them has been shown to a coordinator that could have made new ones.
const maxUsedTickets = 1 << 16

type usedTickets struct {
	keys  map[[32]byte]bool
	order [][32]byte // oldest first
}

// take notes the tickets of a session, or refuses them all.
func (u *usedTickets) take(tickets []plane.Ticket) error {
	for _, t := range tickets {
		if u.keys[t.Key] {
			return fmt.Errorf("the ticket for hosts %d and %d has served already: a session needs tickets of its own", t.A, t.B)
		}
	}
	if u.keys == nil {
		u.keys = map[[32]byte]bool{}
	}
	for _, t := range tickets {
		u.keys[t.Key] = true
		u.order = append(u.order, t.Key)
	}
	for len(u.order) > maxUsedTickets {
		delete(u.keys, u.order[0])
		u.order = u.order[1:]
	}
	return nil
}
