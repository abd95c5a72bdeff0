package machine

import (
	"maps"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// driver asks the driver of an interface for its settings ("nic.driver", "nic.coalesce.rx_usecs", … as the fingerprint
// has them), and which features are on, by the kernel's names ("tx-tcp-segmentation"). What it does not answer is
// absent.
type driver func(name string) (settings map[string]string, features map[string]bool)

// offloads are the features of a fingerprint: each is on where any of the kernel's features is.
var offloads = []struct {
	key  string
	when []string
}{
	{"nic.tso", []string{"tx-tcp-segmentation", "tx-tcp6-segmentation"}},
	{"nic.gso", []string{"tx-generic-segmentation"}},
	{"nic.gro", []string{"rx-gro"}},
	{"nic.gro_hw", []string{"rx-gro-hw"}},
	{"nic.lro", []string{"rx-lro"}},
	{"nic.rx_checksum", []string{"rx-checksum"}},
	{"nic.tx_checksum", []string{"tx-checksum-ipv4", "tx-checksum-ip-generic", "tx-checksum-ipv6"}},
	{"nic.sg", []string{"tx-scatter-gather"}},
}

func (c collector) nic(env map[string]string, dataAddr string) {
	addr, ok := parseAddr(dataAddr)
	if !ok {
		return
	}
	n, ok := find(c.interfaces(), addr)
	if !ok {
		return
	}
	env["nic.name"] = n.name
	if n.mtu > 0 {
		env["nic.mtu"] = strconv.Itoa(n.mtu)
	}
	if s := segment(n.mtu, addr.Is6(), env["tcp.timestamps"] != "0"); s > 0 {
		env["nic.segment"] = strconv.Itoa(s)
	}
	dir := "sys/class/net/" + n.name
	if speed, err := strconv.Atoi(c.read(dir + "/speed")); err == nil && speed > 0 {
		env["nic.speed_mbps"] = strconv.Itoa(speed) // a link that is down or has no speed says -1
	}
	c.files(env, map[string]string{"nic.duplex": dir + "/duplex", "nic.gro_flush_timeout": dir + "/gro_flush_timeout",
		"nic.txqueuelen": dir + "/tx_queue_len"})
	if node, err := strconv.Atoi(c.read(dir + "/device/numa_node")); err == nil && node >= 0 {
		env["nic.numa_node"] = strconv.Itoa(node) // a machine of one node may say -1
	}
	settings, on := c.driver(n.name)
	maps.Copy(env, settings)
	for _, o := range offloads {
		for _, name := range o.when {
			state, known := on[name]
			switch {
			case known && state:
				env[o.key] = "on"
			case known && env[o.key] == "":
				env[o.key] = "off"
			}
		}
	}
}

// segment is the payload of a TCP segment that fills a packet of the interface: without the headers of IP (20 B, or 40
// of IPv6) and TCP (20 B), and the option of time stamps (12 B; RFC 7323, appendix A). A packet is at most 65,535 B,
// also where the MTU is larger, as on the loopback. A route may allow less: the connections' own segment is in every
// sample.
func segment(mtu int, six, timestamps bool) int {
	s := min(mtu, 65_535) - 20 - 20
	if six {
		s -= 20
	}
	if timestamps {
		s -= 12
	}
	return s
}

// parseAddr reads an IP address with or without a port, a zone or brackets.
func parseAddr(s string) (netip.Addr, bool) {
	if host, _, err := net.SplitHostPort(s); err == nil {
		s = host
	}
	a, err := netip.ParseAddr(strings.Trim(s, "[]"))
	if err != nil || a.IsUnspecified() {
		return netip.Addr{}, false
	}
	return a.Unmap(), true
}

// find returns the interface that has an address. An IPv6 zone, where given, names it too: link-local addresses repeat.
func find(nics []nic, addr netip.Addr) (nic, bool) {
	for _, n := range nics {
		if addr.Zone() != "" && addr.Zone() != n.name {
			continue
		}
		if slices.Contains(n.addrs, addr.WithZone("")) {
			return n, true
		}
		// Every address of 127.0.0.0/8 is the loopback interface's, though it lists one.
		if addr.Is4() && addr.IsLoopback() && slices.ContainsFunc(n.addrs, netip.Addr.IsLoopback) {
			return n, true
		}
	}
	return nic{}, false
}
