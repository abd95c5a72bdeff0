package transport

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"strconv"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"calib/internal/dataset"
	"calib/internal/plane"
	"calib/internal/units"
)

// tcpEstablished is the kernel's TCP_ESTABLISHED (net/tcp_states.h).
const tcpEstablished = 1

func sysEstablished(fd int) bool {
	info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
	return err == nil && info.State == tcpEstablished
}

// sysCounters reads TCP_INFO (tcp_get_info in the kernel; fields an older one lacks are 0), the granted buffers, and
// the calling thread's involuntary context switches.
func sysCounters(fd int) (dataset.TCP, error) {
	info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
	if err != nil {
		return dataset.TCP{}, err
	}
	c := dataset.TCP{
		SegsOut: int64(info.Segs_out), SegsIn: int64(info.Segs_in),
		DataSegsOut: int64(info.Data_segs_out), DataSegsIn: int64(info.Data_segs_in),
		Retrans:     int64(info.Total_retrans),
		RwndLimited: int64(info.Rwnd_limited), SndbufLimit: int64(info.Sndbuf_limited),
		Busy: int64(info.Busy_time),
		Cwnd: int64(info.Snd_cwnd), MSS: int64(info.Snd_mss),
		RTT: int64(info.Rtt), MinRTT: int64(info.Min_rtt),
	}
	snd, rcv, err := granted(fd)
	if err != nil {
		return c, err
	}
	c.SndBuf, c.RcvBuf = int64(snd), int64(rcv)
	if c.Congestion, err = grantedCongestion(fd); err != nil {
		return c, err
	}
	var usage unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_THREAD, &usage); err != nil {
		return c, err
	}
	c.Involuntary = int64(usage.Nivcsw)
	return c, nil
}

// stealTicks returns the steal time of all CPUs since boot [clock ticks]; 0 where /proc is not there to read.
func stealTicks() int64 {
	f, err := os.Open("/proc/stat")
	if err != nil {
		return 0
	}
	defer f.Close()
	var buf [512]byte
	n, err := f.Read(buf[:])
	if err != nil {
		return 0
	}
	return parseSteal(buf[:n])
}

// parseSteal reads the eighth number of the line "cpu user nice system idle iowait irq softirq steal ..." (proc(5)).
func parseSteal(stat []byte) int64 {
	line, _, _ := bytes.Cut(stat, []byte("\n"))
	f := bytes.Fields(line)
	if len(f) < 9 || string(f[0]) != "cpu" {
		return 0
	}
	n, err := strconv.ParseInt(string(f[8]), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

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

// LimitUnsent bounds what the kernel takes and has not sent. 0 is the kernel's own bound, which is none unless its
// administrator set net.ipv4.tcp_notsent_lowat.
func (c *Conn) LimitUnsent(n int64) error {
	err := unix.SetsockoptInt(c.fd, unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, int(min(n, math.MaxInt32)))
	if err != nil {
		return fmt.Errorf("limit the unsent bytes (TCP_NOTSENT_LOWAT) to %d, %s: %w", n, c.peer, err)
	}
	return nil
}

// LimitRoom bounds the send buffer, which holds what the other end has not acknowledged. A buffer that the user has
// fixed stays as it is, and so does one that the kernel would make smaller than n (net.core.wmem_max). 0 gives the
// kernel's own buffer back, which grows.
func (c *Conn) LimitRoom(n int64) error {
	if err := c.changeRoom(clampInt(units.Bytes(n))); err != nil {
		return fmt.Errorf("limit the send buffer (SO_SNDBUF) to %d, %s: %w", n, c.peer, err)
	}
	return nil
}

func (c *Conn) changeRoom(n int) error {
	locks, err := unix.GetsockoptInt(c.fd, unix.SOL_SOCKET, unix.SO_BUF_LOCK)
	if err != nil {
		return nil // before Linux 5.15 there is no way back to a buffer that grows
	}
	if n <= 0 {
		return c.freeRoom(locks)
	}
	if c.room == 0 {
		if locks&unix.SOCK_SNDBUF_LOCK != 0 {
			return nil
		}
		if c.room, _, err = granted(c.fd); err != nil {
			return err
		}
	}
	if err := unix.SetsockoptInt(c.fd, unix.SOL_SOCKET, unix.SO_SNDBUF, n); err != nil {
		return err
	}
	if has, _, err := granted(c.fd); err != nil || has/2 < n {
		return errors.Join(err, c.freeRoom(locks))
	}
	return nil
}

// freeRoom ends a bound. locks are the socket's.
func (c *Conn) freeRoom(locks int) error {
	if c.room == 0 {
		return nil
	}
	if err := unix.SetsockoptInt(c.fd, unix.SOL_SOCKET, unix.SO_SNDBUF, c.room/2); err != nil {
		return err
	}
	c.room = 0
	return unix.SetsockoptInt(c.fd, unix.SOL_SOCKET, unix.SO_BUF_LOCK, locks&^unix.SOCK_SNDBUF_LOCK)
}
