package doctor

import (
	"fmt"
	"strings"
)

const (
	// manyTimes slower than the median of all pairs is a pair that is named, where there are fewPairs or more.
	manyTimes = 5
	fewPairs  = 6
	// largestPacket is what the kernel sends at most, whatever the interface takes.
	largestPacket = 65535
)

// ways are what is wrong on ways that exist: packets that leave by another interface, or smaller than it takes, datagrams that do not
// pass, pairs much slower than the others.
func ways(f Facts) []Finding {
	var out []Finding
	median := summary(f).Median
	for _, p := range f.Pairs {
		if !p.OK() {
			continue
		}
		for k, w := range p.Ways {
			from, to := f.Hosts[p.Hosts[k]], f.Hosts[p.Hosts[1-k]]
			out = append(out, wayOf(from, to, w)...)
			if arrived := p.Ways[1-k].Received; arrived < w.Sent {
				out = append(out, datagramsLost(from, to, w.Sent, arrived))
			} else if w.Sent == 0 && w.Trip > 0 {
				out = append(out, datagramsLost(from, to, 0, 0))
			}
		}
		if trip := max(p.Ways[0].Trip, p.Ways[1].Trip); len(f.Pairs) >= fewPairs && trip > manyTimes**median {
			a, b := f.Hosts[p.Hosts[0]], f.Hosts[p.Hosts[1]]
			out = append(out, Finding{Notes, pairCode + "slow", []string{a.Name, b.Name},
				fmt.Sprintf("a byte takes %.3g µs, %.2g times the median of all pairs", trip*1e6, trip / *median),
				fmt.Sprintf("on %s: tracepath -n %s", a.Name, hostOf(b.Addr))})
		}
	}
	return out
}

// wayOf compares the way of a host's packets with the interface of its data address.
func wayOf(from, to Host, w Way) []Finding {
	var out []Finding
	names, nic := []string{from.Name, to.Name}, from.Env["nic.name"]
	sameMachine := w.Device == "lo" && from.Boot == to.Boot
	if w.Device != "" && nic != "" && w.Device != nic && !sameMachine {
		out = append(out, Finding{Disturbs, pairCode + "interface", names,
			fmt.Sprintf("packets from %s to %s leave by %s, but %s has the data address", from.Name, to.Name, w.Device, nic),
			fmt.Sprintf("on %s: ip route replace %s dev %s, or addr= of %s in the hosts file", from.Name, hostOf(to.Addr), nic, w.Device)})
		return out
	}
	if mtu := min(number(from.Env["nic.mtu"], 0), largestPacket); w.MTU > 0 && w.MTU < mtu && !sameMachine {
		out = append(out, Finding{Disturbs, pairCode + "path-mtu", names,
			fmt.Sprintf("packets from %s to %s have at most %d B, though %s takes %d B", from.Name, to.Name, w.MTU, nic, mtu),
			fmt.Sprintf("on %s: tracepath -n %s shows where; ip route get %s whether the route says so", from.Name, hostOf(to.Addr), hostOf(to.Addr))})
	}
	return out
}

func datagramsLost(from, to Host, sent, arrived int) Finding {
	_, port, _ := strings.Cut(strings.TrimPrefix(to.Addr, hostOf(to.Addr)), ":")
	f := Finding{Disturbs, pairCode + "udp", []string{from.Name, to.Name},
		fmt.Sprintf("datagrams from %s to %s do not pass: experiment flood cannot see when a port is full", from.Name, to.Name),
		fmt.Sprintf("on %s: nft insert rule inet filter input udp dport %s accept (with port=%s in the hosts file)", to.Name, port, port)}
	if arrived > 0 {
		f.Severity, f.Code = Notes, pairCode+"loss"
		f.What = fmt.Sprintf("of %d datagrams from %s to %s, %d arrived", sent, from.Name, to.Name, arrived)
		f.Mend = fmt.Sprintf("on %s: ethtool -S %s | grep -iE 'drop|err' shows whether the host loses them", to.Name, orNIC(to.Env["nic.name"]))
	}
	return f
}
