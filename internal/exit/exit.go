// Package exit holds calib's exit codes, and the error that carries one.
package exit

import (
	"errors"
	"fmt"
)

// Exit codes, documented in docs/reference/commands.md.
const (
	OK           = 0
	Failed       = 1
	Usage        = 2
	Regression   = 3
	Partial      = 4
	Inconclusive = 5
	Interrupted  = 130
)

var ErrInterrupted = errors.New("interrupted")

// Error is an error with an exit code. A silent one has been reported to the user already.
type Error struct {
	Code   int
	Silent bool
	Err    error
}

func (e *Error) Error() string { return e.Err.Error() }

func (e *Error) Unwrap() error { return e.Err }

// With gives an error an exit code; nil stays nil.
func With(code int, err error) error {
	if err == nil {
		return nil
	}
	return &Error{Code: code, Err: err}
}

func Usagef(format string, args ...any) error { return With(Usage, fmt.Errorf(format, args...)) }

// CodeOf returns the exit code of an error: its own, or Failed. That of none is OK.
func CodeOf(err error) int {
	if err == nil {
		return OK
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return Failed
}
