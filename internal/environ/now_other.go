//go:build !linux

package environ

func systemNow(map[string]string) {}
