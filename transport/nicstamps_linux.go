package transport

import (
	"net"
	"net/netip"

	"golang.org/x/sys/unix"
)

func sysStampMessages(fd, flags int) error {
	return unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPING, flags)
}

// sysNICStamps reports whether the network interface of a connection stamps every packet both ways with a clock of its
// own: its driver says that it can (ethtool -T), and it has been switched on (hwstamp_ctl -t 1 -r 1). calib does not
// switch it on: it is a setting of the host.
func sysNICStamps(fd int) bool {
	name, ok := sysInterface(fd)
	if !ok {
		return false
	}
	can, err := unix.IoctlGetEthtoolTsInfo(fd, name)
	const needed = unix.SOF_TIMESTAMPING_TX_HARDWARE | unix.SOF_TIMESTAMPING_RX_HARDWARE | unix.SOF_TIMESTAMPING_RAW_HARDWARE
	if err != nil || can.So_timestamping&needed != needed {
		return false
	}
	does, err := unix.IoctlGetHwTstamp(fd, name)
	return err == nil && does.Tx_type == unix.HWTSTAMP_TX_ON && does.Rx_filter == unix.HWTSTAMP_FILTER_ALL
}

// sysInterface is the interface that has the local address of a connection.
func sysInterface(fd int) (name string, ok bool) {
	here, _, err := sysEnds(fd)
	if err != nil {
		return "", false
	}
	all, err := net.Interfaces()
	if err != nil {
		return "", false
	}
	for _, ifi := range all {
		addrs, err := ifi.Addrs()
		if err != nil {
			continue
		}
		for _, a := range addrs {
			p, err := netip.ParsePrefix(a.String())
			if err == nil && p.Addr().Unmap() == here.Addr().WithZone("") {
				return ifi.Name, true
			}
		}
	}
	return "", false
}
