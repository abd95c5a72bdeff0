package export

import (
	"bytes"
	"errors"
	"flag"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"calib/internal/units"
	"calib/params"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

// TestTargets: every target says what it is and writes the same bytes twice.
func TestTargets(t *testing.T) {
	var names []string
	for _, target := range Targets() {
		names = append(names, target.Name)
		t.Run(target.Name, func(t *testing.T) {
			if target.About == "" || strings.Contains(target.About, "\n") || target.File == "" ||
				filepath.Base(target.File) != target.File {
				t.Errorf("about %q, file %q", target.About, target.File)
			}
			o := optionsOf(target)
			first, warnings, err := target.Export(fixture(), o)
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range warnings {
				if strings.ContainsAny(w, "\n\r") || w == "" {
					t.Errorf("warning %q is not one line", w)
				}
			}
			if second, _, err := target.Export(fixture(), o); err != nil || !bytes.Equal(first, second) {
				t.Errorf("a second export differs: %v", err)
			}
			p := fixture()
			p.Run.ID, p.Run.Hosts[3] = "20261121-044155-\x1b[31m\u202e", "h\x7f\x1b]0;x\a\u009b2J\u2066"
			p.Pairs[2].To, p.Pairs[3].From = p.Run.Hosts[3], p.Run.Hosts[3]
			hostile, _, err := target.Export(p, o)
			if i := bytes.IndexFunc(hostile, func(r rune) bool {
				return units.Controls(r) &&
					!strings.ContainsRune("\t\r\n", r)
			}); err != nil || i >= 0 {
				t.Errorf("%v; a character that controls the terminal: %q", err, hostile[max(0, min(i, len(hostile))-40):])
			}
			if bytes.Contains(first, []byte("NaN")) || bytes.Contains(first, []byte("Inf")) {
				t.Errorf("not a number in\n%s", first)
			}
		})
	}
	if !slices.IsSorted(names) {
		t.Errorf("targets are not in order: %v", names)
	}
}

// TestEmpty: a run without parameters gives no file, and the error says how to mend it.
func TestEmpty(t *testing.T) {
	for _, target := range Targets() {
		for _, p := range []*params.Params{{}, {Run: params.Run{ID: "20261121-044155-x", Hosts: []string{"a", "b"}}}} {
			file, _, err := target.Export(p, Options{})
			if !errors.Is(err, ErrMissing) || file != nil {
				t.Fatalf("%s: %d bytes, %v", target.Name, len(file), err)
			}
			if !strings.Contains(err.Error(), "calib run") {
				t.Errorf("%s: %q does not say how to mend it", target.Name, err)
			}
		}
	}
}

// TestMissing: the error names the parameter, its experiment and the command.
func TestMissing(t *testing.T) {
	for _, c := range []struct{ target, parameter, want string }{
		{"loggopsim", "G", "parameter G: not measured; measure with calib run --hosts hosts.txt --only clock,prtt"},
		{"atlahs", "o_r", "parameter o_r: not measured"},
		{"tc", "packet", "parameter packet: not measured; measure with"},
		{"mininet", "packet", "--only clock,load,overhead"},
	} {
		p := fixture()
		delete(p.Parameters, c.parameter)
		if _, _, err := lookup(t, c.target).Export(p, Options{}); !errors.Is(err, ErrMissing) ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s without %s: %v, want %q", c.target, c.parameter, err, c.want)
		}
	}
	p := fixture()
	p.Parameters["L"] = params.Parameter{Status: params.StatusUnidentifiable, Why: "the overheads were not measured"}
	if _, _, err := lookup(t, "loggopsim").Export(p, Options{}); err == nil ||
		!strings.Contains(err.Error(), "the overheads were not measured") {
		t.Errorf("an unidentifiable L: %v", err)
	}
	p = fixture()
	p.Run.ID = "nightly"
	if _, _, err := lookup(t, "otava").Export(p, Options{}); !errors.Is(err, ErrMissing) {
		t.Errorf("otava without a time: %v", err)
	}
}

// TestLimits: what a format cannot hold is an error, not another number.
func TestLimits(t *testing.T) {
	for _, c := range []struct {
		target, parameter string
		value             float64
	}{
		{target: "loggopsim", parameter: "G", value: -1e-9},
		{target: "loggopsim", parameter: "L", value: -1},
		{target: "loggopsim", parameter: "L", value: 3600},
		{target: "loggopsim", parameter: "g", value: -1e-6},
		{target: "atlahs", parameter: "L", value: 1e-6}, // less than g
		{target: "mininet", parameter: "G", value: 8e-11},
		{target: "tc", parameter: "L", value: 1e-6}, // a byte alone takes longer at this rate
		{target: "tc", parameter: "packet", value: 0},
		{target: "astra-sim", parameter: "beta", value: 0},
		{target: "dimemas", parameter: "alpha", value: -1},
	} {
		file, _, err := lookup(t, c.target).Export(set(fixture(), c.parameter, c.value), Options{})
		if !errors.Is(err, ErrLimit) || file != nil {
			t.Errorf("%s with %s = %g: %v, want ErrLimit", c.target, c.parameter, c.value, err)
		}
	}
	for _, c := range []struct {
		target string
		o      Options
	}{
		{"tc", Options{Device: "eth0; reboot"}}, {"tc", Options{Device: "-h"}}, {"dimemas", Options{Hosts: 1}},
		{"astra-sim", Options{Hosts: -3}},
		{"mininet", Options{Hosts: 1 << 30}}, {"loggopsim", Options{Hosts: 1}},
	} {
		if file, _, err := lookup(t, c.target).Export(fixture(), c.o); !errors.Is(err, ErrOption) || file != nil {
			t.Errorf("%s, %+v: %v, want ErrOption", c.target, c.o, err)
		}
	}
}

// TestGolden: the files as people see them.
func TestGolden(t *testing.T) {
	for _, target := range Targets() {
		if target.Name == "simgrid" { // its own tests show it
			continue
		}
		path := filepath.Join("testdata", target.File)
		got := write(t, target, fixture(), optionsOf(target))
		if *update {
			if err := os.WriteFile(path, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s (run with -update if it is meant):\n%s", path, diff)
		}
	}
}

// TestNotANumber: values that are not finite reach no file.
func TestNotANumber(t *testing.T) {
	p := set(set(fixture(), "g", math.NaN()), "r_inf", math.Inf(1))
	p.Parameters["L"] = params.Parameter{Value: p.Parameters["L"].Value, Unit: "s",
		CI95: &[2]float64{math.NaN(), math.Inf(1)}, Status: params.StatusOK}
	for _, name := range []string{"csv", "gobench", "otava", "prometheus"} {
		file, _, err := lookup(t, name).Export(p, Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, bad := range []string{"NaN", "Inf", "nan", "+inf"} {
			if bytes.Contains(file, []byte(bad)) {
				t.Errorf("%s: %s in\n%s", name, bad, file)
			}
		}
	}
	if _, _, err := lookup(t, "loggopsim").Export(p, Options{}); !errors.Is(err, ErrMissing) {
		t.Errorf("loggopsim with g of NaN: %v", err)
	}
}

// TestWarningsEnd: no warning ends as if a reason followed, whether the file gives reasons or, as those of former
// versions, none.
func TestWarningsEnd(t *testing.T) {
	for _, target := range Targets() {
		for _, why := range []string{"", "too few rounds"} {
			p := fixture()
			for name, q := range p.Parameters {
				q.Status, q.Why = params.StatusProvisional, why
				p.Parameters[name] = q
			}
			for name, f := range p.Functions {
				f.Status, f.Why = params.StatusProvisional, why
				p.Functions[name] = f
			}
			_, warnings, err := target.Export(p, optionsOf(target))
			if err != nil {
				t.Fatal(target.Name, err)
			}
			said := strings.Join(warnings, "\n")
			if target.Name == "csv" && strings.Count(said, "is provisional: "+why) < len(p.Parameters)+len(p.Functions) &&
				why != "" {
				t.Errorf("reasons are lost: %s", said)
			}
			for _, w := range warnings {
				// A text that is not whole ends before what was to follow, or has a number without its unit: "4.308 m".
				if regexp.MustCompile(`[: ]$|[0-9] [GMkmµnpf]([^A-Za-zµ/]|$)`).MatchString(w) {
					t.Errorf("%s: %q", target.Name, w)
				}
			}
		}
	}
}

// TestOptions: the number of hosts and the device are those asked for.
func TestOptions(t *testing.T) {
	for name, want := range map[string]string{"astra-sim": "npus_count: [ 64 ]", "dimemas": "{0, 64, ",
		"mininet":   "HOST_COUNT = 64\n",
		"loggopsim": "--commsize 64 ", "tc": "replace dev ens1f0.100 root"} {
		o := Options{Hosts: 64}
		if name == "tc" {
			o = Options{Device: "ens1f0.100"}
		}
		file, _, err := lookup(t, name).Export(fixture(), o)
		if err != nil || !strings.Contains(string(file), want) {
			t.Errorf("%s: %v, no %q in\n%s", name, err, want, file)
		}
	}
	for _, target := range Targets() {
		for _, c := range []struct {
			o       Options
			refused bool
		}{{Options{Hosts: 64}, target.NoHosts}, {Options{Device: "ens1"}, !target.Device},
			{Options{Rules: rules()}, !target.Rules}} {
			if _, _, err := target.Export(fixture(), c.o); errors.Is(err, ErrOption) != c.refused {
				t.Errorf("%s with %+v: %v", target.Name, c.o, err)
			}
		}
	}
}
