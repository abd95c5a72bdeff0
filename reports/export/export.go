// Package export writes what a run found as the input files of other programs: simulators, emulators, benchmark tools
// and monitoring.
//
// The opinion of this package: an export is a promise that the other program will compute what calib measured. Units,
// rounding and rules of evaluation are where such exports go wrong in silence. So the tests of every target read its
// files under the other program's own rules, and what these compute must be the fit again. A number that calib has not
// measured is never made up: a missing parameter is an error that says how to measure it, and so is a value that the
// format cannot hold, or one that its status forbids to use. A provisional one is used, with a warning. What the format
// rounds or cannot say is a warning, which stands in the file too where the format has comments.
//
// The same Params and Options give the same bytes.
package export

import (
	"embed"
	"errors"
	"fmt"
	"strings"

	"calib/internal/params"
)

var (
	// ErrTarget reports a target that does not exist.
	ErrTarget = errors.New("no such export target")
	// ErrMissing reports a parameter that a target needs and the run has not measured.
	ErrMissing = errors.New("not measured")
	// ErrLimit reports a value that a target's format cannot hold.
	ErrLimit = errors.New("beyond what the format can hold")
	// ErrOption reports an option that a target cannot take.
	ErrOption = errors.New("not possible for this target")
)

// Options of an export. The zero value means the defaults.
type Options struct {
	Hosts    int     // in the target's system; 0 is the run's own
	Device   string  // network interface in commands; "" means eth0
	Slowdown float64 // how many times slower the target's network is; 0 is as little as the target needs
	Rules    []Rules // choices of Open MPI's algorithms, for the targets that are made of them
	Version  string  // of calib, for comments in the file; "" is left out
}

// Target is another program's input file.
type Target struct {
	Name     string // "loggopsim"
	About    string // one line: what the file is and which program reads it
	File     string // name of the file where none is chosen
	NoHosts  bool   // the file is of the run, or of any number of hosts, and Options.Hosts is an error
	Device   bool   // the file names a network device; for other targets Options.Device is an error
	Slowdown bool   // the file's network may be slower than the run's; for other targets Options.Slowdown is an error
	Rules    bool   // the file is made of Options.Rules; for other targets they are an error
	write    func(in *input) []byte
}

func Targets() []Target {
	return []Target{
		{Name: "astra-sim", File: "network.yml", write: writeAstraSim,
			About: "ASTRA-sim: network of its analytical backend, a switch with bandwidth and latency"},
		{Name: "atlahs", File: "atlahs.yaml", write: writeAtlahs, NoHosts: true,
			About: "ATLAHS: configuration of its LogGOPSim, in ns, with G as a fraction"},
		{Name: "csv", File: "params.csv", write: writeCSV, NoHosts: true,
			About: "CSV: a row for every parameter, coefficient, link and size, with intervals"},
		{Name: "dimemas", File: "dimemas.cfg", write: writeDimemas,
			About: "Dimemas: configuration with nodes, latency, bandwidth and buses"},
		{Name: "gobench", File: "bench.txt", write: writeGobench, NoHosts: true,
			About: "Go benchmark format: T of every size, parameters and links, for benchstat"},
		{Name: "lab", File: "lab.yaml", write: writeLab, Slowdown: true,
			About: "calib lab: emulated cluster of the run's network, for calib lab run and calib selfcheck"},
		{Name: "loggopsim", File: "loggopsim.sh", write: writeLogGOPSim,
			About: "LogGOPSim: command line with L, o, g, G, O, S as integers, and their unit of time"},
		{Name: "mininet", File: "topology.py", write: writeMininet,
			About: "Mininet: Python script of hosts at a switch over TCLink, with bw, delay and queue"},
		{Name: "ompi", File: "ompi-rules.conf", write: writeOmpi, NoHosts: true, Rules: true,
			About: "Open MPI 4 and 5: rules of coll/tuned, the classic file of coll_tuned_dynamic_rules_filename"},
		{Name: "ompi-json", File: "ompi-rules.json", write: writeOmpiJSON, NoHosts: true, Rules: true,
			About: "Open MPI 6: rules of coll/tuned in JSON"},
		{Name: "otava", File: "otava.csv", write: writeOtava, NoHosts: true,
			About: "Apache Otava: CSV of one row, time, commit (the run's ID), and every number of the run"},
		{Name: "prometheus", File: "calib.prom", write: writePrometheus, NoHosts: true,
			About: "Prometheus: gauges for the textfile collector of node_exporter, without time stamps"},
		{Name: "simgrid", File: "platform.xml", write: writeSimGrid,
			About: "SimGrid platform file for smpirun: hosts, links, routes, and SMPI's overheads and factors"},
		{Name: "tc", File: "netem.sh", write: writeTC, NoHosts: true, Device: true,
			About: "Linux tc netem: script that sets delay and rate on every host, and removes them"},
	}
}

// Lookup finds a target by its name. The error is of class ErrTarget and lists all.
func Lookup(name string) (Target, error) {
	var names []string
	for _, t := range Targets() {
		if t.Name == name {
			return t, nil
		}
		names = append(names, t.Name)
	}
	return Target{}, fmt.Errorf("%q: %w; there are %s", name, ErrTarget, strings.Join(names, ", "))
}

// templates are the files of the targets that are text around a few numbers.
//
//go:embed templates
var templates embed.FS

// Export returns the file of a target. Warnings say what the format cannot express or has rounded. Errors are of class
// ErrMissing, ErrLimit or ErrOption.
func (t Target) Export(p *params.Params, o Options) (file []byte, warnings []string, err error) {
	in := newInput(p, o)
	for _, option := range []struct {
		refused bool
		name    string
	}{
		{o.Hosts != 0 && t.NoHosts, "a number of hosts"}, {o.Device != "" && !t.Device, "a network device"},
		{o.Slowdown != 0 && !t.Slowdown, "a slowdown"}, {len(o.Rules) > 0 && !t.Rules, "rules of collectives"},
	} {
		if option.refused {
			in.failf("%s: %w", option.name, ErrOption)
		}
	}
	if in.err == nil {
		file = t.write(in)
	}
	if err := in.err; err != nil {
		return nil, nil, fmt.Errorf("export to %s: %w", t.Name, err)
	}
	return file, append(in.warnings, in.doubts()...), nil
}

const nanosecond = 1e-9 // s
