package measuring

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"calib/internal/dataset"
	"calib/internal/environ"
)

// tickEvery calls f in the background until the returned function is called, which waits for it to end.
func tickEvery(d time.Duration, f func()) (stop func()) {
	t := time.NewTicker(d)
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		defer t.Stop()
		for {
			select {
			case <-t.C:
				f()
			case <-done:
				return
			}
		}
	})
	return func() { close(done); wg.Wait() }
}

// versions says which agents run another build than this coordinator.
func versions(infos []dataset.Host) []string {
	own, err := environ.BuildHash()
	if err != nil {
		return []string{fmt.Sprintf("the build of this calib is not known: %v", err)}
	}
	var out []string
	for _, h := range infos {
		if h.Build != "" && h.Build != own {
			out = append(out, fmt.Sprintf("host %s runs calib %s, build %.12s; this is build %.12s", h.Name, h.Version, h.Build, own))
		}
	}
	slices.Sort(out)
	return out
}

// sharesMachine reports whether two agents run on one machine: processes over loopback, or containers.
func sharesMachine(infos []dataset.Host) bool {
	seen := map[string]bool{}
	for _, h := range infos {
		if h.Boot != "" && seen[h.Boot] {
			return true
		}
		seen[h.Boot] = true
	}
	return false
}
