package lab

import (
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// The first thread of a process never ends, so whatever it entered it would stay in.
func TestOnThreadLeavesTheFirst(t *testing.T) {
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 500 {
				_ = onThread(func() error {
					if unix.Gettid() == unix.Getpid() {
						t.Error("on the first thread")
					}
					return nil
				})
			}
		})
	}
	wg.Wait()
}
