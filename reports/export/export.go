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
	"bytes"
	"cmp"
	"embed"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"calib/internal/lists"
	"calib/internal/units"
	"calib/params"
)

var (
	ErrTarget  = errors.New("no such export target")
	ErrMissing = errors.New("not measured")
	ErrLimit   = errors.New("beyond what the format can hold")
	ErrOption  = errors.New("not possible for this target")
)

// Options of an export. The zero value means the defaults.
type Options struct {
	Hosts    int     // in the target's system; 0 is the run's own
	Device   string  // network interface in commands; "" means eth0
	Slowdown float64 // how many times slower the target's network is; 0 is as little as the target needs
	// Rules are choices of Open MPI's algorithms, for the targets that are made of them: by the numbers of the
	// collectives, then by ascending Ranks, no two of both.
	Rules   []Rules
	Version string // of calib, for comments in the file; "" is left out
}

type Target struct {
	Name  string `json:"name"`  // "loggopsim"
	File  string `json:"file"`  // name of the file where none is chosen
	About string `json:"about"` // one line: what the file is and which program reads it

	// What it takes of Options: anything else is an error.
	NoHosts  bool `json:"-"` // no number of hosts: the file is of the run, or of any number
	Device   bool `json:"-"` // the file names a network device
	Slowdown bool `json:"-"` // the file's network may be slower than the run's
	Rules    bool `json:"-"` // the file is made of rules
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
			About: "calib lab: emulated cluster of the run's network, for calib lab run and calib lab selfcheck"},
		{Name: "loggopsim", File: "loggopsim.sh", write: writeLogGOPSim,
			About: "LogGOPSim: command line with L, o, g, G, O, S as integers, and their unit of time"},
		{Name: "mininet", File: "topology.py", write: writeMininet,
			About: "Mininet: Python script of hosts at a switch over TCLink, with bw, delay and queue"},
		{Name: "ompi", File: "ompi-rules.conf", write: writeOmpi, NoHosts: true, Rules: true,
			About: "Open MPI 4 and 5: rules of coll/tuned, the classic file of coll_tuned_dynamic_rules_filename"},
		{Name: "ompi-json", File: "ompi-rules.json", write: writeOmpiJSON, NoHosts: true, Rules: true,
			About: "Open MPI 6: rules of coll/tuned in JSON"},
		{Name: "otava", File: "otava.csv", write: writeOtava, NoHosts: true,
			About: "Apache Otava: CSV of one row, time, commit (the run's ID), and every ok number"},
		{Name: "prometheus", File: "calib.prom", write: writePrometheus, NoHosts: true,
			About: "Prometheus: gauges for the textfile collector of node_exporter, without time stamps"},
		{Name: "simgrid", File: "platform.xml", write: writeSimGrid,
			About: "SimGrid platform file for smpirun: hosts, links, routes, and SMPI's overheads and factors"},
		{Name: "slurm", File: "topology.conf", write: writeSlurm, NoHosts: true,
			About: "Slurm: topology.conf of topology/tree, with a switch for each group of hosts"},
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

// input is a run and how it is to be exported, and gathers what its exporter has to say. The first error that the
// exporter meets stays: what it computes after that is not written.
type input struct {
	Params *params.Params
	Options
	used, notes, warnings []string
	err                   error
	doubtful              map[string]string // what to say of what was used, by status ("" is zero), a NUL and the name
}

func newInput(p *params.Params, o Options) *input {
	return &input{Params: p, Options: o, doubtful: map[string]string{}}
}

func (in *input) fail(err error) { in.err = cmp.Or(in.err, err) }

// failf is Fail with a text, which wraps the class of the error.
func (in *input) failf(format string, args ...any) { in.fail(fmt.Errorf(format, args...)) }

func (in *input) warn(texts ...string) { in.warnings = append(in.warnings, texts...) }

func (in *input) warnf(format string, args ...any) { in.warn(fmt.Sprintf(format, args...)) }

func (in *input) notef(format string, args ...any) {
	in.notes = append(in.notes, fmt.Sprintf(format, args...))
}

// showUsed names parameters that the file's header shows with their intervals.
func (in *input) showUsed(names ...string) { in.used = append(in.used, names...) }

const maxHosts = 1 << 20 // bounds the system that an export describes; no target is meant for more hosts

// hostCount is the number of hosts of the target's system. It may fail with class ErrOption.
func (in *input) hostCount() int {
	n := cmp.Or(in.Hosts, len(in.Params.Run.Hosts))
	if n < 2 || n > maxHosts {
		in.failf("a system of %d hosts: %w; choose 2 to %d with --nodes", n, ErrOption, maxHosts)
		return 0
	}
	return n
}

// found returns a parameter that the run has determined, in its SI unit. One that is provisional is used, and marked.
func (in *input) found(name string) (float64, bool) {
	q, ok := in.Params.Parameters[name]
	if !ok || q.Value == nil || q.Status != params.StatusOK && q.Status != params.StatusProvisional ||
		math.IsNaN(*q.Value) || math.IsInf(*q.Value, 0) {
		return 0, false
	}
	in.mark(name, q.Status, q.Why)
	return *q.Value, true
}

// function returns a function that may be used, and marks one that is provisional.
func (in *input) function(name string) (params.Function, bool) {
	f, ok := in.Params.Functions[name]
	if !ok || !f.Usable() {
		return f, false
	}
	in.mark("function "+name, f.Status, f.Why)
	return f, true
}

func (in *input) mark(name, status, why string) {
	if status == params.StatusProvisional {
		in.doubtful[status+"\x00"+name] = strings.TrimSuffix(name+" is provisional: "+why, ": ")
	}
}

// mayBeZero are the parameters of LogGP that a simulator bears as zero.
var mayBeZero = []string{"L", "o_s", "o_r", "g"}

// zero reports whether a parameter is to be taken for zero (params.Parameter.Zero).
func (in *input) zero(name string) bool {
	why := in.Params.Parameters[name].Zero()
	if why == "" || !slices.Contains(mayBeZero, name) {
		return false
	}
	in.doubtful["\x00"+name] = name + " is taken for 0: " + why
	return true
}

// doubts warns of what was used so far although it is taken for zero, or provisional.
func (in *input) doubts() []string {
	names := slices.Sorted(maps.Keys(in.doubtful))
	return lists.Map(names, func(k string) string { return units.OneLine(in.doubtful[k]) })
}

// withheld is the error of a number that was estimated and must not be used. It is of class ErrMissing.
type withheld struct{ kind, name, status, why string }

func (w withheld) Error() string {
	return fmt.Sprintf("%s %s cannot be used (%s): calib explain %[2]s RUN says more", w.kind, w.name,
		strings.TrimSuffix(w.status+": "+units.OneLine(w.why), ": "))
}

func (w withheld) Is(class error) bool { return class == ErrMissing }

// noFunction is the error of a function that the run has not, or that must not be used. It is of class ErrMissing.
func (in *input) noFunction(name string) error {
	if f, ok := in.Params.Functions[name]; ok && !f.Usable() {
		return withheld{"function", name, f.Status, f.Why}
	}
	return ErrMissing
}

// need returns a parameter, or an error of class ErrMissing that names the command which measures it. One of
// mayBeZero that cannot be told from zero is zero.
func (in *input) need(name string) (float64, error) {
	if in.zero(name) {
		return 0, nil
	}
	if v, ok := in.found(name); ok {
		return v, nil
	}
	q := in.Params.Parameters[name]
	if q.Estimate != nil {
		return 0, withheld{"parameter", name, q.Status, q.Why}
	}
	why := ""
	if q.Why != "" {
		why = " (" + units.OneLine(q.Why) + ")"
	}
	return 0, fmt.Errorf("parameter %s: %w%s%s", name, ErrMissing, why, in.Params.Hint(name))
}

// needAll returns several parameters, in order; each is 0 from the first that is an error.
func (in *input) needAll(names ...string) ([]float64, error) {
	out := make([]float64, len(names))
	for i, name := range names {
		v, err := in.need(name)
		if err != nil {
			return out, err
		}
		out[i] = v
	}
	return out, nil
}

// metrics lists the numbers of a run that may be used, with those that are provisional marked. It fails with class
// ErrMissing where the run has none.
func (in *input) metrics() []params.Metric {
	m := in.Params.Metrics()
	if len(m) == 0 {
		in.failf("parameters: %w: the run has none; measure them with %s", ErrMissing, in.Params.Command("run"))
	}
	for _, q := range m {
		in.mark(q.Name, q.Status, q.Why)
	}
	return m
}

// render fills in the template called name. Beside its data, which is a map, it has the lines of a comment: head, which
// says where the file comes from, and warnings; and number, decimal and line to write values with.
func (in *input) render(name string, data map[string]any) []byte {
	var b bytes.Buffer
	if in.err == nil {
		t := template.New(name).Option("missingkey=error").Funcs(template.FuncMap{
			"head": in.head, "warnings": in.warned, "number": number, "decimal": decimal, "line": units.OneLine,
		})
		t, err := t.ParseFS(templates, "templates/"+name)
		if err == nil {
			err = t.Execute(&b, data)
		}
		in.fail(err)
	}
	return b.Bytes()
}

// head says where a file comes from: the run, the parameters used with their intervals, and the notes.
func (in *input) head() []string {
	or := func(s string) string { return cmp.Or(units.OneLine(s), "(none)") }
	run := in.Params.Run
	by := strings.TrimRight("calib "+units.OneLine(in.Version), " ")
	out := []string{fmt.Sprintf("Written by %s from run %s (plan %s, %s).", by, or(run.ID), or(run.Plan),
		units.Plural(len(run.Hosts), "host"))}
	for _, name := range in.used {
		q := in.Params.Parameters[name]
		if q.Value == nil {
			continue
		}
		line := fmt.Sprintf("Parameter %s = %s %s", name, number(*q.Value), q.Unit)
		if q.CI95 != nil {
			line += fmt.Sprintf(" [%s, %s]", number(q.CI95[0]), number(q.CI95[1]))
		}
		out = append(out, units.OneLine(line)+": "+units.OneLine(q.Label)+", model "+units.OneLine(q.Model)+".")
	}
	return slices.Concat(out, in.doubts(), lists.Map(in.notes, units.OneLine))
}

func (in *input) warned() []string {
	return lists.Map(in.warnings, func(w string) string { return "Warning: " + units.OneLine(w) })
}

// number writes v so that it reads back as the same float64.
func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// decimal writes v without exponent, with at most so many digits after the point; -1 is as many as v needs.
func decimal(v float64, digits int) string { return strconv.FormatFloat(v, 'f', digits, 64) }

// pieces returns the pieces of a function of segments and the largest size [B] that it was measured at; ok is false
// where the run has no such function.
func (in *input) pieces(name string) (pieces params.Segments, largest float64, ok bool) {
	f, usable := in.function(name)
	form, _ := f.Shape(nil)
	pieces, ok = form.(params.Segments)
	return pieces, f.Domain["bytes"][1], ok && usable
}

// packetCost returns the cost [s] of a packet by its size [B], never below zero, and the size at which the cost begins
// to grow, 0 where it grows from the start. The error is of class ErrMissing where the run has no such function, or
// none that has a value for every size up to full, the size of a full packet.
func (in *input) packetCost(name string, full float64) (cost func(bytes float64) float64, kink float64, err error) {
	f, ok := in.function(name)
	if !ok {
		return nil, 0, in.noFunction(name)
	}
	cost = func(bytes float64) float64 {
		v, err := f.At(bytes, 1, in.Params.Functions)
		if err != nil {
			return math.NaN()
		}
		return max(v, 0)
	}
	if v := cost(1) + cost(full); math.IsNaN(v) || math.IsInf(v, 0) {
		return nil, 0, fmt.Errorf("of form %q: %w", f.Form, ErrMissing)
	}
	if f.Form == params.Floored && f.Coeff["c1"] > 0 {
		kink = (f.Coeff["floor"] - f.Coeff["c0"]) / f.Coeff["c1"]
	}
	return cost, kink, nil
}
