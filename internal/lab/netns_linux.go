package lab

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"calib/internal/netspec"
	"calib/internal/units"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
)

const netnsDir = "/run/netns"

const device = "calib0"

// queueLen is the length of the device's queue [packets]. The wire empties it within microseconds; it is long enough to
// hold a burst of datagrams, which no window holds back, while the wire is busy with those of other hosts.
const queueLen = 20000

// onThread runs f on a thread of its own that ends with f, so that no other goroutine can ever run in a namespace that
// f entered. It is never the first thread of the process: that does not end, and by its namespace others tell where the
// process is.
func onThread(f func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		if unix.Gettid() == unix.Getpid() {
			done <- onThread(f) // this goroutine keeps the first thread meanwhile
			runtime.UnlockOSThread()
			return
		}
		done <- f() // never unlocked: the runtime ends the thread with the goroutine
	}()
	return <-done
}

// privateRun gives this mount namespace a /run of its own, where namespaces can be named.
func privateRun() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	if err := unix.Mount("tmpfs", "/run", "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=0755"); err != nil {
		return fmt.Errorf("mount a private /run: %w", err)
	}
	return nil
}

// shareNamespaces makes the directory of namespaces a mount of its own, as the first `ip netns add` does. That would
// else hide what is mounted there by then, so that it could be removed no more.
func shareNamespaces() error {
	share := func() error { return unix.Mount("", netnsDir, "none", unix.MS_SHARED|unix.MS_REC, "") }
	err := os.MkdirAll(netnsDir, 0o755)
	if err == nil {
		err = share()
	}
	if errors.Is(err, unix.EINVAL) { // it is no mount yet
		if err = unix.Mount(netnsDir, netnsDir, "none", unix.MS_BIND|unix.MS_REC, ""); err == nil {
			err = share()
		}
	}
	if err != nil {
		return fmt.Errorf("share %s: %w", netnsDir, err)
	}
	return nil
}

// deleteNamespace removes a name, whether or not a namespace is still mounted on it; none is no error.
func deleteNamespace(name string) error {
	path := filepath.Join(netnsDir, name)
	err := unix.Unmount(path, unix.MNT_DETACH)
	if err == nil || errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOENT) {
		err = removeFile(path)
	}
	if err != nil {
		return fmt.Errorf("delete namespace %s: %w", name, err)
	}
	return nil
}

type tun struct {
	fd int // does not block; the device lives as long as it is open
	// precise: TCP between the lab's hosts has timestamps in microseconds.
	precise bool
}

// kernelTCP is what the hosts' kernels do in the lab as nowhere else.
type kernelTCP struct {
	congestion string        // OwnCongestion is the machine's
	minRTO     time.Duration // least retransmission timeout; 0 is the kernel's own
}

// maxRTO is a lab's longest least retransmission timeout: a real loss would stall a connection for as long.
const maxRTO = time.Second

// queuedMessage is the longest message that a queue of the network is made of, for tcpOf: that of a collective
// operation, not of a stream, whose queue is as long as its window.
const queuedMessage = 64 * units.KiB

// tcpOf says what TCP does in the network of spec. One that is N times slower than the network it stands for has a
// least retransmission timeout N times as long: a queue that takes 20 ms there must not look like a loss here, nor a
// connection that rests as long be taken for one to start slowly. Nor must the queue of a host that sends a message to
// every other.
func tcpOf(spec *netspec.Spec, congestion string) kernelTCP {
	slowest := 0.0
	for host := range spec.Hosts {
		next := (host + 1) % spec.Hosts
		slowest = max(slowest, spec.Slowest(host, next), spec.Slowest(next, host))
	}
	queue := float64(spec.Hosts-1) * float64(queuedMessage) * slowest
	least := max(time.Duration(spec.Slowdown*float64(kernelRTO)), time.Duration(queue*float64(time.Second)))
	t := kernelTCP{congestion: congestion}
	if least > time.Duration(kernelRTO) {
		t.minRTO = min(least, maxRTO)
	}
	return t
}

// makeHost makes the namespace of host i, and the device in it with its address.
func makeHost(name string, i, mtu int, tcp kernelTCP) (t tun, err error) {
	err = onThread(func() error {
		ns, err := netns.NewNamed(name) // which the thread is in from then on
		if err != nil {
			return fmt.Errorf("create namespace %s: %w", name, err)
		}
		defer ns.Close()
		lo, err := netlink.LinkByName("lo")
		if err == nil {
			err = netlink.LinkSetUp(lo)
		}
		if err != nil {
			return fmt.Errorf("namespace %s: bring up lo: %w", name, err)
		}
		if t.fd, err = openTUN(); err == nil {
			t.precise, err = configure(i, mtu, tcp)
		}
		if err != nil {
			err = fmt.Errorf("host %s: %w", name, err)
		}
		return err
	})
	return t, err
}

func openTUN() (int, error) {
	fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	switch {
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ENXIO), errors.Is(err, unix.ENODEV):
		return -1, fmt.Errorf("open /dev/net/tun: %w: load it with `modprobe tun`", err)
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		return -1, fmt.Errorf("%w: open /dev/net/tun: %w: run as root, or let users open it with `chmod 0666 /dev/net/tun`",
			ErrPermission, err)
	case err != nil:
		return -1, fmt.Errorf("open /dev/net/tun: %w", err)
	}
	req, err := unix.NewIfreq(device)
	if err == nil {
		req.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI)
		err = unix.IoctlIfreq(fd, unix.TUNSETIFF, req)
	}
	if err != nil {
		unix.Close(fd)
		return -1, fmt.Errorf("create TUN device %s: %w", device, err)
	}
	return fd, nil
}

// configure brings the device up. It reports whether TCP over it has timestamps in microseconds.
func configure(i, mtu int, tcp kernelTCP) (precise bool, err error) {
	link, err := netlink.LinkByName(device)
	if err != nil {
		return false, fmt.Errorf("find %s: %w", device, err)
	}
	err = errors.Join(netlink.LinkSetMTU(link, mtu), netlink.LinkSetTxQLen(link, queueLen), netlink.LinkSetUp(link))
	if err != nil {
		return false, fmt.Errorf("bring up %s with MTU %d and a queue of %d packets: %w", device, mtu, queueLen, err)
	}
	// Timestamps without a random offset, so that they tell the wire when a segment was made.
	plain := os.WriteFile("/proc/sys/net/ipv4/tcp_timestamps", []byte("2\n"), 0) == nil
	if tcp.congestion != OwnCongestion { // the route decides; this is what agents report, where a namespace can have it
		_ = os.WriteFile("/proc/sys/net/ipv4/tcp_congestion_control", []byte(tcp.congestion+"\n"), 0)
	}
	precise, err = addAddr(link, Addr(i), tcp)
	return plain && precise, err
}

// addAddr gives the device an address and the route to the other hosts, on which TCP does as tcp says. Where the kernel
// can (Linux 6.7), it has timestamps in microseconds of the monotonic clock there, which precise reports.
func addAddr(link netlink.Link, a netip.Addr, tcp kernelTCP) (precise bool, err error) {
	addr := netlink.Addr{IPNet: &net.IPNet{IP: a.AsSlice(), Mask: net.CIDRMask(networkBits, a.BitLen())}}
	addr.Flags = unix.IFA_F_NOPREFIXROUTE
	if err := netlink.AddrAdd(link, &addr); err != nil {
		return false, fmt.Errorf("add address %v to %s: %w", a, device, err)
	}
	prefix := netip.PrefixFrom(a, networkBits).Masked()
	route := netlink.Route{
		LinkIndex: link.Attrs().Index, Scope: netlink.SCOPE_LINK, Features: unix.RTAX_FEATURE_TCP_USEC_TS,
		Dst: &net.IPNet{IP: prefix.Addr().AsSlice(), Mask: addr.Mask},
	}
	if tcp.congestion != OwnCongestion {
		route.Congctl = tcp.congestion
	}
	if tcp.minRTO > 0 {
		route.RtoMin, route.RtoMinLock = int(tcp.minRTO/time.Millisecond), true
	}
	err = netlink.RouteAdd(&route)
	if precise = err == nil; errors.Is(err, unix.EINVAL) {
		route.Features = 0
		err = netlink.RouteAdd(&route)
	}
	if errors.Is(err, unix.EINVAL) && route.Congctl != "" {
		return false, fmt.Errorf("add route to %v by %s with congestion control %q: %w: the kernel has those in "+
			"/proc/sys/net/ipv4/tcp_available_congestion_control; --congestion NAME takes one of them, "+
			"or %q for the machine's default", prefix, device, tcp.congestion, err, OwnCongestion)
	}
	if err != nil {
		return false, fmt.Errorf("add route to %v by %s: %w", prefix, device, err)
	}
	return precise, nil
}
