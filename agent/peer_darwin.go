package agent

import "golang.org/x/sys/unix"

// peerUser is who made the other end of a unix socket.
func peerUser(fd int) (uid uint32, err error) {
	c, err := unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	if err != nil {
		return 0, err
	}
	return c.Uid, nil
}
