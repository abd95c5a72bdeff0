//go:build !linux

package machine

import (
	"errors"
	"fmt"
	"io/fs"
	"runtime"
)

// nothing is a file system without a file.
type nothing struct{}

func (nothing) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

func systemCPUs() fs.FS { return nothing{} }

func allowed() ([]int, error) {
	cpus := make([]int, runtime.NumCPU())
	for i := range cpus {
		cpus[i] = i
	}
	return cpus, nil
}

func unsupported(what string) error {
	return fmt.Errorf("%s: %w: measure this host under Linux", what, errors.ErrUnsupported)
}

func bind(int) error              { return unsupported("bind a thread to a CPU") }
func hostMemory() int64           { return 0 }
func reserve(int) ([]byte, error) { return nil, unsupported("reserve memory to copy in") }
func free([]byte)                 {}
