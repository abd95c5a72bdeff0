// Package doctor says what stands in the way of measuring a cluster, before anything is measured: facts of the hosts
// and of every pair of them go in, findings come out, each with what mends it. It asks nobody anything itself.
package doctor

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"calib/internal/dataset"
	"calib/internal/lists"
)

// Severities of a finding, the worst first.
const (
	Blocks   = "blocks"   // hosts or pairs cannot be measured
	Disturbs = "disturbs" // what is measured is not what the network can do, or an experiment cannot run
	Notes    = "note"     // to know when reading the results
)

var severities = []string{Blocks, Disturbs, Notes}

type Finding struct {
	Severity string   `json:"severity"`
	Code     string   `json:"code"`  // of its kind, for programs
	Hosts    []string `json:"hosts"` // that it concerns; two where it is of a pair
	What     string   `json:"what"`
	Mend     string   `json:"mend"` // a command on these hosts, unless it says where
}

type Host struct {
	dataset.Host        // by the name and address that the run has for it
	Lost         string // why there is no agent; empty where there is one
	// Offset is its wall clock less the coordinator's, certain within Bound; 0 where it is not known.
	Offset, Bound time.Duration
}

type Facts struct {
	Hosts []Host
	Pairs []Pair // by index in Hosts
}

type Report struct {
	Hosts    []HostRow `json:"hosts"`
	Pairs    Pairs     `json:"pairs"`
	Findings []Finding `json:"findings"` // the worst first
	Out      []string  `json:"out"`      // hosts that a run goes on without
	Ready    bool      `json:"ready"`    // nothing blocks
	Usable   int       `json:"usable"`   // hosts that can be measured
}

type HostRow struct {
	Host   string   `json:"host"`
	Addr   string   `json:"addr,omitempty"`
	NIC    string   `json:"nic,omitempty"`
	Mbps   string   `json:"speed_mbps,omitempty"`
	MTU    string   `json:"mtu,omitempty"`
	Driver string   `json:"driver,omitempty"`
	Kernel string   `json:"kernel,omitempty"`
	Virt   string   `json:"virt,omitempty"`
	Offset *float64 `json:"clock_offset_s,omitempty"` // of its wall clock from the coordinator's, certain within Bound
	Bound  float64  `json:"clock_bound_s,omitempty"`
}

func Examine(f Facts) Report {
	r := Report{Hosts: []HostRow{}, Out: []string{}}
	out := Out(len(f.Hosts), f.Pairs)
	for i, h := range f.Hosts {
		r.Hosts = append(r.Hosts, row(h))
		if h.Lost != "" {
			out = append(out, i)
		}
	}
	slices.Sort(out)
	r.Out = append(r.Out, lists.Map(out, func(i int) string { return f.Hosts[i].Name })...)
	_, works := told(len(f.Hosts), f.Pairs)
	r.Usable = lists.Count(works, func(w bool) bool { return w })
	r.Pairs = summary(f)
	r.Findings = merged(slices.Concat(lost(f), unreachable(f), ways(f), alone(f), together(f), differences(f)))
	for i := range r.Findings {
		n := &r.Findings[i]
		n.What, n.Mend = oneLine(n.What), oneLine(n.Mend)
	}
	slices.SortStableFunc(r.Findings, func(a, b Finding) int {
		return cmp.Or(slices.Index(severities, a.Severity)-slices.Index(severities, b.Severity), cmp.Compare(a.Code, b.Code))
	})
	r.Ready = r.Usable >= 2 && (len(r.Findings) == 0 || r.Findings[0].Severity != Blocks)
	return r
}

// merged joins findings that say the same of different hosts.
func merged(in []Finding) []Finding {
	out := []Finding{}
	for _, f := range in {
		k := slices.IndexFunc(out, func(g Finding) bool {
			return g.Code == f.Code && g.What == f.What && g.Mend == f.Mend && g.Severity == f.Severity &&
				!strings.HasPrefix(f.Code, pairCode)
		})
		if k < 0 {
			out = append(out, f)
			continue
		}
		for _, h := range f.Hosts {
			if !slices.Contains(out[k].Hosts, h) {
				out[k].Hosts = append(out[k].Hosts, h)
			}
		}
	}
	return out
}

func row(h Host) HostRow {
	r := HostRow{
		Host: h.Name, Addr: h.Addr, NIC: h.Env["nic.name"], Mbps: h.Env["nic.speed_mbps"], MTU: h.Env["nic.mtu"],
		Driver: h.Env["nic.driver"], Kernel: h.Env["kernel"], Virt: cmp.Or(h.Env["container"], h.Env["virt"]),
	}
	if h.Bound > 0 {
		r.Offset, r.Bound = new(h.Offset.Seconds()), h.Bound.Seconds()
	}
	return r
}

func lost(f Facts) []Finding {
	var out []Finding
	for _, h := range f.Hosts {
		if h.Lost != "" {
			out = append(out, Finding{Blocks, "no-agent", []string{h.Name}, "its agent does not run: " + h.Lost,
				"start the agent by hand with the command of --launch, and read its error; or take the host out of the hosts file"})
		}
	}
	return out
}
