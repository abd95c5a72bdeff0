package agent

import (
	"errors"
	"fmt"

	"calib/internal/machine"
)

// Protocol is the version of what agents and coordinators say to each other, and agents among themselves. Two builds
// work together if and only if theirs are equal.
const Protocol = 7

// Classes of errors a client returns; errors.Is tells them apart. The error's text names the host, and says how to
// solve the problem where that is possible.
var (
	ErrVersion  = errors.New("another version")          // the agent speaks another protocol or lacks the experiment
	ErrBusy     = errors.New("busy")                     // another run, or another task of this run, holds the agent
	ErrLimit    = errors.New("beyond the agent's limit") // the agent's own command line forbids it
	ErrTrust    = errors.New("not trusted")              // the daemon does not believe the coordinator's certificate
	ErrLease    = errors.New("the run does not hold the agent")
	ErrDeadline = errors.New("deadline passed")
	ErrTask     = errors.New("task failed") // the experiment failed or panicked; the agent lives
	ErrInvalid  = errors.New("not understood by the agent")
	ErrSilent   = errors.New("silent")               // no sign of life for longer than the client's Silence
	ErrGone     = errors.New("control stream ended") // the agent or the way to it died
	ErrAnswer   = errors.New("wrong answer")         // no agent of this build answers so
	ErrOpen     = errors.New("refused to serve without credentials")
	ErrWatched  = fmt.Errorf("%w with another watch", ErrBusy)
)

// classes are those that a server's faults have.
var classes = []error{ErrVersion, ErrBusy, ErrLimit, ErrLease, ErrDeadline, ErrTask, ErrInvalid, ErrWatched}

// refusal is the error a server answers with. It says which protocol and build answered, because a client of another
// version has no other way to learn it.
type refusal struct {
	Class          string // text of one of classes
	Text           string
	Protocol       int
	Version, Build string
}

func (r *refusal) Error() string { return r.Text }

func fault(class error, format string, args ...any) *refusal {
	build, _ := machine.BuildHash() // an unreadable executable must not hide the fault itself
	return &refusal{class.Error(), fmt.Errorf(format, args...).Error(), Protocol, machine.Version(), build}
}

// classify turns what a call on host returned into an error of one of the classes above.
func classify(host string, err error) error {
	r, ok := errors.AsType[*refusal](err)
	if !ok {
		return fmt.Errorf("agent %s: %w", host, err)
	}
	class := ErrTask // of a class that only a newer agent knows
	for _, c := range classes {
		if c.Error() == r.Class {
			class = c
		}
	}
	if class == ErrVersion {
		return versionError(host, r.Text, r.Version, r.Build)
	}
	return fmt.Errorf("agent %s: %w: %s", host, class, r.Text)
}

func versionError(host, what, version, build string) error {
	if build != "" {
		version += fmt.Sprintf(" (build %.12s)", build)
	}
	return fmt.Errorf("agent %s: %w: %s; the agent is calib %s: install this build on %s, or give the host without "+
		"calib:// and calib copies itself there", host, ErrVersion, what, version, host)
}
