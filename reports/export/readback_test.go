package export

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"calib/internal/hosts"
	"calib/params"
)

var (
	// errSyntax reports a file that is not valid under its target's rules.
	errSyntax = errors.New("not a valid file of this target")
	// errMismatch reports a file from which the other program computes something else than the fit.
	errMismatch = errors.New("the file does not give the fit again")
)

// check reads a file as the target's program does. It returns an error of class errSyntax or errMismatch unless what
// the program computes from it is the fit, to the rounding that the target states.
type check func(file []byte, in *input) error

// checks has one for every target. The platforms of SimGrid are evaluated by simgrid_test.go.
func checks() map[string]check {
	return map[string]check{
		"astra-sim": checkAstraSim, "atlahs": checkAtlahs, "csv": checkCSV, "dimemas": checkDimemas, "gobench": checkGobench,
		"lab": checkLab, "loggopsim": checkLogGOPSim, "mininet": checkMininet, "ompi": checkOmpi, "ompi-json": checkOmpiJSON,
		"otava": checkOtava, "prometheus": checkPrometheus,
		"simgrid": checkHosts, "slurm": checkSlurm, "tc": checkTC,
	}
}

// checkSlurm reads a topology.conf: its leaf switches have the hosts of the groups, and the last joins them.
func checkSlurm(file []byte, in *input) error {
	var leaves [][]string
	core := 0
	for line := range strings.Lines(string(file)) {
		line = strings.TrimSpace(line)
		_, nodes, leaf := strings.Cut(line, " Nodes=")
		switch {
		case strings.HasPrefix(line, "#"):
		case leaf:
			names, err := hosts.Expand(nodes)
			if err != nil {
				return syntax("%v", err)
			}
			leaves = append(leaves, names)
		case line == fmt.Sprintf("SwitchName=core Switches=group[1-%d]", len(leaves)):
			core++
		default:
			return syntax("%q", line)
		}
	}
	for i, group := range in.Params.Groups.Hosts {
		if core != 1 || len(leaves) != len(in.Params.Groups.Hosts) || len(leaves[i]) != len(group) {
			return mismatch("hosts of a group", float64(len(leaves)), float64(len(group)), "")
		}
	}
	return nil
}

// checkHosts reads the hosts of a platform file.
func checkHosts(file []byte, in *input) error {
	hosts, err := platformHosts(file)
	if err != nil {
		return syntax("%v", err)
	}
	if want := in.hostCount(); in.err != nil || len(hosts) != want {
		return mismatch("the number of hosts", float64(len(hosts)), float64(want), "")
	}
	return nil
}

// readBack exports p and reads the file back. Only parameters that a target cannot hold are an error of Export.
func readBack(t interface{ Errorf(string, ...any) }, target Target, p *params.Params, o Options) {
	if target.Rules {
		o.Rules = rules()
	}
	file, _, err := target.Export(p, o)
	switch {
	case errors.Is(err, ErrLimit) || errors.Is(err, ErrMissing) || errors.Is(err, ErrOption):
		if file != nil {
			t.Errorf("%s: a file beside error %v", target.Name, err)
		}
	case err != nil:
		t.Errorf("%s: %v", target.Name, err)
	default:
		if err := checks()[target.Name](file, newInput(p, o)); err != nil {
			t.Errorf("%s, read back: %v", target.Name, err)
		}
	}
}

// runs are the params.json that every target is tried with: a whole one, and hostile ones.
func runs() map[string]*params.Params {
	out := map[string]*params.Params{"everything": fixture()}
	for name := range fixture().Parameters {
		for _, v := range []float64{0, -1, 1e-300, 1e300, math.NaN(), math.Inf(1)} {
			out[fmt.Sprintf("%s = %g", name, v)] = set(fixture(), name, v)
		}
		p := fixture()
		p.Parameters[name] = params.Parameter{Unit: "s", Status: params.StatusUnidentifiable}
		out[name+" unidentifiable"] = p
		p = fixture()
		delete(p.Parameters, name)
		out["no "+name] = p
	}
	for name := range fixture().Functions {
		p := fixture()
		delete(p.Functions, name)
		out["no function "+name] = p
		for c := range fixture().Functions[name].Coeff {
			for _, v := range []float64{0, -1, 1e12, 1e300, math.NaN()} {
				p := fixture()
				p.Functions[name].Coeff[c] = v
				out[fmt.Sprintf("%s of %s = %g", c, name, v)] = p
			}
		}
	}
	for label, names := range map[string][]string{
		"equal names":      {"h", "h", "h", "h", "h", "h", "h", "h"},
		"names that merge": {"a b", "a_b", "a/b", "a=b", "a\"b", "a\\b", "a\tb", "a\u2028b"},
		"odd names":        {"", "é", "<&>--", "*/ \"q\" # }", "0", "a→b", "h\r\nx", strings.Repeat("h", 300)},
	} {
		p := fixture()
		p.Run.Hosts, p.Run.ID, p.Run.Plan = names, p.Run.ID+"\n# \"x\",\r", "--><!--"
		for i := range p.Pairs {
			p.Pairs[i].From, p.Pairs[i].To = names[i], names[i+1]
		}
		out[label] = p
	}
	p := fixture()
	p.Pairs = append(p.Pairs, p.Pairs...)
	out["every pair twice"] = p
	for _, name := range []string{"", "T.64B", "g_s.c0", "a b/c=\"d\"", "latency", "x\r\ny", "#"} {
		p := fixture()
		p.Parameters[name] = parameter(1, "odd unit\n\"x\"", "m\n\"", "e\\")
		out[fmt.Sprintf("a parameter %q", name)] = p
	}
	return out
}

// TestReadBack: every file that is handed out gives the fit again under its program's rules, whatever is in
// params.json.
func TestReadBack(t *testing.T) {
	for _, target := range Targets() {
		if checks()[target.Name] == nil {
			t.Errorf("no reader for target %s", target.Name)
			continue
		}
		for name, p := range runs() {
			t.Run(target.Name+"/"+name, func(t *testing.T) { readBack(t, target, p, Options{}) })
		}
	}
}

// TestRoundTrip: whatever the parameters, a file that is handed out is the fit to its rounding, which is within 0.2%
// for a byte and up.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		log := func(name string, lo, hi float64) float64 {
			return math.Exp(rapid.Float64Range(math.Log(lo), math.Log(hi)).Draw(t, name))
		}
		p := fixture()
		for name, v := range map[string]float64{"L": log("L", 1e-6, 0.1), "o_s": log("o_s", 1e-9, 1e-5),
			"o_r": log("o_r", 1e-9, 1e-5),
			"g":   log("g", 1e-7, 1e-3), "G": log("G", 2e-11, 1e-5), "alpha": log("alpha", 1e-6, 0.1),
			"beta": log("beta", 2e-11, 1e-5)} {
			set(p, name, v)
		}
		for _, name := range []string{"astra-sim", "atlahs", "dimemas", "loggopsim", "mininet", "tc"} {
			readBack(t, lookup(t, name), p, Options{})
		}
	})
}

// TestReadersNotice: the readers take neither the file of other parameters nor a part of a file.
func TestReadersNotice(t *testing.T) {
	for _, target := range Targets() {
		o := optionsOf(target)
		file, read := write(t, target, fixture(), o), checks()[target.Name]
		other := fixture() // everything 1% up
		for name, q := range other.Parameters {
			if q.Value != nil {
				set(other, name, 1.01**q.Value)
			}
		}
		for _, f := range other.Functions {
			for name := range f.Coeff {
				f.Coeff[name] *= 1.01
			}
		}
		changed := optionsOf(target)
		for i := range changed.Rules {
			changed.Rules[i].Rules[0].Algorithm ^= 1
		}
		if err := read(file, newInput(other, changed)); !errors.Is(err, errMismatch) && target.Name != "simgrid" &&
			target.Name != "slurm" {
			t.Errorf("%s, checked against other parameters: %v, want errMismatch", target.Name, err)
		}
		for _, junk := range [][]byte{nil, []byte("\x00\xff"), file[:len(file)/3]} {
			if err := read(junk, newInput(fixture(), o)); err == nil {
				t.Errorf("%s: %q passes", target.Name, junk)
			}
		}
	}
}

// TestReaderErrors: what breaks a target's rules is said, with the line where there is one.
func TestReaderErrors(t *testing.T) {
	for _, c := range []struct{ target, old, new, want string }{
		{"loggopsim", "-O 0", "-O 0.5", "option -O 0.5"},
		{"ompi", "1 # message sizes\n0 0", "1 # message sizes\n1 0", "the first message size is 1, want 0"},
		{"ompi", "# message sizes\n0 1 0 0", "# message sizes\n0 1 0", "numbers too many"},
		{"ompi", "7 # bcast", "22 # bcast", "collective 22"},
		{"ompi", "# bcast", "bcast", "is no number"},
		{"ompi-json", "\"tuned\"", "\"han\"", "module"},
		{"ompi-json", "\"knomial\"", "\"nomial\"", "no algorithm"},
		{"ompi-json", "\"bcast\"", "\"cast\"", "no collective"},
		{"loggopsim", "-S 2147483647", "-S 2147483648", "option -S"},
		{"loggopsim", "# unit: ", "# scale: ", "no unit of time"},
		{"atlahs", "\ng: ", "\ngap: ", "unknown field"},
		{"astra-sim", "[ Switch ]", "[ Ring ]", "want Switch"},
		{"astra-sim", "[ 8 ]", "[ 8, 2 ]", "a list of one entry"},
		{"astra-sim", "[ 8 ]", "[ 1 ]", "must be above 1"},
		{"dimemas", `{0, 8, ""`, `{0, 7, ""`, "7 nodes defined of 8"},
		{"dimemas", "};;\n\"conf", "}\n\"conf", "not a record"},
		{"dimemas", `"configuration files" {"", "", "", ""}`, `"configuration files" {""}`, "1 fields, want 4"},
		{"dimemas", "#DIMEMAS", "#SDDF", "line 1"},
		{"mininet", "QUEUE = ", "QUEUE = -", "want HOST_COUNT"},
		{"mininet", "net.start()", "net.stop()", "not the script"},
		{"tc", "del dev eth0", "del dev eth1", "the same device"},
		{"tc", "tc qdisc replace", "tc qdisc add", "want one command"},
		{"csv", "kind,name", "name,kind", "the first line"},
		{"csv", ",1448,", ",many,", "record "},
		{"otava", ",1448,", ",,", "is not a number"},
		{"otava", "20261121-044155-flpiifqw", "20261121", "would be read as a number"},
		{"gobench", "BenchmarkPingpong/bytes=64 300", "BenchmarkPingpong/bytes=64 many", "iteration count"},
		{"prometheus", "calib_run_hosts 8", "calib_run_hosts eight", "expected float"},
	} {
		target := lookup(t, c.target)
		file := write(t, target, fixture(), optionsOf(target))
		bad := bytes.Replace(file, []byte(c.old), []byte(c.new), 1)
		if bytes.Equal(file, bad) {
			t.Errorf("%s: no %q in the file", c.target, c.old)
		}
		if err := checks()[c.target](bad, newInput(fixture(), optionsOf(lookup(t, c.target)))); !errors.Is(err, errSyntax) ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s with %q: %v, want %q", c.target, c.new, err, c.want)
		}
	}
}

// within reports whether got is want to a tolerance, and to the rounding of float64 in any case.
func within(got, want, tolerance float64) bool {
	return math.Abs(got-want) <= tolerance+1e-12*math.Abs(want)
}

// mismatch is an error of class errMismatch.
func mismatch(what string, got, want float64, unit string) error {
	return fmt.Errorf("%s is %s %s in the file and %s %s in the fit: %w", what, number(got), unit, number(want), unit,
		errMismatch)
}

// syntax is an error of class errSyntax.
func syntax(format string, args ...any) error {
	return fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), errSyntax)
}
