//go:build !linux

package launch

import "syscall"

// attributes put a child in a group of its own. An agent ends by itself when the coordinator dies: its input closes.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
