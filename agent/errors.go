package agent

import (
	"cmp"
	"errors"
	"fmt"

	"connectrpc.com/connect"

	"calib/agent/internal/controlv1"
	"calib/internal/machine"
)

// Protocol is the version of the control protocol. Two builds work together if and only if theirs are equal.
const Protocol = 3

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
)

type kind = controlv1.Fault_Kind

const (
	kindVersion    = controlv1.Fault_KIND_VERSION
	kindBusy       = controlv1.Fault_KIND_BUSY
	kindLimit      = controlv1.Fault_KIND_LIMIT
	kindExperiment = controlv1.Fault_KIND_EXPERIMENT
	kindLease      = controlv1.Fault_KIND_LEASE
	kindDeadline   = controlv1.Fault_KIND_DEADLINE
	kindTask       = controlv1.Fault_KIND_TASK
	kindInvalid    = controlv1.Fault_KIND_INVALID
)

// faults are the connect code under which each fault travels, for tools that know nothing of Fault, and its error
// class.
var faults = map[kind]struct {
	code  connect.Code
	class error
}{
	kindVersion:    {connect.CodeFailedPrecondition, ErrVersion},
	kindExperiment: {connect.CodeUnimplemented, ErrVersion},
	kindBusy:       {connect.CodeUnavailable, ErrBusy},
	kindLimit:      {connect.CodeResourceExhausted, ErrLimit},
	kindLease:      {connect.CodeFailedPrecondition, ErrLease},
	kindDeadline:   {connect.CodeDeadlineExceeded, ErrDeadline},
	kindTask:       {connect.CodeInternal, ErrTask},
	kindInvalid:    {connect.CodeInvalidArgument, ErrInvalid},
}

// fault is the error a server answers with. It says which protocol and build answered, because a client of another
// version has no other way to learn it.
func fault(k kind, format string, args ...any) error {
	e := connect.NewError(faults[k].code, fmt.Errorf(format, args...))
	build, _ := machine.BuildHash() // an unreadable executable must not hide the fault itself
	detail, err := connect.NewErrorDetail(&controlv1.Fault{
		Kind: k, Protocol: Protocol, Version: machine.Version(), Build: build,
	})
	if err == nil {
		e.AddDetail(detail)
	}
	return e
}

// classify turns what a call on host returned into an error of one of the classes above.
func classify(host string, err error) error {
	var ce *connect.Error
	if !errors.As(err, &ce) {
		return fmt.Errorf("agent %s: %w: %w", host, ErrAnswer, err)
	}
	for _, d := range ce.Details() {
		v, derr := d.Value()
		f, ok := v.(*controlv1.Fault)
		if derr != nil || !ok {
			continue
		}
		class := cmp.Or(faults[f.Kind].class, ErrTask) // of a kind that only a newer agent knows
		if class == ErrVersion {
			return versionError(host, ce.Message(), f.Version, f.Build)
		}
		return fmt.Errorf("agent %s: %w: %s", host, class, ce.Message())
	}
	switch ce.Code() {
	case connect.CodeUnimplemented:
		return versionError(host, ce.Message(), "of unknown version", "")
	case connect.CodeInvalidArgument:
		return fmt.Errorf("agent %s: %w: %s", host, ErrInvalid, ce.Message())
	case connect.CodeResourceExhausted:
		return fmt.Errorf("agent %s: %w: %s", host, ErrLimit, ce.Message())
	}
	return fmt.Errorf("agent %s: %w: %w", host, ErrGone, ce.Unwrap())
}

func versionError(host, what, version, build string) error {
	if build != "" {
		version += fmt.Sprintf(" (build %.12s)", build)
	}
	return fmt.Errorf("agent %s: %w: %s; the agent is calib %s: install this build on %s, or give the host without "+
		"calib:// and calib copies itself there", host, ErrVersion, what, version, host)
}
