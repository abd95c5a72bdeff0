//go:build !linux

package machine

func askDriver(string) (settings map[string]string, features map[string]bool) { return nil, nil }
func systemNow(map[string]string)                                             {}
