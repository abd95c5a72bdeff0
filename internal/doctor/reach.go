package doctor

import (
	"fmt"
	"slices"
	"strings"
	"syscall"

	"calib/internal/hosts"
	"calib/internal/lists"
)

// pairCode begins the codes of findings about two hosts, which are not joined with others.
const pairCode = "pair-"

// NoName is the code of the one finding about names that do not resolve.
const NoName = "no-name"

// allow lets connections to the host that waits for them in.
const allow = "on {waits}: nft insert rule inet filter input tcp dport {port} accept " +
	"(with port={port} in the hosts file, so that it stays the same)"

// reason is why two hosts have no connection: what a text about it has, what to say of it, and what mends it.
type reason struct {
	has              []string
	code, what, mend string
}

// reasons are in the order to look. The texts of the kernel's errors are part of Go's own tables.
var reasons = []reason{
	{[]string{": lookup "}, NoName, "", ""}, // first: it may have failed by any of the others
	{[]string{syscall.ECONNREFUSED.Error()}, "refused",
		"{waits} answers {dials} that port {port} is closed: a firewall there rejects it, " +
			"or {host} is another machine's address", allow},
	{[]string{syscall.EHOSTUNREACH.Error(), syscall.EACCES.Error()}, "rejected",
		"{dials} is told that {addr} is not reachable: nobody has that address, or a firewall rejects the connection (as " +
			"firewalld does)",
		"on {dials}: ip neigh show {host}; if it has an address: " + allow + ", or firewall-cmd --add-port={port}/tcp"},
	{[]string{"ticket refused"}, "ticket",
		"{waits} refuses the ticket of {dials}: their clocks are days apart, or another calib listens on port {port}",
		"chronyc makestep"},
	// Of a name with two addresses both errors are there: where one is silent, the other family may have no route.
	{[]string{"timed out", "deadline passed", "did not end within"}, "silent",
		"no answer from {waits} to {dials} at {addr}: a firewall drops it, or the address is not on this network", allow},
	{[]string{syscall.ENETUNREACH.Error()}, "no-route", "{dials} has no way to {host} of {waits}",
		"on {dials}: ip route get {host} shows it; ip route add {host} dev INTERFACE, or give {waits} an address of the " +
			"common network by addr= in the hosts file"},
	{[]string{""}, other, "{text}", "on {dials}: nc -v {host} {port}"},
}

const other = "other"

// why reads the reason from what the agents said.
func why(text string) reason {
	has := func(part string) bool { return strings.Contains(text, part) }
	return reasons[slices.IndexFunc(reasons, func(r reason) bool { return slices.ContainsFunc(r.has, has) })]
}

// unresolved reports whether the host that dials does not find the address of the other.
func (p Pair) unresolved() bool { return why(p.Errors[0]).code == NoName }

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

// unreachable are hosts and pairs without a connection. What is wrong with a host is said once.
func unreachable(f Facts) []Finding {
	out := Out(len(f.Hosts), f.Pairs)
	found := unresolved(f)
	for _, h := range out {
		partner := func(p Pair) int { return p.Hosts[1-slices.Index(p.Hosts[:], h)] }
		tried := lists.Where(f.Pairs, func(p Pair) bool {
			return slices.Contains(p.Hosts[:], h) && !p.Skipped && !p.unresolved() && !slices.Contains(out, partner(p))
		})
		if len(tried) == 0 {
			continue // each of its partners is out too
		}
		fn := f.pairFinding(tried[0])
		fn.Code = strings.TrimPrefix(fn.Code, pairCode)
		fn.Hosts = []string{f.Hosts[h].Name}
		if len(tried) > 1 {
			from := lists.Map(tried, func(p Pair) string { return f.Hosts[partner(p)].Name })
			fn.What += fmt.Sprintf("; other hosts cannot reach it either (tried: %s)", strings.Join(from, ", "))
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

func (f Facts) pairFinding(p Pair) Finding {
	a, b := f.Hosts[p.Hosts[0]], f.Hosts[p.Hosts[1]]
	names := []string{a.Name, b.Name}
	if p.Errors == [2]string{} {
		return Finding{Blocks, pairCode + "stall", names,
			fmt.Sprintf("small packets pass between %s and %s, full-size ones do not: the MTU is smaller "+
				"somewhere on the path, and no ICMP message says so", a.Name, b.Name),
			fmt.Sprintf("ip link set dev %s mtu 1500 on both, or the switch's MTU raised; "+
				"ping -M do -s %d %s finds the size", orNIC(a.Env["nic.name"]), maxPing(a, b), hostOf(b.Addr))}
	}
	text := p.Errors[0] // the host that waits to be dialled learns less
	if p.Errors[1] != "" && why(text).code == other {
		text = p.Errors[1]
	}
	fill := strings.NewReplacer("{dials}", a.Name, "{waits}", b.Name, "{addr}", b.Addr, "{host}", hostOf(b.Addr),
		"{port}", portOf(b.Addr), "{text}", text)
	r := why(text)
	if r.code == NoName { // of the host that waits, which looks nothing up for this
		r = reasons[len(reasons)-1]
	}
	return Finding{Blocks, pairCode + r.code, names, fill.Replace(r.what), fill.Replace(r.mend)}
}

// maxPing is the payload of a ping that fills a packet of both hosts' interfaces: without 28 B of headers.
func maxPing(a, b Host) int {
	return max(0, min(number(a.Env["nic.mtu"], 1500), number(b.Env["nic.mtu"], 1500))-28)
}
