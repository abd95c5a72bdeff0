//go:build !linux

package agent

import (
	"context"
	"net"

	"calib/transport"
)

func isRoot() bool { return false }

func sameUser(net.Conn) (uint32, error) { return 0, transport.ErrUnsupported }

func admitUser(context.Context, net.Conn) (net.Conn, caller, error) {
	return nil, caller{}, transport.ErrUnsupported
}
