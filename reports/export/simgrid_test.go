package export

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"calib/fit"
)

// switched is a run of a switch with everything that a platform can say.
func switched() *fit.Params {
	p := fixture()
	p.Run.Hosts = []string{"node-0", "node-1", "node-2", "node-3"}
	p.Parameters["send_buffer"] = parameter(400e3, "B", "segmented", "pingpong")
	line(p, "g_s", 150e-6, 0.14e-6)
	line(p, "g_r", 120e-6, 0.11e-6)
	return p
}

// medium is the same on a shared medium with the parameters of sparc1994.
func medium() *fit.Params {
	p := switched()
	for name, v := range map[string]float64{"a": 859.52e-6, "a_c": 345.6e-6, "b": 1.42e-6, "b_c": 0.92e-6} {
		p.Parameters[name] = parameter(v, map[bool]string{true: "s", false: "s/B"}[name[0] == 'a'], "hyperbolic-network", "paired")
	}
	p.Functions["T"] = fit.Function{Form: fit.SegmentsForm, Unit: "s", Model: "segmented", Label: "T(x)",
		Coeff:  map[string]float64{"from_1": 0, "c0_1": 2.0649e-3, "c1_1": 2.3345e-6, "from_2": 1245.5, "c0_2": 3.6088e-3, "c1_2": 1.4226e-6},
		Domain: map[string][2]float64{"bytes": {1, 4194304}}}
	line(p, "g_s", 859e-6, 0.826e-6)
	line(p, "g_r", 859e-6, 0.826e-6)
	return p
}

func line(p *fit.Params, name string, c0, c1 float64) {
	f := p.Functions[name]
	f.Form, f.Coeff = fit.LineForm, map[string]float64{"c0": c0, "c1": c1}
	p.Functions[name] = f
}

// read is the platform of a run as its reader has it.
func read(t testing.TB, p *fit.Params, o Options) *SimGridPlatform {
	t.Helper()
	platform, err := ReadSimGrid(write(t, lookup(t, "simgrid"), p, o))
	if err != nil {
		t.Fatal(err)
	}
	return platform
}

// TestSimGridTimes: a message alone takes T(x), on both sides of each break and of each threshold, and beyond what was measured.
func TestSimGridTimes(t *testing.T) {
	noBuffer := switched()
	delete(noBuffer.Parameters, "send_buffer")
	noReception := switched()
	delete(noReception.Functions, "g_r")
	busy := switched() // a sender busy for longer than T, as noise may have it
	line(busy, "g_s", 900e-6, 0.3e-6)
	flat := switched()
	flat.Functions["T"].Coeff["c1_1"] = 0
	falling := switched() // the intercept of long messages is negative
	falling.Functions["T"].Coeff["c0_2"] = -1e-4
	floor := switched()
	floor.Functions["g_s"] = fit.Function{Form: fit.FloorForm, Coeff: map[string]float64{"floor": 160e-6, "c0": 150e-6, "c1": 0.14e-6}}
	for name, p := range map[string]*fit.Params{"fixture": fixture(), "switch": switched(), "medium": medium(), "no send buffer": noBuffer,
		"no reception": noReception, "busy sender": busy, "flat": flat, "negative intercept": falling, "floor": floor} {
		platform := read(t, p, Options{})
		a, b := platform.Hosts[1], platform.Hosts[2]
		for _, x := range []int{1, 2, 15, 16, 71, 72, 1245, 1246, 1448, 1449, 7089, 7090, 14480, 14481, 65536, 399999, 400000, 400001, 4194304,
			3200000, 3200001, 1 << 30} {
			got, err := platform.Time(a, b, x)
			if err != nil {
				t.Fatal(err)
			}
			want, err := p.Functions["T"].Eval(map[string]float64{"x": float64(x)}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(got/want-1) > 1e-9 {
				t.Errorf("%s: T(%d) = %g s, want %g", name, x, got, want)
			}
		}
	}
}

// TestSimGridDivision: what messages that meet depend on.
func TestSimGridDivision(t *testing.T) {
	p := read(t, switched(), Options{})
	if got, want := p.overhead("smpi/os", 1000), 150e-6+1000*0.14e-6; math.Abs(got/want-1) > 1e-9 {
		t.Errorf("os(1000) = %g s, want g_s, %g", got, want)
	}
	if got, want := p.overhead("smpi/or", 1000), 120e-6+1000*0.11e-6; got < want*(1-1e-9) || got > 1.5*want {
		t.Errorf("or(1000) = %g s, want g_r, %g, and what T has beside", got, want)
	}
	if got := p.overhead("smpi/os", 100000); got > 0.02*100000*2.56e-7 {
		t.Errorf("os(100000) = %g s, want next to nothing within the send buffer", got)
	}
	if got, want := p.overhead("smpi/os", 2000000), (2000000-400000)/2*2.56e-7; math.Abs(got/want-1) > 0.1 {
		t.Errorf("os(2 MB) = %g s, want half of what is beyond the buffer, %g", got, want)
	}
	if got := p.links["down-node-1"].bandwidth; math.Abs(got/(1448/(120e-6+1448*0.11e-6))-1) > 1e-9 {
		t.Errorf("link down: %g B/s, want a packet in g_r", got)
	}
	if p.eager != 8*400000+1 {
		t.Errorf("sends wait from %d B", p.eager)
	}
	m := read(t, medium(), Options{})
	if got := m.routes[[2]string{"node-3", "node-0"}]; !cmp.Equal(got, []string{"up-node-3", "medium", "down-node-0"}) {
		t.Errorf("route on a medium: %v", got)
	}
	flow := 116 / m.factor("smpi/bw-factor", 116) * 0.92e-6 // at the medium's rate
	if want := 345.6e-6 + 100*(0.92e-6-345.6e-6/1448); math.Abs(flow/want-1) > 0.06 {
		t.Errorf("the medium is busy with 100 B for %g s, want a_c + m·(b_c − a_c/p) = %g", flow, want)
	}
	alone := medium()
	alone.Parameters["b"] = fit.Parameter{Status: fit.StatusUnidentifiable, Bound: &[2]float64{0, 0.92e-6}}
	if got := read(t, alone, Options{}).routes[[2]string{"node-3", "node-0"}]; !cmp.Equal(got, []string{"medium"}) {
		t.Errorf("route on a medium with hosts of unknown b: %v", got)
	}
}

// TestSimGridTopology: a switch or a medium is what paired or load say; otherwise the error says what to measure.
func TestSimGridTopology(t *testing.T) {
	p := switched()
	delete(p.Parameters, "b_c")
	target := lookup(t, "simgrid")
	if _, _, err := target.Export(p, Options{}); !errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), "calib run --only paired") {
		t.Errorf("neither paired nor load: %v", err)
	}
	delay := fit.Function{Form: fit.BilinearForm, Coeff: map[string]float64{"l0": 390e-6, "l1": 1.6e-6, "tau": 2.8e-7},
		Domain: map[string][2]float64{"p": {2, 8}}}
	p.Functions["L"] = delay
	if _, w, err := target.Export(p, Options{}); err != nil || !strings.Contains(strings.Join(w, "\n"), "taken from load") {
		t.Errorf("a flat delay: %v, %q", err, w)
	}
	delay.Coeff["l1"] = 40e-6
	if _, _, err := target.Export(p, Options{}); !errors.Is(err, ErrMissing) {
		t.Errorf("a delay that grows: %v", err)
	}
	p.Run.Hosts = p.Run.Hosts[:2]
	if _, w, err := target.Export(p, Options{}); err != nil || !strings.Contains(strings.Join(w, "\n"), "two hosts") {
		t.Errorf("two hosts: %v, %q", err, w)
	}
}

func TestSimGridMissing(t *testing.T) {
	for _, c := range []struct {
		parameter, function, want string
	}{
		{function: "T", want: "--only pingpong"}, {function: "g_s", want: "--only gap"}, {parameter: "packet", want: "--only load"},
	} {
		p := switched()
		delete(p.Parameters, c.parameter)
		delete(p.Functions, c.function)
		if _, _, err := lookup(t, "simgrid").Export(p, Options{}); !errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("without %s%s: %v, want %q", c.parameter, c.function, err, c.want)
		}
	}
	for _, c := range []struct {
		coefficient string
		value       float64
	}{{"c1_2", 0}, {"c1_2", -1e-9}, {"c0_1", -1}, {"from_2", 1 << 40}} {
		p := switched()
		p.Functions["T"].Coeff[c.coefficient] = c.value
		if _, _, err := lookup(t, "simgrid").Export(p, Options{}); !errors.Is(err, ErrLimit) {
			t.Errorf("T with %s = %g: %v, want ErrLimit", c.coefficient, c.value, err)
		}
	}
	if _, _, err := lookup(t, "simgrid").Export(switched(), Options{Hosts: 4096}); !errors.Is(err, ErrOption) {
		t.Errorf("4096 hosts: %v, want ErrOption", err)
	}
}

// TestSimGridHosts: names are unique and such that a list of hosts can hold them.
func TestSimGridHosts(t *testing.T) {
	p := switched()
	p.Run.Hosts = []string{"a b", "a_b", "é", "<&>"}
	if got := read(t, p, Options{}).Hosts; !cmp.Equal(got, []string{"a_b", "a_b_1", "_", "___"}) {
		t.Errorf("hosts %q", got)
	}
	if got := read(t, p, Options{Hosts: 6}).Hosts; len(got) != 6 || got[5] != "host-5" {
		t.Errorf("six hosts: %q", got)
	}
}

// known is a platform of one link and other settings.
func known(props string) string {
	return fmt.Sprintf(`<?xml version='1.0'?><!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd"><platform version="4.1">
<config>%s</config><zone id="z" routing="Full"><host id="a" speed="1Gf"/><host id="b" speed="1Gf"/>
<link id="l" bandwidth="1Mbps" latency="10ms"/><route src="a" dst="b"><link_ctn id="l"/></route></zone></platform>`, props)
}

// TestSimGridKnownAnswers: the reader's rules, on times known from SimGrid's documentation or worked by hand from its rules.
func TestSimGridKnownAnswers(t *testing.T) {
	const smpi = `<prop id="network/model" value="SMPI"/><prop id="network/crosstraffic" value="no"/>` +
		`<prop id="smpi/lat-factor" value="0:1;1016:2"/><prop id="smpi/bw-factor" value="0:1"/>` +
		`<prop id="smpi/os" value="0:1:0;1000:5:0"/><prop id="smpi/or" value="500:0.25:0.001"/>`
	for _, c := range []struct {
		name, props string
		bytes       int
		want        float64
	}{
		{"LV08", "", 100000, 0.996079}, // 10 ms · 13.01 + 100 kB · 1.05/(0.97 · 125 kB/s)
		{"no cross-traffic", `<prop id="network/crosstraffic" value="no"/>`, 100000, 0.1301 + 100e3/(0.97*125e3)},
		{"CM02", `<prop id="network/model" value="CM02"/><prop id="network/crosstraffic" value="0"/>`, 100000, 0.81},
		{"a window of 1 kB", `<prop id="network/model" value="CM02"/><prop id="network/TCP-gamma" value="1000"/>`, 100000, 0.01 + 100e3/50e3},
		{"on a boundary", smpi, 1000, 1 + 0.01 + 1016/125e3 + 0.25 + 1},
		{"above a boundary", smpi, 1001, 5 + 0.02 + 1017/125e3 + 0.25 + 1.001},
		{"below the first boundary", smpi, 0, 1 + 0.01 + 16/125e3 + 0.25},
		{"waiting for its receiver", smpi, 65536, 0.02 + 65552/125e3},
	} {
		p, err := ReadSimGrid([]byte(known(c.props)))
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if got, err := p.Time("a", "b", c.bytes); err != nil || math.Abs(got-c.want) > 5e-7 {
			t.Errorf("%s: %.9f s, want %.9f: %v", c.name, got, c.want, err)
		}
	}
}

func TestSimGridSyntax(t *testing.T) {
	for _, text := range []string{
		strings.Replace(known(""), "4.1", "3", 1), strings.Replace(known(""), "Full", "Floyd", 1), known("") + "<more/>",
		strings.Replace(known(""), "1Mbps", "1Xbps", 1), strings.Replace(known(""), "10ms", "ten", 1), strings.Replace(known(""), `ctn id="l"`, `ctn id="k"`, 1),
		known(`<prop id="network/model" value="ns-3"/>`), known(`<prop id="smpi/os" value="0:1"/>`), known(`<prop id="smpi/os" value="2147483648:1:0"/>`),
		known(`<prop id="smpi/lat-factor" value="0:x"/>`), known(`<prop id="network/TCP-gamma" value="NaN"/>`),
		known(`<prop id="smpi/send-is-detached-thresh" value="2147483648"/>`), strings.Replace(known(""), `<host id="b" speed="1Gf"/>`, "", 1),
	} {
		if _, err := ReadSimGrid([]byte(text)); !errors.Is(err, ErrSyntax) {
			t.Errorf("%s: %v, want ErrSyntax", text, err)
		}
	}
	if _, err := read(t, switched(), Options{}).Time("node-0", "nobody", 1); !errors.Is(err, ErrSyntax) {
		t.Errorf("no route: %v", err)
	}
}

func TestSimGridGolden(t *testing.T) {
	path := filepath.Join("testdata", "platform.xml")
	got := write(t, lookup(t, "simgrid"), switched(), Options{Version: "v1.2.3"})
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
