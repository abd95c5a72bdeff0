package doctor

import (
	"fmt"
	"slices"
	"strings"
	"syscall"

	"calib/internal/hosts"
)

// pairCode begins the codes of findings about two hosts, which are not joined with others.
const pairCode = "pair-"

// NoName is the code of the one finding about names that do not resolve.
const NoName = "no-name"

// reason is why two hosts have no connection.
type reason int

const (
	other reason = iota
	refused
	silent
	rejected
	noRoute
	noName
	ticket
)

// why reads the reason from what the agents said. The texts of the kernel's errors are part of Go's own tables.
func why(text string) reason {
	has := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(text, p) })
	}
	switch {
	case has(": lookup "): // first: it may have failed by any of the others
		return noName
	case has(syscall.ECONNREFUSED.Error()):
		return refused
	case has(syscall.ENETUNREACH.Error()):
		return noRoute
	case has(syscall.EHOSTUNREACH.Error(), syscall.EACCES.Error()):
		return rejected
	case has("ticket refused"):
		return ticket
	case has("timed out", "deadline passed", "did not end within"):
		return silent
	}
	return other
}

// unresolved reports whether the host that dials does not find the address of the other.
func (p Pair) unresolved() bool { return why(p.Errors[0]) == noName }

// unresolved are the hosts whose names others cannot resolve, and those that reach nobody because of that: one finding
// of all.
func unresolved(f Facts) []Finding {
	n := len(f.Hosts)
	_, works := told(n, f.Pairs)
	dials, waits := make([]bool, n), make([]bool, n)
	for _, p := range f.Pairs {
		if p.unresolved() {
			dials[p.Hosts[0]], waits[p.Hosts[1]] = true, true
		}
	}
	var of, by, names []string
	for i, h := range f.Hosts {
		if dials[i] {
			by = append(by, h.Name)
		}
		if waits[i] {
			names = append(names, hostOf(h.Addr))
		}
		if waits[i] || dials[i] && !works[i] {
			of = append(of, h.Name)
		}
	}
	if of == nil {
		return nil
	}
	return []Finding{{Blocks, NoName, of, fmt.Sprintf("%s cannot resolve %s", hosts.Fold(by), hosts.Fold(names)),
		"add addr= to these hosts in the hosts file, or the names to /etc/hosts on every host"}}
}

// trouble is why a pair has no connection: what to say of it, and what mends it.
func (f Facts) trouble(p Pair) (code, what, mend string) {
	dials, waits := f.Hosts[p.Hosts[0]], f.Hosts[p.Hosts[1]]
	host, port := hostOf(waits.Addr), portOf(waits.Addr)
	text := p.Errors[0] // the host that waits to be dialled learns less
	if p.Errors[1] != "" && why(text) == other {
		text = p.Errors[1]
	}
	allow := fmt.Sprintf("on %s: nft insert rule inet filter input tcp dport %s accept (with port=%s in the hosts file, so that it stays the same)", waits.Name, port, port)
	switch why(text) {
	case refused:
		return "refused", fmt.Sprintf("%s answers %s that port %s is closed: a firewall there rejects it, or %s is another machine's address", waits.Name, dials.Name, port, host), allow
	case silent:
		return "silent", fmt.Sprintf("no answer from %s to %s at %s: a firewall drops it, or the address is not on this network", waits.Name, dials.Name, waits.Addr), allow
	case rejected:
		return "rejected", fmt.Sprintf("%s is told that %s is not reachable: nobody has that address, or a firewall rejects the connection (as firewalld does)", dials.Name, waits.Addr),
			fmt.Sprintf("on %s: ip neigh show %s; if it has an address: %s, or firewall-cmd --add-port=%s/tcp", dials.Name, host, allow, port)
	case noRoute:
		return "no-route", fmt.Sprintf("%s has no way to %s of %s", dials.Name, host, waits.Name),
			fmt.Sprintf("on %s: ip route get %s shows it; ip route add %s dev INTERFACE, or give %s an address of the common network by addr= in the hosts file", dials.Name, host, host, waits.Name)
	case ticket:
		return "ticket", fmt.Sprintf("%s refuses the ticket of %s: their clocks are days apart, or another calib listens on port %s", waits.Name, dials.Name, port), "chronyc makestep"
	}
	return "other", text, fmt.Sprintf("on %s: nc -v %s %s", dials.Name, host, port)
}

// unreachable are hosts and pairs without a connection. What is wrong with a host is said once.
func unreachable(f Facts) []Finding {
	out := Out(len(f.Hosts), f.Pairs)
	found := unresolved(f)
	for _, h := range out {
		var from []string
		var first *Pair
		for i, p := range f.Pairs {
			k := slices.Index(p.Hosts[:], h)
			if k < 0 || p.Skipped || p.unresolved() || slices.Contains(out, p.Hosts[1-k]) {
				continue
			}
			from = append(from, f.Hosts[p.Hosts[1-k]].Name)
			if first == nil {
				first = &f.Pairs[i]
			}
		}
		if first == nil {
			continue // each of its partners is out too
		}
		fn := f.pairFinding(*first)
		fn.Code = strings.TrimPrefix(fn.Code, pairCode)
		fn.Hosts = []string{f.Hosts[h].Name}
		if len(from) > 1 {
			fn.What += fmt.Sprintf("; nor do others reach it: tried were %s", strings.Join(from, ", "))
		}
		found = append(found, fn)
	}
	for _, p := range f.Pairs {
		if p.OK() || p.Skipped || p.unresolved() || slices.Contains(out, p.Hosts[0]) || slices.Contains(out, p.Hosts[1]) {
			continue
		}
		found = append(found, f.pairFinding(p))
	}
	return found
}

// pairFinding says what is wrong between two hosts.
func (f Facts) pairFinding(p Pair) Finding {
	a, b := f.Hosts[p.Hosts[0]], f.Hosts[p.Hosts[1]]
	names := []string{a.Name, b.Name}
	if p.Errors == [2]string{} {
		return Finding{Blocks, pairCode + "stall", names,
			fmt.Sprintf("small packets pass between %s and %s, whole ones do not: something on the way takes only smaller ones and does not say so", a.Name, b.Name),
			fmt.Sprintf("ip link set dev %s mtu 1500 on both, or the switch's MTU raised; ping -M do -s %d %s finds the size", orNIC(a.Env["nic.name"]), maxPing(a, b), hostOf(b.Addr))}
	}
	code, what, mend := f.trouble(p)
	return Finding{Blocks, pairCode + code, names, what, mend}
}

// maxPing is the payload of a ping that fills a packet of both hosts' interfaces: without 28 B of headers.
func maxPing(a, b Host) int {
	return max(0, min(number(a.Env["nic.mtu"], 1500), number(b.Env["nic.mtu"], 1500))-28)
}
