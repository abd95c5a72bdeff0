package export

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"calib/fit"
	"calib/reports/export/input"
)

// TestPromlint: the names of the gauges are what Prometheus recommends.
func TestPromlint(t *testing.T) {
	problems, err := promlint.New(bytes.NewReader(write(t, lookup(t, "prometheus"), fixture(), Options{}))).Lint()
	if err != nil || len(problems) > 0 {
		t.Error(problems, err)
	}
}

// TestNoTimestamps: the textfile collector refuses time stamps, and so does the reader.
func TestNoTimestamps(t *testing.T) {
	file := write(t, lookup(t, "prometheus"), fixture(), Options{})
	stamped := bytes.Replace(file, []byte("calib_run_hosts 8"), []byte("calib_run_hosts 8 1700000000000"), 1)
	if _, err := readPrometheus(stamped); !errors.Is(err, errSyntax) {
		t.Errorf("a time stamp: %v", err)
	}
}

// TestNotANumber: values that are not finite reach no file.
func TestNotANumber(t *testing.T) {
	p := set(set(fixture(), "g", math.NaN()), "r_inf", math.Inf(1))
	p.Parameters["L"] = fit.Parameter{Value: p.Parameters["L"].Value, Unit: "s", CI95: &[2]float64{math.NaN(), math.Inf(1)}, Status: fit.StatusOK}
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

// TestBuses: a shared medium has as many buses as it carries messages at their own rate at once.
func TestBuses(t *testing.T) {
	for _, c := range []struct {
		bc    float64
		buses int
		warns bool
	}{{2.56e-7, 1, false}, {6.4e-8, 4, false}, {5.5e-8, 5, true}, {1e-3, 1, true}} {
		p := set(fixture(), "b_c", c.bc)
		file, warnings, err := lookup(t, "dimemas").Export(p, Options{})
		if err != nil {
			t.Fatal(err)
		}
		d, err := readDimemas(file)
		if err != nil || d.buses != c.buses {
			t.Errorf("b_c = %g: %d buses, %v; want %d", c.bc, d.buses, err, c.buses)
		}
		if warns := strings.Contains(strings.Join(warnings, "\n"), "buses are whole"); warns != c.warns {
			t.Errorf("b_c = %g: warnings %q", c.bc, warnings)
		}
	}
}

// TestOptions: the number of hosts and the device are those asked for.
func TestOptions(t *testing.T) {
	for name, want := range map[string]string{"astra-sim": "npus_count: [ 64 ]", "dimemas": "{0, 64, ", "mininet": "HOSTS = 64\n",
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
		}{{Options{Hosts: 64}, target.NoHosts}, {Options{Device: "ens1"}, !target.Device}} {
			if _, _, err := target.Export(fixture(), c.o); errors.Is(err, ErrOption) != c.refused {
				t.Errorf("%s with %+v: %v", target.Name, c.o, err)
			}
		}
	}
}

// TestLogGPFallback: without ping-pong, T(x) is LogGP's.
func TestLogGPFallback(t *testing.T) {
	p := fixture()
	delete(p.Parameters, "alpha")
	file, _, err := lookup(t, "astra-sim").Export(p, Options{})
	if err != nil {
		t.Fatal(err)
	}
	a, err := readAstraSim(file)
	if err != nil {
		t.Fatal(err)
	}
	m, _, err := logGPOf(&input.Input{Params: p})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := a.at(1448)*1e-9, m.at(1448); !within(got, want, 1e-9) {
		t.Errorf("1,448 bytes take %g s, LogGP %g s", got, want)
	}
}
