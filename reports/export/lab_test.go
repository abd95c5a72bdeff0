package export

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"calib/internal/netspec"
	"calib/params"
)

// checkLab reads a lab file as calib lab does: what a message takes there, over the slowdown, is what the run's
// parameters say.
func checkLab(file []byte, in *input) error {
	s, err := netspec.Parse(file)
	if err != nil || s.Slowdown < 1 {
		return syntax("%v", err)
	}
	hosts := in.hostCount()
	if in.err != nil || s.Hosts != hosts {
		return mismatch("the number of hosts", float64(s.Hosts), float64(hosts), "")
	}
	p := in.Params
	value := func(name string) float64 {
		if v := p.Parameters[name].Value; v != nil {
			return *v
		}
		return 0
	}
	at := func(name string, m, hosts float64) float64 {
		f, ok := p.Functions[name]
		if !ok || !f.Usable() {
			return 0
		}
		v, err := f.At(m, hosts, p.Functions)
		if err != nil {
			return math.NaN()
		}
		return math.Max(v, 0)
	}
	calls := at("O_s", 0, 0) + at("U_r", 0, 0) + at("O_r", 0, 0) + value("wakeup")
	compare := func(what string, got, want, tolerance float64) error {
		if !within(got, want, tolerance*math.Abs(want)+2*nanosecond) {
			return mismatch(what, got, want, "s")
		}
		return nil
	}
	tooLong := strings.Contains(string(file), "more than the whole: the delay is taken as zero")
	switch {
	case s.Mode == netspec.Shared:
		if err := compare("an empty message", s.Way(0, 1, 0, 2)/s.Slowdown, 2*value("a")+value("a_c"), 1e-9); err != nil {
			return err
		}
		return compare("a byte in the medium", s.Medium.B/s.Slowdown, value("b_c"), 1e-9)
	case p.Functions["L_cluster"].Form != "" && p.Functions["L_cluster"].Usable() && p.Functions["g_s"].Usable():
		if err := compare("g_s", s.Service(s.Host, 1)/s.Slowdown, at("g_s", 1, 0), 1e-6); err != nil {
			return err
		}
		if tooLong || s.CutThrough {
			return nil
		}
		const m = 1000
		got := (s.Way(0, 1, m, 4) - (s.Slowdown-1)*calls) / s.Slowdown
		return compare("L_cluster(1000, 4)", got, at("L_cluster", m, 4)-value("wakeup"), 0.1)
	}
	whole := value("alpha")
	for _, name := range []string{"a_prime_limits", "a_prime"} {
		if v := value(name); v > 0 {
			whole = v
		}
	}
	if v := value("a"); v > 0 {
		whole = 2*v + math.Max(value("a_c"), 0)
	}
	if tooLong {
		return nil
	}
	return compare("an empty message", (s.Way(0, 1, 0, 2)+calls)/s.Slowdown, whole, 1e-6)
}

// labFixture is a run on a switch of whose network everything is known, with a slow host and a slow pair.
func labFixture() *params.Params {
	p := fixture()
	p.Run.Hosts[3] = "h3"
	for name, coeff := range map[string]map[string]float64{
		"g_s": {"c0": 150e-6, "c1": 146.4e-9}, "g_r": {"c0": 120e-6, "c1": 117.1e-9}, "O_s": {"c0": 5e-6, "c1": 0},
		"U_r":       {"c0": 2e-6, "c1": 0},
		"L_cluster": {"l0": 390e-6, "l1": 2e-6, "tau": 280e-9},
	} {
		form := params.Line
		if name == "L_cluster" {
			form = params.Bilinear
		}
		p.Functions[name] = params.Function{Form: form, Coeff: coeff, Unit: "s", Status: params.StatusOK, Model: "cluster",
			Label:  "made for a test",
			Domain: map[string][2]float64{"m": {1, 1448}, "p": {2, 8}}}
	}
	delete(p.Functions, "O_r")
	p.Network = &params.Network{Packets: params.Switch, Streams: params.Switch}
	p.Findings = []params.Finding{params.Warnf(params.SlowHost, "host h3 is slow").With("ratio", 1.5).About("h3")}
	for i := range p.Pairs {
		q := &p.Pairs[i]
		q.Slow = ""
		for _, end := range []string{q.From, q.To} {
			if end == "h3;rm -rf /tmp\n*/ \"x\" # }" {
				lat, rate := 1.5**q.Latency, *q.Rate/2
				q.Latency, q.Rate, q.Slow = &lat, &rate, "slow"
			}
		}
		q.From, q.To = strings.Split(q.From, ";")[0], strings.Split(q.To, ";")[0]
	}
	lat := 3 * *p.Pairs[6].Latency
	p.Pairs[6].Latency, p.Pairs[6].Slow = &lat, "slow"
	return p
}

// The file of a whole run, as it is handed out.
func TestLabGolden(t *testing.T) {
	file := write(t, lookup(t, "lab"), labFixture(), Options{})
	golden := filepath.Join("testdata", "lab-switch.yaml")
	if *update {
		if err := os.WriteFile(golden, file, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil || string(want) != string(file) {
		t.Errorf("%s is not what is written (%v):\n%s", golden, err, file)
	}
	s, err := netspec.Parse(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := checkLab(file, newInput(labFixture(), Options{})); err != nil {
		t.Error(err)
	}
	if got := (s.Way(3, 0, 1, 2) + s.Way(0, 3, 1, 2)) / 2 / s.Way(0, 1, 1, 2); !within(got, 1.5, 1e-3) {
		t.Errorf("the slow host's messages take %g times as long, want 1.5", got)
	}
	if got := (s.Message(3, 0, 4<<20) + s.Message(0, 3, 4<<20)) / 2 / s.Message(0, 1, 4<<20); !within(got, 2, 0.01) {
		t.Errorf("the slow host's streams take %g times as long, want 2", got)
	}
	if got := s.Way(6, 7, 1, 2) / s.Way(0, 1, 1, 2); !within(got, 3, 1e-2) {
		t.Errorf("the slow pair's messages take %g times as long, want 3", got)
	}
	if s.Buffer != 64 || s.Fabric == nil || !within(s.Fabric.PerHost, 2e-6, 0) || s.Slowdown != 1 {
		t.Errorf("room %d, fabric %+v, slowdown %g", s.Buffer, s.Fabric, s.Slowdown)
	}
}

// A network that the lab cannot play on time is slowed, which the file says; what its hosts spend in calls is slowed
// with it, but for what the lab's own hosts spend.
func TestLabSlowed(t *testing.T) {
	p := labFixture()
	for _, f := range p.Functions {
		for c := range f.Coeff {
			f.Coeff[c] /= 20
		}
	}
	for i := range p.Fits[0].Series[0].Points {
		p.Fits[0].Series[0].Points[i].Measured /= 20
	}
	file := write(t, lookup(t, "lab"), p, Options{})
	s, err := netspec.Parse(file)
	if err != nil {
		t.Fatal(err)
	}
	if s.Slowdown != 20 || !strings.Contains(string(file), "# Slowed 20 times: every time in this file is 20 times the "+
		"run's") {
		t.Errorf("slowed %g times:\n%s", s.Slowdown, file)
	}
	if want := (19.5+4*0.1)*20e-6 + 19*0.35e-6; !within(s.Way(0, 1, 0, 4), want, 1e-8) {
		t.Errorf("an empty message takes %g s, want %g: 20·L(0, 4) and 19 times the calls", s.Way(0, 1, 0, 4), want)
	}
	faster := write(t, lookup(t, "lab"), p, Options{Slowdown: 10})
	if s, err := netspec.Parse(faster); err != nil || s.Slowdown != 10 ||
		!strings.Contains(string(faster), "# Warning: the lab may be late") {
		t.Errorf("asked for 10: %v\n%s", err, faster)
	}
}
