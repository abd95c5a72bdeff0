package transport

import (
	"fmt"
	"net"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"calib/internal/plane"
)

// Route returns by which interface packets of the connection to a rank leave, and how large the kernel makes them. It
// is not for timed sections.
func (g *Group) Route(to int) (plane.Route, error) {
	c, err := g.link(to)
	if err != nil {
		return plane.Route{}, err
	}
	here, there, err := sysEnds(c.fd)
	if err != nil {
		return plane.Route{}, fmt.Errorf("route to %s: %w", c.peer, err)
	}
	level, option := unix.IPPROTO_IP, unix.IP_MTU
	if there.Addr().Is6() && !there.Addr().Is4In6() {
		level, option = unix.IPPROTO_IPV6, unix.IPV6_MTU
	}
	mtu, err := unix.GetsockoptInt(c.fd, level, option)
	if err != nil {
		return plane.Route{}, fmt.Errorf("packet size on the way to %s: %w", c.peer, err)
	}
	routes, err := netlink.RouteGetWithOptions(net.IP(there.Addr().Unmap().AsSlice()),
		&netlink.RouteGetOptions{SrcAddr: net.IP(here.Addr().Unmap().AsSlice())})
	if err != nil || len(routes) == 0 {
		return plane.Route{}, fmt.Errorf("route to %s: %w", c.peer, err)
	}
	return plane.Route{Device: routes[0].LinkIndex, MTU: mtu}, nil
}
