package launch

import "syscall"

// attributes put a child in a group of its own and end it when the thread that started it ends, as it does when the
// coordinator is killed. An agent also ends by itself then, since its input closes.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
