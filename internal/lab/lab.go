package lab

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"net/netip"
	"regexp"
	"strings"
	"time"

	"calib/internal/lists"
	"calib/internal/netspec"
)

type Options struct {
	Name string // "" is DefaultName
	// CPU, if not nil, is the CPU the wire is pinned to.
	CPU *int
	// Idle lets idle CPUs fall into states they leave slowly. Otherwise they are kept awake, if that is allowed (it
	// takes root): hosts then answer tens of microseconds sooner and more evenly, but all CPUs run all the time the lab
	// is up, for which a virtual machine with a quota may be stopped for tens of milliseconds now and then.
	Idle bool
	// Congestion is the TCP congestion control of the hosts; "" is DefaultCongestion, and OwnCongestion is the
	// machine's.
	Congestion string
	// Dir keeps the lab's files; "" is DefaultDir.
	Dir string
}

type Command struct {
	// Args is the command; {hosts} in it stands for the path of the hosts file.
	Args           []string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Strict turns the success of a command on a late lab into exit code 5.
	Strict bool
}

const (
	// DefaultCongestion has no times of its own. BBR paces with a timer, which fires on the wire's CPU where an
	// acknowledgement has started it: 20 µs and more in a virtual machine, in which the next packet is late. Cubic ends
	// its slow start when round trips become 4 ms longer (HyStart), which in a slowed network is one message in a
	// queue. Every Linux kernel has reno.
	DefaultCongestion = "reno"
	// OwnCongestion is no name of the kernel's: it leaves the machine's default.
	OwnCongestion = "own"
)

func (o Options) withDefaults() Options {
	o.Name, o.Congestion = cmp.Or(o.Name, DefaultName), cmp.Or(o.Congestion, DefaultCongestion)
	o.Dir = cmp.Or(o.Dir, DefaultDir())
	return o
}

// State is what is kept about a lab, in Dir/NAME.json, from before anything of it exists until after all of it is gone.
type State struct {
	Name    string       `json:"name"`
	Spec    netspec.Spec `json:"spec"`
	Created time.Time    `json:"created"`
	// Launch is the prefix that runs a command on a host, with {host} for its name.
	Launch    string `json:"launch"`
	HostsPath string `json:"hosts_path"`
	// StatsPath is a Unix socket that answers a connection with one JSON document, a Stats.
	StatsPath string  `json:"stats_path"`
	LogPath   string  `json:"log_path"`
	Wire      Process `json:"wire"` // which keeps that user namespace
	// UserNamespace is the inode of the user namespace of a lab built without root; 0 is none.
	UserNamespace uint64 `json:"user_namespace,omitempty"`
}

// Hosts returns the names of the lab's hosts, which are its namespaces'.
func (s *State) Hosts() []string {
	return lists.Map(lists.Upto(s.Spec.Hosts), func(i int) string { return HostName(s.Name, i) })
}

// Process is a process that can be told from a later one with the same number. The zero value is none.
type Process struct {
	PID int `json:"pid,omitempty"`
	// Start is when it started, in the kernel's clock ticks since boot.
	Start uint64 `json:"start,omitempty"`
}

type Status struct {
	State
	Up bool `json:"up"`
	// Problem says what is wrong with a lab that is not up, and how to mend it.
	Problem string `json:"problem,omitempty"`
}

const (
	EnvHosts  = "CALIB_LAB_HOSTS"  // path of the hosts file
	EnvLaunch = "CALIB_LAB_LAUNCH" // prefix that runs a command on {host}
	EnvStats  = "CALIB_LAB_STATS"  // path for ReadStats
)

const DefaultName = "calib"

// Headers of a full segment: IPv4 20 bytes, TCP 20, and TCP timestamps, which Linux sends by default, 12. A device
// whose MTU is MSS + headers carries exactly MSS bytes of payload in a full segment (1448 with the usual 1500).
const headers = 20 + 20 + 12

// network is 10.77.0.0/16, in which host i (from 0) has the address i+1. Addresses exist inside the namespaces only,
// which have no way out, so they cannot clash with the machine's own.
const (
	network     = 10<<8 | 77
	networkBits = 16
)

func MTU(s *netspec.Spec) int { return s.MSS + headers }

func Addr(i int) netip.Addr {
	var a [4]byte
	binary.BigEndian.PutUint32(a[:], network<<networkBits|uint32(i+1))
	return netip.AddrFrom4(a)
}

// hostOf returns the index of the host with an address, or a number that is no host's.
func hostOf(b []byte) int {
	a := binary.BigEndian.Uint32(b)
	if a>>networkBits != network {
		return -1
	}
	return int(a&0xffff) - 1
}

func HostName(lab string, i int) string { return fmt.Sprintf("%s-h%d", lab, i) }

var nameForm = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,31}$`)

func checkName(name string) error {
	if !nameForm.MatchString(name) {
		return fmt.Errorf("%w: lab name %q: want 1 to 32 of a-z, 0-9 and -, not beginning with -", ErrUse, name)
	}
	return nil
}

// HostsFile returns the text of the lab's hosts file. Its comments say how to start a command on a host.
func HostsFile(name string, s *netspec.Spec, launch string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# lab %s: %d hosts, %s medium, MSS %d bytes (MTU %d)\n", name, s.Hosts, s.Mode, s.MSS, MTU(s))
	fmt.Fprintf(&b, "# a command on a host: %s\n", launch)
	fmt.Fprintf(&b, "# calibrate it: calib run --hosts THIS-FILE --launch '%s'\n", launch)
	for i := range s.Hosts {
		// The process that plays the network needs any CPU at once: an agent that has one of its own would keep it.
		fmt.Fprintf(&b, "%s addr=%s cpu=none\n", HostName(name, i), Addr(i))
	}
	return b.String()
}
