//go:build !linux

package lab

import (
	"context"
	"io"

	"calib/internal/netspec"
)

// The rest of the interface, on systems that have no lab: everything fails with ErrUnsupported.

// Lab is a lab that is up.
type Lab struct{ State }

// Command is what Run runs in a lab.
type Command struct {
	Args           []string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Strict         bool
}

// DefaultDir is where labs would keep their files.
func DefaultDir() string { return "" }

// Up fails with ErrUnsupported.
func Up(context.Context, *netspec.Spec, Options) (*Lab, error) { return nil, ErrUnsupported }

// Down fails with ErrUnsupported.
func Down(string, string) error { return ErrUnsupported }

// Close fails with ErrUnsupported.
func (l *Lab) Close() error { return ErrUnsupported }

// Run fails with ErrUnsupported.
func Run(context.Context, *netspec.Spec, Options, Command) (int, error) { return 1, ErrUnsupported }

// Within fails with ErrUnsupported.
func Within(context.Context, *netspec.Spec, Options, func(context.Context, *Lab) error) (Verdict, error) {
	return Verdict{}, ErrUnsupported
}

// Load fails with ErrUnsupported.
func Load(string, string) (Status, error) { return Status{}, ErrUnsupported }

// List fails with ErrUnsupported.
func List(string) ([]Status, error) { return nil, ErrUnsupported }

// ReadStats fails with ErrUnsupported.
func ReadStats(string) (Stats, error) { return Stats{}, ErrUnsupported }

// RunWire fails with ErrUnsupported.
func RunWire(io.Reader, io.Writer) error { return ErrUnsupported }

// RunHolder fails with ErrUnsupported.
func RunHolder(io.Reader, io.Writer) error { return ErrUnsupported }
