package agent

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// sameUser refuses the other end of a unix socket unless it is this user's or root's: the socket's mode says so too, but its
// directory may be another's, and it was made before it had that mode.
func sameUser(c net.Conn) (uid uint32, err error) {
	u, ok := c.(*net.UnixConn)
	if !ok {
		return 0, errors.New("no unix socket")
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return 0, err
	}
	var cred *unix.Ucred
	if e := raw.Control(func(fd uintptr) { cred, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) }); e != nil {
		return 0, e
	}
	if err != nil {
		return 0, err
	}
	if own := uint32(os.Geteuid()); cred.Uid != own && cred.Uid != 0 {
		return cred.Uid, fmt.Errorf("the other end runs as user %d, this is user %d", cred.Uid, own)
	}
	return cred.Uid, nil
}

// admitUser lets this user and root in.
func admitUser(_ context.Context, c net.Conn) (net.Conn, caller, error) {
	uid, err := sameUser(c)
	if err != nil {
		return nil, caller{}, err
	}
	return c, caller{name: fmt.Sprintf("user %d", uid), check: func() error { return nil }}, nil
}

// isRoot reports whether this process may do what any user may.
func isRoot() bool { return os.Geteuid() == 0 }
