package kernel

import (
	"bytes"
	"errors"
	"fmt"
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

func Established(fd int) bool {
	info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
	return err == nil && info.State == tcpEstablished
}

// Counters reads TCP_INFO (tcp_get_info in the kernel; fields an older one lacks are 0), the granted buffers, the
// calling thread's involuntary context switches, and the machine's steal time. A segment that the peer had already when
// it was sent again was not lost: the peer says so (D-SACK, RFC 2883), and it does not count.
func Counters(fd int) (dataset.TCP, error) {
	info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
	if err != nil {
		return dataset.TCP{}, err
	}
	c := dataset.TCP{
		SegsOut: int64(info.Segs_out), SegsIn: int64(info.Segs_in),
		DataSegsOut: int64(info.Data_segs_out), DataSegsIn: int64(info.Data_segs_in),
		Retrans:     max(0, int64(info.Total_retrans)-int64(info.Dsack_dups)),
		RwndLimited: int64(info.Rwnd_limited), SndbufLimit: int64(info.Sndbuf_limited),
		Busy: int64(info.Busy_time),
		Cwnd: int64(info.Snd_cwnd), MSS: int64(info.Snd_mss),
		RTT: int64(info.Rtt), MinRTT: int64(info.Min_rtt),
	}
	snd, rcv, err := Buffers(fd)
	if err != nil {
		return c, err
	}
	c.SndBuf, c.RcvBuf = int64(snd), int64(rcv)
	if c.Congestion, err = Congestion(fd); err != nil {
		return c, err
	}
	var usage unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_THREAD, &usage); err != nil {
		return c, err
	}
	c.Involuntary, c.StealTicks = int64(usage.Nivcsw), StealTicks()
	return c, nil
}

// StealTicks returns the steal time of all CPUs since boot [clock ticks]; 0 where /proc is not there to read.
func StealTicks() int64 {
	f, err := os.Open("/proc/stat")
	if err != nil {
		return 0
	}
	defer f.Close()
	var buf [512]byte
	n, _ := f.Read(buf[:])
	return parseSteal(buf[:max(n, 0)])
}

// parseSteal reads the eighth number of the line "cpu user nice system idle iowait irq softirq steal ..." (proc(5)).
func parseSteal(stat []byte) int64 {
	line, _, _ := bytes.Cut(stat, []byte("\n"))
	f := bytes.Fields(line)
	if len(f) < 9 || string(f[0]) != "cpu" {
		return 0
	}
	n, _ := strconv.ParseInt(string(f[8]), 10, 64) // what is no number counts as 0
	return n
}

// LimitRoom bounds the send buffer of a socket to n bytes, or gives the kernel's own back where n is 0. own is what the
// buffer was before it was bounded [B], as the kernel counts; 0 where it is not. See transport.Conn.Bound.
func LimitRoom(fd, n int, own *int) error {
	locks, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_BUF_LOCK)
	if err != nil {
		return nil // before Linux 5.15 there is no way back to a buffer that grows
	}
	free := func() error {
		if *own == 0 {
			return nil
		}
		if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF, *own/2); err != nil {
			return err
		}
		*own = 0
		return unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_BUF_LOCK, locks&^unix.SOCK_SNDBUF_LOCK)
	}
	if n <= 0 {
		return free()
	}
	if *own == 0 {
		if locks&unix.SOCK_SNDBUF_LOCK != 0 {
			return nil
		}
		if *own, _, err = Buffers(fd); err != nil {
			return err
		}
	}
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF, n); err != nil {
		return err
	}
	if has, _, err := Buffers(fd); err != nil || has/2 < n {
		return errors.Join(err, free())
	}
	return nil
}

// Route returns by which interface packets of a connection leave, and how large the kernel makes them.
func Route(fd int) (plane.Route, error) {
	here, there, err := Ends(fd)
	if err != nil {
		return plane.Route{}, err
	}
	level, option := unix.IPPROTO_IP, unix.IP_MTU
	if there.Addr().Is6() && !there.Addr().Is4In6() {
		level, option = unix.IPPROTO_IPV6, unix.IPV6_MTU
	}
	mtu, err := unix.GetsockoptInt(fd, level, option)
	if err != nil {
		return plane.Route{}, fmt.Errorf("packet size: %w", err)
	}
	routes, err := netlink.RouteGetWithOptions(net.IP(there.Addr().Unmap().AsSlice()),
		&netlink.RouteGetOptions{SrcAddr: net.IP(here.Addr().Unmap().AsSlice())})
	if err == nil && len(routes) == 0 {
		err = unix.ENETUNREACH
	}
	if err != nil {
		return plane.Route{}, err
	}
	return plane.Route{Device: routes[0].LinkIndex, MTU: mtu}, nil
}

// bbrUnit is a gain of 1 (BBR_UNIT in net/ipv4/tcp_bbr.c).
const bbrUnit = 256

// ProbesRTT reports whether bbr, which the connection has, is in PROBE_RTT: there, and nowhere else, its window has a
// gain of 1 (bbr_update_gains).
func ProbesRTT(fd int) (bool, error) {
	info, err := unix.GetsockoptTCPCCBBRInfo(fd, unix.IPPROTO_TCP, unix.TCP_CC_INFO)
	return err == nil && info.Cwnd_gain == bbrUnit, err
}

func ThreadTime() (units.Nanos, error) {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts); err != nil {
		return 0, fmt.Errorf("read the thread's CPU time: %w", err)
	}
	return units.Nanos(ts.Nano()), nil
}
