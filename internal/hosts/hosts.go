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
	"regexp"
	"strings"

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
	return units.Each(word.FindAllStringIndex(line, -1), func(at []int) field {
		return field{line[at[0]:at[1]], at[0] + 1}
	})
}
