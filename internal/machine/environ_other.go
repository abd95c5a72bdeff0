//go:build !linux

package machine

func askDriver(string) (settings map[string]string, features map[string]bool, counters map[string]uint64) {
	return nil, nil, nil
}
func systemNow(map[string]string) {}
