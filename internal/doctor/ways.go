package doctor

import "fmt"

// largestPacket is what the kernel sends at most, whatever the interface takes.
const largestPacket = 65535

// ways are what is wrong on ways that exist: packets that leave by another interface, or smaller than it takes, and
// datagrams that do not pass.
func ways(f Facts) []Finding {
	out := datagrams(f)
	for _, p := range f.Pairs {
		if !p.OK() {
			continue
		}
		for k, w := range p.Ways {
			from, to := f.Hosts[p.Hosts[k]], f.Hosts[p.Hosts[1-k]]
			out = append(out, wayOf(from, to, w)...)
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
			fmt.Sprintf("on %s: ip route replace %s dev %s, or addr= of %s in the hosts file",
				from.Name, hostOf(to.Addr), orNIC(nic), orNIC(w.Device))})
		return out
	}
	if mtu := min(number(from.Env["nic.mtu"], 0), largestPacket); w.MTU > 0 && w.MTU < mtu && !sameMachine {
		out = append(out, Finding{Disturbs, pairCode + "path-mtu", names,
			fmt.Sprintf("packets from %s to %s have at most %d B, though %s takes %d B", from.Name, to.Name, w.MTU, nic, mtu),
			fmt.Sprintf("on %s: tracepath -n %s shows where; ip route get %s whether the route says so",
				from.Name, hostOf(to.Addr), hostOf(to.Addr))})
	}
	return out
}

// datagrams are the ways on which datagrams do not pass, or not all of them. A host that none reach is named once.
func datagrams(f Facts) []Finding {
	var out []Finding
	from, none := map[int]int{}, map[int]int{} // by the host they go to: ways, and those that did not open
	each := func(do func(from, to, sent, arrived int)) {
		for _, p := range f.Pairs {
			for k, w := range p.Ways {
				if p.OK() && w.Trip > 0 {
					do(p.Hosts[k], p.Hosts[1-k], w.Sent, p.Ways[1-k].Received)
				}
			}
		}
	}
	each(func(_, to, sent, _ int) {
		from[to]++
		if sent == 0 {
			none[to]++
		}
	})
	closed := func(h int) bool { return from[h] > 1 && none[h] == from[h] }
	for h, host := range f.Hosts {
		if closed(h) {
			out = append(out, Finding{Disturbs, "udp", []string{host.Name}, "no datagrams reach it: " + noFlood, allowUDP(host)})
		}
	}
	each(func(from, to, sent, arrived int) {
		a, b := f.Hosts[from], f.Hosts[to]
		names := []string{a.Name, b.Name}
		switch {
		case closed(to) || closed(from) || sent > 0 && arrived >= sent: // neither end hears the other where one hears nobody
		case sent == 0:
			out = append(out, Finding{Disturbs, pairCode + "udp", names,
				fmt.Sprintf("datagrams from %s to %s do not pass: %s", a.Name, b.Name, noFlood), allowUDP(b)})
		default:
			out = append(out, Finding{Notes, pairCode + "loss", names,
				fmt.Sprintf("of %d datagrams from %s to %s, %d arrived", sent, a.Name, b.Name, arrived),
				fmt.Sprintf("on %s: ethtool -S %s | grep -iE 'drop|err' shows whether the host loses them",
					b.Name, orNIC(b.Env["nic.name"]))})
		}
	})
	return out
}

const noFlood = "experiment flood cannot see when a port is full"

func allowUDP(h Host) string {
	port := portOf(h.Addr)
	return fmt.Sprintf("on %s: nft insert rule inet filter input udp dport %s accept (with port=%s in the hosts file)",
		h.Name, port, port)
}
