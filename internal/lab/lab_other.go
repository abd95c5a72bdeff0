//go:build !linux

package lab

import (
	"context"
	"io"

	"calib/internal/netspec"
)

// The rest of the interface, on systems that have no lab: everything fails with ErrUnsupported.

type Lab struct{ State }

func DefaultDir() string                                                { return "" }
func Up(context.Context, *netspec.Spec, Options) (*Lab, error)          { return nil, ErrUnsupported }
func Down(string, string) error                                         { return ErrUnsupported }
func Run(context.Context, *netspec.Spec, Options, Command) (int, error) { return 1, ErrUnsupported }

func Within(context.Context, *netspec.Spec, Options, func(context.Context, *Lab) error) (Verdict, error) {
	return Verdict{}, ErrUnsupported
}

func Load(string, string) (Status, error) { return Status{}, ErrUnsupported }
func List(string) ([]Status, error)       { return nil, ErrUnsupported }
func ReadStats(string) (Stats, error)     { return Stats{}, ErrUnsupported }
func RunWire(io.Reader, io.Writer) error  { return ErrUnsupported }
