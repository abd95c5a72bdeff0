// Package hosts reads hosts.txt, the one file a user writes by hand, and the host ranges of the command line.
//
// A line is one host, one ClusterShell range, or one running daemon, then key=value settings; # begins a comment:
//
//	node[01-16,20] user=bench cpu=2    # 17 hosts, started with ssh
//	gate addr=10.1.0.1 port=7100       # the address and port that peers dial for data
//	calib://[fd00::5]:7077             # a daemon that already runs
//	calib+unix:///run/calib/agent.sock # one on this machine, or behind a socket that ssh -L has brought here
//
// Its opinion: a hosts file decides where traffic goes, so nothing in it is guessed and no fault is ignored. Every
// fault is reported with its file, line and column and with how to correct it, up to ten at a time. Columns count bytes
// from 1.
package hosts

import (
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"strconv"
	"strings"

	"calib/internal/lists"
	"calib/internal/units"
)

const (
	MaxHosts  = 65536    // of one file and of one range
	MaxFile   = 16 << 20 // of a file [B]
	maxErrors = 10
)

// Host is one host as the file describes it. Empty fields were not given.
type Host struct {
	// Name is the name to start an agent on; of a daemon "host:port", or the path of its unix socket.
	Name string
	// Daemon says that an agent already runs and listens at Name.
	Daemon bool
	// Addr is the data-plane address, IPv4 or IPv6 without brackets; empty lets the agent choose.
	Addr string
	// Port is the data-plane port; 0 lets the agent choose.
	Port int
	// User is the user to start the agent as.
	User string
	// CPU is which CPUs the timing thread may be pinned to, as Linux writes them: "2", "0-3,8". "" is any, FreeCPU none.
	CPU string
	// Arch is the host's architecture, as Go names it: "amd64".
	Arch string
}

// Socket reports whether Name is the path of a daemon's unix socket.
func (h Host) Socket() bool { return h.Daemon && strings.HasPrefix(h.Name, "/") }

// Parse reads a hosts file; name is what errors call it. Hosts come in the order of the file. The notes are remarks to
// the user about lines without a fault. The error joins up to ten faults.
func Parse(text []byte, name string) (list []Host, notes []string, err error) {
	p := &parser{file: name, seen: map[string]int{}, ends: map[string]int{}}
	for i, line := range strings.Split(strings.TrimPrefix(string(text), "\ufeff"), "\n") {
		p.line(i+1, strings.TrimSuffix(line, "\r"))
		if len(p.errs) >= maxErrors {
			p.errs = append(p.errs, fmt.Errorf("%s: more faults may follow: mend these first", name))
			break
		}
	}
	switch {
	case len(p.errs) > 0:
		return nil, nil, errors.Join(p.errs...)
	case len(p.hosts) == 0:
		return nil, nil, fmt.Errorf("%s: no hosts: write one host or range on a line, "+
			"for example: node[01-16] user=bench", name)
	}
	return p.hosts, p.notes, nil
}

type field struct {
	text string
	col  int
}

var word = regexp.MustCompile(`[^ \t]+`)

// fields splits a line at spaces and tabs and cuts a comment off.
func fields(line string) []field {
	line, _, _ = strings.Cut(line, "#")
	return lists.Map(word.FindAllStringIndex(line, -1), func(at []int) field {
		return field{line[at[0]:at[1]], at[0] + 1}
	})
}

const (
	scheme     = "calib://"
	unixScheme = "calib+unix://"
)

type parser struct {
	file  string
	hosts []Host
	notes []string
	errs  []error
	seen  map[string]int // host name: line
	ends  map[string]int // "addr port": line
	last  string         // place of a fault
}

// at is a place in the file: columns count bytes from 1.
func (p *parser) at(line, col int) string { return fmt.Sprintf("%s:%d:%d: ", p.file, line, col) }

// fail records a fault, one at each place: an overlap of two ranges may hold thousands of names. It returns no names.
func (p *parser) fail(line, col int, format string, args ...any) (none []string) {
	at := p.at(line, col)
	if at != p.last {
		p.errs = append(p.errs, errors.New(at+fmt.Sprintf(format, args...)))
	}
	p.last = at
	return nil
}

func (p *parser) line(n int, text string) {
	fs := fields(text)
	if len(fs) == 0 {
		return
	}
	faults := len(p.errs)
	text, _, _ = strings.Cut(strings.ReplaceAll(text, "\t", " "), "#")
	if at := strings.IndexFunc(text, units.Controls); at >= 0 {
		p.fail(n, at+1, "%q controls what prints it: delete it", []rune(text[at:])[0])
		return
	}
	names := p.head(n, fs[0])
	daemon := strings.HasPrefix(fs[0].text, scheme) || strings.HasPrefix(fs[0].text, unixScheme)
	proto := Host{Daemon: daemon}
	cols := p.settings(n, &proto, fs[1:])
	if len(p.errs) > faults {
		return
	}
	if col := cols["addr"]; col > 0 && len(names) > 1 {
		p.fail(n, col, "addr= on a range of %d hosts: they cannot share an address; give each a line of its own", len(names))
	}
	if col := cols["user"]; col > 0 && daemon {
		p.fail(n, col, "user= on a daemon: it already runs, nobody logs in; delete user=")
	}
	if proto.Addr != "" && proto.Port != 0 {
		p.once(n, cols["addr"], p.ends, fmt.Sprintf("addr=%s port=%d", proto.Addr, proto.Port))
	}
	if len(p.hosts)+len(names) > MaxHosts {
		p.fail(n, fs[0].col, "more than %d hosts in all", MaxHosts)
	}
	for _, name := range names {
		if !p.once(n, fs[0].col, p.seen, name) {
			continue
		}
		h := proto
		h.Name = name
		p.hosts = append(p.hosts, h)
	}
}

// once records that what is on line n, and fails if it was on a line before.
func (p *parser) once(n, col int, seen map[string]int, what string) bool {
	if first, dup := seen[what]; dup {
		p.fail(n, col, "duplicate %s, first on line %d: delete one of them", what, first)
		return false
	}
	seen[what] = n
	return true
}

// head reads the first word of a line: a host, a range, or a daemon.
func (p *parser) head(n int, f field) []string {
	rest, runs := strings.CutPrefix(f.text, scheme)
	path, waits := strings.CutPrefix(f.text, unixScheme)
	key, _, set := strings.Cut(f.text, "=")
	switch {
	case runs:
		return p.daemon(n, f, rest)
	case waits:
		return p.socket(n, f, path)
	case f.text[0] == '-':
		return p.fail(n, f.col, "%q is no host name: it begins with '-'", f.text)
	case set:
		return p.fail(n, f.col, "a line begins with a host, then its settings: node1 %s=…", key)
	case strings.Contains(f.text, "://"):
		return p.fail(n, f.col, "%q: a running daemon is written %shost:port or %s/path", f.text, scheme, unixScheme)
	}
	names, err := expandRange(f.text)
	if err != nil {
		return p.fail(n, f.col+err.off, "%s%s", err.msg, hint(f.text))
	}
	return names
}

// hint says how to write what a bad host name was probably meant for.
func hint(s string) string {
	a, err := netip.ParseAddr(strings.Trim(s, "[]"))
	end, errEnd := netip.ParseAddrPort(s)
	user, login, has := strings.Cut(s, "@")
	switch {
	case err == nil && a.Is6():
		return fmt.Sprintf(": an IPv6 address goes after a name: node1 addr=%s", a)
	case errEnd == nil && end.Addr().Is6():
		return fmt.Sprintf(": address and port go after a name: node1 addr=%s port=%d, or write %s%s for a running daemon",
			end.Addr(), end.Port(), scheme, s)
	case has && user != "" && login != "":
		return fmt.Sprintf(": write %s user=%s", login, user)
	case strings.Contains(s, ":"):
		host, port, _ := strings.Cut(s, ":")
		return fmt.Sprintf(": write %s port=%s, or %s%s for a running daemon", host, port, scheme, s)
	}
	return ""
}

// daemon reads calib://host:port, calib://[IPv6]:port and calib://range:port into "host:port".
func (p *parser) daemon(n int, f field, rest string) []string {
	if end, err := netip.ParseAddrPort(rest); err == nil && end.Port() > 0 {
		return []string{end.String()}
	}
	colon := strings.LastIndexByte(rest, ':')
	if colon < 0 || strings.HasSuffix(rest, "]") {
		return p.fail(n, f.col, "%q: want a port: %shost:7077", f.text, scheme)
	}
	host, port, col := rest[:colon], rest[colon+1:], f.col+len(scheme)
	if host == "" {
		return p.fail(n, col, "no host before the port: want %shost:%s", scheme, port)
	}
	if _, msg := parsePort(port); msg != "" {
		return p.fail(n, col+colon+1, "%s", msg)
	}
	if strings.Contains(host, ":") {
		return p.fail(n, col, "%q is no IPv6 address in brackets: want %s[::1]:7077", host, scheme)
	}
	names, perr := expandRange(host)
	if perr != nil {
		return p.fail(n, col+perr.off, "%s", perr.msg)
	}
	for i := range names {
		names[i] += ":" + port
	}
	return names
}

func (p *parser) socket(n int, f field, path string) []string {
	switch {
	case !strings.HasPrefix(path, "/") || strings.HasSuffix(path, "/"):
		return p.fail(n, f.col, "%q: want the whole path of a socket: %s/run/calib/agent.sock", f.text, unixScheme)
	case len(path) > maxSocket:
		return p.fail(n, f.col+len(unixScheme), "a path of %d bytes: a unix socket's has %d at most", len(path), maxSocket)
	}
	if at := badRune(strings.ReplaceAll(path, "/", "-")); at >= 0 {
		return p.fail(n, f.col+len(unixScheme)+at,
			"%q in the path of a socket: want letters, digits, '/', '.', '_' and '-'", []rune(path[at:])[0])
	}
	return []string{path}
}

// maxSocket is the longest path of a unix socket that Linux takes (unix(7)).
const maxSocket = 107

// parsePort returns a fault as text, "" if there is none.
func parsePort(s string) (int, string) {
	v, err := strconv.ParseUint(s, 10, 16)
	if err != nil || v == 0 {
		return 0, fmt.Sprintf("port %q: want a number from 1 to 65535", s)
	}
	return int(v), ""
}
