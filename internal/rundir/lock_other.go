//go:build !unix

package rundir

import "errors"

type lock struct{}

func acquire(string) (*lock, error) {
	return nil, errors.New("runs cannot be locked on this system; run the coordinator on Linux or macOS")
}

func (*lock) release() error { return nil }
