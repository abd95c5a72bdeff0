package arch

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// layer is what a package, and those below it in the tree that have no row of their own, may import of calib's. A
// package that may be imported stands for those below it without a row, too.
type layer struct {
	pkg  string
	may  []string
	why  string
	free bool // may import everything
}

const experiment = "an experiment knows the core and the traffic it shares, never another experiment"

// experimentMay is what an experiment may import, and more.
func experimentMay(more ...string) []string {
	return append([]string{"bench", "internal/dataset", "internal/dataset/names", "internal/plane", "internal/units",
		"internal/stats"}, more...)
}

// everywhere is the package that all may import, as if it were of the standard library.
const everywhere = "internal/lists"

func layers() []layer {
	return []layer{
		{pkg: everywhere, why: "lists are the same whatever they are of"},
		{pkg: "internal/units", why: "units are the bottom of everything"},
		{pkg: "internal/files", may: []string{"internal/units"}, why: "replacing a file, and saying what is wrong with " +
			"one, is the same whatever it is for"},
		{pkg: "internal/yaml", may: []string{"internal/files"}, why: "of all who read texts, few read YAML: an agent does " +
			"not"},
		{pkg: "internal/glossary", may: []string{"internal/yaml"}, why: "what a number means does not depend on who asks"},
		{pkg: "internal/exit", why: "how a program ends is the same whatever it did"},
		{pkg: "internal/stats", may: []string{"internal/units"}, why: "statistics know numbers, not measurements"},
		{pkg: "internal/dataset", may: []string{"internal/dataset/names", "internal/files", "internal/units"},
			why: "files are the only joints between stages: they know none"},
		{pkg: "internal/hosts", may: []string{"internal/units"}, why: "reading a hosts file is done before anything runs"},
		{pkg: "internal/netspec", may: []string{"internal/yaml", "internal/files"},
			why: "the truth that simulator and lab share depends on neither"},
		{pkg: "internal/selfcheck", may: []string{"params", "internal/netspec", "internal/units"},
			why: "a copy is judged by two finished runs and the network between them"},
		{pkg: "internal/plane", may: []string{"internal/dataset", "internal/units"},
			why: "experiments and planes share it: it knows neither"},
		{pkg: "internal/kernel", may: []string{"internal/dataset", "internal/plane", "internal/units"},
			why: "what is asked of Linux is the same whoever asks"},
		{pkg: "internal/machine", may: []string{"internal/dataset", "internal/files", "internal/kernel", "internal/plane",
			"internal/units"},
			why: "what a host is, computes and copies needs nothing of what is measured on it"},
		{pkg: "internal/lsq", why: "least squares are pure numbers"},
		{pkg: "internal/dataset/names", why: "the words of samples.jsonl need nothing"},
		{pkg: "bench", may: []string{"internal/dataset", "internal/dataset/names", "internal/plane", "internal/units",
			"internal/stats"},
			why: "an experiment knows its Group and no sockets, so that the simulator can run it"},
		{pkg: "bench/roundtrip", may: experimentMay(), why: experiment},
		{pkg: "bench/flow", may: experimentMay(), why: experiment},
		{pkg: "bench/incast", may: experimentMay(), why: experiment},
		{pkg: "bench/check", may: experimentMay("bench/roundtrip"), why: experiment},
		{pkg: "bench/tuning", may: experimentMay("bench/roundtrip"), why: experiment},
		{pkg: "bench/overlap", may: experimentMay("bench/flow"), why: experiment},
		{pkg: "bench/pattern", may: []string{"bench", "internal/units"}, why: "a pattern moves bytes, and knows no " +
			"experiment that times it"},
		{pkg: "bench/collective", may: experimentMay("bench/pattern"), why: experiment},
		{pkg: "bench/experiments", may: []string{"bench", "bench/check", "bench/collective", "bench/flow", "bench/incast",
			"bench/overlap", "bench/remap",
			"bench/roundtrip", "bench/tuning"},
			why: "it lists the experiments"},
		{pkg: "bench/benchtest", may: []string{"bench", "transport/sim", "internal/netspec", "internal/dataset",
			"internal/dataset/names",
			"internal/stats", "internal/units"},
			why: "it runs one experiment on the simulator, for the experiment's own test"},
		{pkg: "transport", may: []string{"internal/dataset", "internal/kernel", "internal/plane", "internal/units"},
			why: "the data plane carries bytes and reads counters; it does not know what is measured"},
		{pkg: "transport/sim", may: []string{"internal/netspec", "internal/dataset", "internal/plane", "internal/units"},
			why: "the simulator is a data plane like the other"},
		{pkg: "agent", may: []string{"bench", "bench/experiments", "transport", "internal/certs", "internal/dataset",
			"internal/kernel", "internal/plane", "internal/machine", "internal/units"},
			why: "an agent runs experiments on a transport; it neither plans nor fits"},
		{pkg: "agent/simagent", may: []string{"bench", "bench/experiments", "transport/sim", "internal/netspec",
			"internal/dataset",
			"internal/plane", "internal/units"},
			why: "a simulated agent has the face of an agent and none of its control"},
		{pkg: "internal/launch", may: []string{"internal/files", "internal/certs", "internal/hosts"},
			why: "starting a process needs no knowledge of what it does"},
		{pkg: "internal/doctor", may: []string{"internal/dataset", "internal/dataset/names", "internal/hosts",
			"internal/units", "internal/stats"},
			why: "findings are made of facts, whoever has asked for them"},
		{pkg: "internal/certs", may: []string{"internal/files"}, why: "a certificate says who somebody is, whatever is " +
			"asked of whom"},
		{pkg: "run", may: []string{"agent", "agent/simagent", "bench", "bench/experiments", "fit", "fit/models",
			"fit/hyperbolic", "fit/resample", "internal/lsq",
			"internal/certs", "internal/dataset", "internal/dataset/names", "internal/files", "internal/doctor", "fit/fault",
			"internal/machine", "internal/exit", "internal/hosts", "internal/launch", "internal/netspec", "params",
			"internal/plane", "internal/progress", "internal/stats",
			"internal/rundir", "internal/units", "predict", "reports", "reports/figure", "reports/html", "run/coord", "run/plan",
			"run/watch", "transport/sim"},
			why: "a run takes every stage in turn, with agents that it starts, and knows neither flags nor what is printed of " +
				"it"},
		{pkg: "run/watch",
			may: []string{"fit/drift", "fit/fault", "internal/history", "internal/hosts", "internal/stats", "internal/units"},
			why: "a watch is given its looks, and knows no agents"},
		{pkg: "run/plan", may: []string{"bench", "bench/pattern", "internal/yaml", "internal/files", "internal/dataset",
			"internal/dataset/names", "internal/units"},
			why: "a plan knows experiments and the time they take, and neither agents nor fits"},
		{pkg: "run/coord", may: []string{"bench", "internal/dataset", "internal/dataset/names", "internal/doctor",
			"fit/fault", "internal/plane", "internal/stats", "internal/units", "run/plan"},
			why: "the coordinator drives an Agent interface, over whatever wire; a session is the data plane's"},
		{pkg: "fit/fault", may: []string{"fit/resample", "internal/dataset", "internal/dataset/names", "internal/stats"},
			why: "what is slow is judged by what was seen, whoever saw it"},
		{pkg: "fit/drift", may: []string{"fit/fault", "fit/resample", "internal/stats"},
			why: "what has changed is judged by what was seen, whoever saw it"},
		{pkg: "internal/plot", why: "how a fit is to be seen is said without drawing it"},
		{pkg: "fit", may: []string{"params", "fit/fault", "internal/glossary", "internal/plot", "internal/lsq",
			"fit/resample", "fit/review", "internal/dataset", "internal/dataset/names",
			"internal/stats", "internal/units"}, why: "the core is offline, deterministic in a dataset, and knows no model"},
		{pkg: "fit/review", may: []string{"params", "internal/units"},
			why: "a review judges finished numbers, whatever fitted them"},
		{pkg: "params", may: []string{"internal/files", "internal/glossary", "internal/units"},
			why: "a program that reads params.json needs nothing that makes it"},
		{pkg: "fit/resample", may: []string{"internal/lsq", "internal/stats"}, why: "a bootstrap knows tables of numbers, " +
			"and no model"},
		{pkg: "fit/buffer", may: family("fit/cluster"), why: "B_L is counted by the cluster model's costs, and nothing " +
			"needs it"},
		{pkg: "fit/cluster", may: family(), why: "a family of models knows the core and no other family"},
		{pkg: "fit/hyperbolic", may: family(), why: "the hyperbola of one pair is that of a network without contention"},
		{pkg: "fit/loggp", may: family("fit/hyperbolic"), why: "LoGPC is LogGP with contention, for which it needs to know " +
			"what the network shares"},
		{pkg: "fit/overlap", may: family(), why: "a family of models knows the core and no other family"},
		{pkg: "fit/tuning", may: family(), why: "a family of models knows the core and no other family"},
		{pkg: "fit/models", may: []string{"fit", "fit/buffer", "fit/cluster", "fit/hyperbolic", "fit/loggp", "fit/overlap",
			"fit/tuning", "internal/plot", "params"}, why: "the list of all models is the one place that knows them"},
		{pkg: "predict", may: []string{"bench/pattern", "fit/cluster", "fit/loggp", "internal/yaml", "fit/overlap", "params",
			"fit/resample", "fit/review", "internal/dataset", "internal/dataset/names", "internal/stats",
			"internal/units", "predict/cost", "predict/network", "transport/sim"},
			why: "predictions are made of parameters; what was measured only judges them"},
		{pkg: "predict/network", may: []string{"params", "internal/netspec", "internal/stats", "internal/units"},
			why: "a network is described by parameters, whoever plays it"},
		{pkg: "predict/tuned", may: []string{"bench/pattern", "params", "predict", "reports/export"},
			why: "choosing an algorithm asks for predictions, and knows Open MPI by what the export has of it, and no models"},
		{pkg: "predict/cost", may: []string{"bench/pattern", "internal/files", "internal/units", "internal/yaml", "params",
			"fit/cluster", "fit/loggp", "internal/dataset/names", "internal/netspec"},
			why: "a model on paper has a written schedule and finished parameters, and measures nothing"},
		{pkg: "reports", may: []string{"internal/glossary", "internal/units", "params", "internal/dataset", "internal/hosts",
			"internal/stats"},
			why: "reports are made of files that exist"},
		{pkg: "internal/importer", may: []string{"internal/files", "internal/dataset", "internal/dataset/names"},
			why: "another tool's output becomes samples, and nothing else knows that tool"},
		{pkg: "reports/figure", may: []string{"params", "internal/plot", "internal/dataset", "internal/stats",
			"internal/units", "reports"},
			why: "a figure is made of fits, and knows no renderer"},
		{pkg: "reports/html", may: []string{"internal/glossary", "reports", "reports/draw", "reports/figure", "params",
			"internal/units"},
			why: "a page renders figures and tables"},
		{pkg: "reports/draw", may: []string{"internal/units", "reports/figure", "params", "internal/files"},
			why: "a drawing renders figures"},
		{pkg: "reports/export", may: []string{"internal/units", "params", "internal/netspec", "internal/files",
			"internal/hosts",
			"internal/yaml", "predict/network"},
			why: "an export is made of a params.json alone, and of choices that the caller has made of it"},
		{pkg: "reports/compare", may: []string{"internal/files", "reports", "params", "internal/dataset/names",
			"internal/stats", "internal/units"},
			why: "a verdict is made of finished runs, wherever they are kept"},
		{pkg: "internal/history", may: []string{"internal/units", "internal/dataset", "internal/exit", "params"},
			why: "the store keeps finished runs, and fits nothing"},
		{pkg: "internal/lab", may: []string{"internal/exit", "internal/files", "internal/kernel", "internal/machine",
			"internal/netspec",
			"internal/units"},
			why: "the lab is a wire: it must not know who measures it"},
		{pkg: "internal/needs", why: "any test may ask what the machine has"},
		{pkg: "internal/progress", may: []string{"internal/units"}, why: "progress counts steps, whatever they are"},
		{pkg: "internal/rundir", may: []string{"internal/files", "params", "internal/dataset", "internal/units"},
			why: "a run directory holds what the stages wrote; it runs none of them"},
		{pkg: "cmd/calib", free: true},
		{pkg: "cmd/calib/internal/command", may: []string{"internal/exit", "internal/files", "params", "internal/units",
			"internal/progress",
			"internal/rundir", "reports", "reports/compare", "reports/draw", "reports/figure"},
			why: "what all commands share knows none of them"},
	}
}

// family lists what a family of models may import: the core, what models share, and those families it is built on.
func family(basis ...string) []string {
	return append([]string{"fit", "params", "internal/plot", "internal/lsq", "fit/resample", "internal/dataset",
		"internal/dataset/names", "internal/stats", "internal/units"}, basis...)
}

// never lists what a package must not reach, however indirectly.
func never() map[string][]string {
	offline := []string{"net", module + "/bench", module + "/transport", module + "/agent", module + "/predict/cost"}
	models := []string{module + "/fit", module + "/fit/models"} // what reads params.json does without what makes it
	reader := slices.Concat(offline, models)
	return map[string][]string{
		"fit": offline, "fit/models": offline, "params": reader,
		"reports": reader, "reports/figure": reader, "reports/html": reader, "reports/draw": reader,
		"reports/compare": reader,
		// The Prometheus library serves metrics too, and so imports net.
		"reports/export":   reader[1:],
		"internal/history": models, "internal/rundir": models,
		// It is copied to every host.
		"cmd/calib-agent": {module + "/fit", module + "/params", module + "/reports", module + "/internal/history",
			module + "/predict", module + "/internal/lab",
			module + "/run/plan", "github.com/goccy/go-yaml", "github.com/urfave/cli/v2"},
		"bench": {"net", module + "/transport", module + "/agent", module + "/run/plan",
			"github.com/goccy/go-yaml"},
		"bench/experiments": {"net", module + "/transport", module + "/agent", module + "/run/plan",
			"github.com/goccy/go-yaml"},
	}
}

// parsed returns the module's sources.
func parsed(t *testing.T) []source {
	t.Helper()
	files, err := sources(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// imports maps each package to what it imports outside tests. Commands are left out: wiring everything is what they do.
func imports(files []source) map[string][]string {
	out := map[string][]string{}
	for _, f := range files {
		if f.test || f.file.Name.Name == "main" {
			continue
		}
		for _, spec := range f.file.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err == nil && !slices.Contains(out[f.pkg], path) {
				out[f.pkg] = append(out[f.pkg], path)
			}
		}
	}
	return out
}

// rule finds the row of a package: its own or that of the nearest package above it.
func rule(pkg string) (layer, bool) {
	var best layer
	for _, l := range layers() {
		if (pkg == l.pkg || strings.HasPrefix(pkg, l.pkg+"/")) && len(l.pkg) > len(best.pkg) {
			best = l
		}
	}
	return best, best.pkg != ""
}

// breaches lists the imports that the layers do not allow.
func breaches(graph map[string][]string) []string {
	var out []string
	for pkg, paths := range graph {
		for _, path := range paths {
			to, ours := strings.CutPrefix(path, module+"/")
			if !ours || to == everywhere {
				continue
			}
			r, known := rule(pkg)
			target, _ := rule(to)
			switch {
			case ground(pkg) && !ground(to):
				out = append(out, fmt.Sprintf("%s imports %s: internal is the ground on which the rooms stand, and knows none of "+
					"them", pkg, to))
			case !known:
				out = append(out, fmt.Sprintf("%s imports %s and has no layer: give it a row in layers, with its reason", pkg, to))
			case r.free || target.pkg == r.pkg || slices.Contains(r.may, target.pkg):
				// A package may use the parts it is split into, unless they have a row of their own.
			default:
				out = append(out, fmt.Sprintf("%s imports %s: %s. It may import: %s", pkg, to, r.why, orNothing(r.may)))
			}
		}
	}
	slices.Sort(out)
	return out
}

// ground reports whether a package is one that every room may stand on. params is, and is for other programs too.
func ground(pkg string) bool { return strings.HasPrefix(pkg, "internal/") || pkg == "params" }

func orNothing(may []string) string {
	if len(may) == 0 {
		return "nothing of ours"
	}
	return strings.Join(may, ", ")
}

func TestLayers(t *testing.T) {
	for _, b := range breaches(imports(parsed(t))) {
		t.Error(b)
	}
}

// TestLayersCatch: the rules see what they are for.
func TestLayersCatch(t *testing.T) {
	for _, c := range []struct{ pkg, path, want string }{
		{"bench", "calib/transport", "bench imports transport: an experiment knows its Group and no sockets"},
		{"internal/units", "calib/internal/stats", "It may import: nothing of ours"},
		{"fit", "calib/bench", "fit imports bench: the core is offline"},
		{"fit", "calib/fit/cluster", "fit imports fit/cluster: the core is offline, deterministic in a dataset, and knows " +
			"no model"},
		{"fit/cluster", "calib/fit/loggp", "a family of models knows the core and no other family"},
		{"fit/cluster", "calib/fit/buffer", "fit/cluster imports fit/buffer"},
		{"fit/buffer", "calib/fit/cluster", ""},
		{"fit/loggp", "calib/fit/hyperbolic", ""},
		{"fit/tuning", "calib/internal/dataset/names", ""},
		{"fit/models", "calib/fit/tuning", ""},
		{"reports", "calib/fit", "reports imports fit: reports are made of files that exist"},
		{"reports/compare", "calib/params", ""},
		{"run/coord", "calib/run", "run/coord imports run: the coordinator drives an Agent interface"},
		{"run", "calib/reports/compare", "run imports reports/compare: a run takes every stage in turn"},
		{"internal/history", "calib/fit", "internal/history imports fit: internal is the ground"},
		{"agent/wire", "calib/run/coord", "agent/wire imports run/coord: an agent runs experiments"},
		{"fit", "calib/predict/cost", "fit imports predict/cost: the core is offline"},
		{"reports", "calib/predict/cost", "reports imports predict/cost: reports are made of files that exist"},
		{"predict/cost", "calib/bench", "predict/cost imports bench: a model on paper"},
		{"predict/cost", "calib/bench/pattern", ""},
		{"internal/new", "calib/internal/stats", "internal/new imports internal/stats and has no layer"},
		{"transport/sim", "calib/transport", "transport/sim imports transport: the simulator is a data plane"},
		{"bench", "calib/internal/stats", ""},
		{"agent", "calib/agent/wire", ""},
		{"agent/wire", "calib/bench", ""},
		{"cmd/calib", "calib/agent", ""},
		{"internal/new", "fmt", ""},
		{"internal/units", "calib/internal/lists", ""},
		{"internal/lists", "calib/internal/units", "It may import: nothing of ours"},
	} {
		got := strings.Join(breaches(map[string][]string{c.pkg: {c.path}}), "; ")
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s imports %s: got %q, want %q", c.pkg, c.path, got, c.want)
		}
	}
}
