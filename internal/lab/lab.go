package lab

import (
	"time"

	"calib/internal/netspec"
)

// Options say how a lab is built. The zero value is the default lab.
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

// Congestion controls of a lab's hosts.
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
	if o.Name == "" {
		o.Name = DefaultName
	}
	if o.Congestion == "" {
		o.Congestion = DefaultCongestion
	}
	if o.Dir == "" {
		o.Dir = DefaultDir()
	}
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
	StatsPath string `json:"stats_path"`
	LogPath   string `json:"log_path"`
	// Wire is the process that moves the packets.
	Wire Process `json:"wire"`
	// Holder is the process that owns the user namespace of a lab built without root.
	Holder Process `json:"holder"`
	// UserNamespace is the inode of that user namespace; 0 is none.
	UserNamespace uint64 `json:"user_namespace,omitempty"`
}

// Hosts returns the names of the lab's hosts, which are its namespaces'.
func (s *State) Hosts() []string {
	names := make([]string, s.Spec.Hosts)
	for i := range names {
		names[i] = HostName(s.Name, i)
	}
	return names
}

// Process is a process that can be told from a later one with the same number. The zero value is none.
type Process struct {
	PID int `json:"pid,omitempty"`
	// Start is when it started, in the kernel's clock ticks since boot.
	Start uint64 `json:"start,omitempty"`
}

// Status is a lab as found.
type Status struct {
	State
	Up bool `json:"up"`
	// Problem says what is wrong with a lab that is not up, and how to mend it.
	Problem string `json:"problem,omitempty"`
}

// Environment variables a command run by Run finds.
const (
	EnvHosts  = "CALIB_LAB_HOSTS"  // path of the hosts file
	EnvLaunch = "CALIB_LAB_LAUNCH" // prefix that runs a command on {host}
	EnvStats  = "CALIB_LAB_STATS"  // path for ReadStats
)
