//go:build !linux

package machine

func systemNow(map[string]string) {}
