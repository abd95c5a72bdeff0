//go:build !linux

package environ

func askDriver(string) (settings map[string]string, features map[string]bool) { return nil, nil }
