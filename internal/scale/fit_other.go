//go:build !linux

package main

import (
	"errors"
	"time"
)

func cpu() time.Duration { return 0 }

func fit(string, string) (fitted, error) {
	return fitted{}, errors.New("the largest resident memory of a process is read as Linux counts it: run this on Linux")
}
