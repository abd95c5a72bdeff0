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

	"calib/params"
)

// TestTimes: a message alone takes T(x), on both sides of each break and of each threshold, and beyond what was
// measured.
func TestTimes(t *testing.T) {
	noBuffer := switched()
	delete(noBuffer.Parameters, "send_buffer")
	noReception := switched()
	delete(noReception.Functions, "g_r")
	busy := switched() // a sender busy for longer than T, as noise may have it
	setLine(busy, "g_s", 900e-6, 0.3e-6)
	flat := switched()
	flat.Functions["T"].Coeff["c1_1"] = 0
	falling := switched() // the intercept of long messages is negative
	falling.Functions["T"].Coeff["c0_2"] = -1e-4
	floor := switched()
	floor.Functions["g_s"] = params.Function{Form: params.Floored,
		Coeff: map[string]float64{"floor": 160e-6, "c0": 150e-6, "c1": 0.14e-6}}
	all := map[string]*params.Params{"fixture": platformFixture(), "switch": switched(), "medium": medium(),
		"no send buffer": noBuffer,
		"no reception":   noReception, "busy sender": busy, "flat": flat, "negative intercept": falling, "floor": floor}
	for name, p := range all {
		timesOf(t, name, p)
		timesOf(t, name+", first windows", beginning(p))
	}
}

func timesOf(t *testing.T, name string, p *params.Params) {
	t.Helper()
	platform := readSimGrid(t, p, 0)
	a, b := platform.hosts[1], platform.hosts[2]
	for _, x := range []int{1, 2, 15, 16, 71, 72, 1245, 1246, 1448, 1449, 7089, 7090, 14480, 14481, 65536, 399999, 400000,
		400001, 4194304,
		3200000, 3200001, 1 << 30} {
		got, err := platform.time(a, b, x)
		if err != nil {
			t.Fatal(err)
		}
		want, err := p.Functions["T"].At(float64(x), 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(got/want-1) > 1e-9 {
			t.Errorf("%s: T(%d) = %g s, want %g", name, x, got, want)
		}
	}
}

// TestDivision: what messages that meet depend on.
func TestDivision(t *testing.T) {
	p := readSimGrid(t, beginning(switched()), 0)
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
	grown := readSimGrid(t, switched(), 0)
	if got, want := grown.overhead("smpi/os", 1000), 150e-6+1000*0.14e-6; math.Abs(got/want-1) > 1e-9 {
		t.Errorf("windows grown: os(1000) = %g s, want g_s, %g", got, want)
	}
	for _, x := range []float64{14481, 100000, 2000000} {
		if got := grown.overhead("smpi/os", int(x)); got != 0 {
			t.Errorf("windows grown: os(%g) = %g s, want none of a send that waits", x, got)
		}
	}
	if grown.eager != 14481 {
		t.Errorf("windows grown: sends wait from %d B, want above ten packets", grown.eager)
	}
	steep := switched() // T from 5,000 to 30,000 B cannot be a latency and a flow
	steep.Functions["T"].Coeff["from_2"], steep.Functions["T"].Coeff["c0_2"], steep.Functions["T"].Coeff["c1_2"] = 5000,
		-1e-4, 3.5e-7
	steep.Functions["T"].Coeff["from_3"], steep.Functions["T"].Coeff["c0_3"], steep.Functions["T"].Coeff["c1_3"] = 30000,
		2.72e-3, 2.56e-7
	if got := readSimGrid(t, steep, 0).eager; got != 30001 {
		t.Errorf("a steep piece: sends wait from %d B", got)
	}
	m := readSimGrid(t, medium(), 0)
	if got := m.routes[[2]string{"node-3", "node-0"}]; !cmp.Equal(got, []string{"up-node-3", "medium", "down-node-0"}) {
		t.Errorf("route on a medium: %v", got)
	}
	for link, perByte := range map[string]float64{"up-node-3": 1.42e-6, "medium": 0.92e-6, "down-node-0": 1.42e-6} {
		if got := m.links[link].bandwidth; math.Abs(got*perByte-1) > 1e-9 {
			t.Errorf("link %s: %g B/s, want one byte in %g s", link, got, perByte)
		}
	}
	flow := 116 / m.factor("smpi/bw-factor", 116) * 0.92e-6 // at the medium's rate
	if want := 345.6e-6 + 100*(0.92e-6-345.6e-6/1448); math.Abs(flow/want-1) > 0.06 {
		t.Errorf("the medium is busy with 100 B for %g s, want a_c + m·(b_c − a_c/p) = %g", flow, want)
	}
	alone := medium()
	alone.Parameters["b"] = params.Parameter{Status: params.StatusUnidentifiable, Bound: &params.Bound{0, 0.92e-6}}
	if got := readSimGrid(t, alone, 0).routes[[2]string{"node-3", "node-0"}]; !cmp.Equal(got, []string{"medium"}) {
		t.Errorf("route on a medium with hosts of unknown b: %v", got)
	}
}

// TestTopology: a switch or a medium is what paired or load say; otherwise the error says what to measure.
func TestTopology(t *testing.T) {
	p := switched()
	delete(p.Parameters, "b_c")
	if _, _, err := exportPlatform(p, 0); !errors.Is(err, ErrMissing) ||
		!strings.Contains(err.Error(), "calib run --hosts hosts.txt --only clock,paired") {
		t.Errorf("neither paired nor load: %v", err)
	}
	delay := params.Function{Form: params.Bilinear, Coeff: map[string]float64{"l0": 390e-6, "l1": 1.6e-6, "tau": 2.8e-7},
		Domain: map[string][2]float64{"p": {2, 8}}}
	p.Functions["L_cluster"] = delay
	if _, w, err := exportPlatform(p, 0); err != nil || !strings.Contains(strings.Join(w, "\n"), "taken from load") {
		t.Errorf("a flat delay: %v, %q", err, w)
	}
	delay.Coeff["l1"] = 40e-6
	if _, _, err := exportPlatform(p, 0); !errors.Is(err, ErrMissing) {
		t.Errorf("a delay that grows: %v", err)
	}
	p.Run.Hosts = p.Run.Hosts[:2]
	if _, w, err := exportPlatform(p, 0); err != nil || !strings.Contains(strings.Join(w, "\n"), "two hosts") {
		t.Errorf("two hosts: %v, %q", err, w)
	}
}

// A shared medium cannot be had without error, and the file says so; a switch is not one.
func TestSharedMediumWarns(t *testing.T) {
	const want = "a shared medium: many messages to one receiver"
	p := switched()
	if _, w, err := exportPlatform(p, 0); err != nil || strings.Contains(strings.Join(w, "\n"), want) {
		t.Errorf("a switch: %v, %q", err, w)
	}
	bc := 0.92e-6
	p.Parameters["b_c"] = params.Parameter{Value: &bc, Unit: "s/B", Status: params.StatusOK}
	if _, w, err := exportPlatform(p, 0); err != nil || !strings.Contains(strings.Join(w, "\n"), want) {
		t.Errorf("a shared medium: %v, %q", err, w)
	}
}

// TestGrowingDelay: no route of a platform takes longer with more hosts, and the file says so.
func TestGrowingDelay(t *testing.T) {
	p := switched()
	p.Functions["L_cluster"] = params.Function{Form: params.Bilinear, Status: params.StatusOK,
		Domain: map[string][2]float64{"p": {2, 8}},
		Coeff:  map[string]float64{"l0": 390e-6, "l1": 160e-6, "tau": 2.8e-7},
		CI95:   map[string][2]float64{"l1": {150e-6, 170e-6}}}
	if _, w, err := exportPlatform(p, 0); err != nil ||
		!strings.Contains(strings.Join(w, "\n"), "each further host that communicates makes a message 160 µs slower") {
		t.Errorf("%v, %q", err, w)
	}
	p.Functions["L_cluster"].CI95["l1"] = [2]float64{-10e-6, 330e-6}
	if _, w, err := exportPlatform(p, 0); err != nil || strings.Contains(strings.Join(w, "\n"), "with every host") {
		t.Errorf("a growth that may be none: %v, %q", err, w)
	}
}

func TestPlatformMissing(t *testing.T) {
	for _, c := range []struct {
		parameter, function, want string
	}{
		{function: "T", want: "--only clock,pingpong"}, {function: "g_s", want: "--only clock,gap"},
		{parameter: "packet", want: "--only clock,load,overhead"},
	} {
		p := switched()
		delete(p.Parameters, c.parameter)
		delete(p.Functions, c.function)
		if _, _, err := exportPlatform(p, 0); !errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("without %s%s: %v, want %q", c.parameter, c.function, err, c.want)
		}
	}
	for _, c := range []struct {
		coefficient string
		value       float64
	}{{"c1_2", 0}, {"c1_2", -1e-9}, {"c0_1", -1}, {"from_2", 1 << 40}} {
		p := switched()
		p.Functions["T"].Coeff[c.coefficient] = c.value
		if _, _, err := exportPlatform(p, 0); !errors.Is(err, ErrLimit) {
			t.Errorf("T with %s = %g: %v, want ErrLimit", c.coefficient, c.value, err)
		}
	}
	p := switched()
	p.Parameters["send_buffer"] = parameter(-1, "B", "segmented", "pingpong")
	if _, _, err := exportPlatform(p, 0); !errors.Is(err, ErrLimit) {
		t.Errorf("a send buffer of -1 B: %v, want ErrLimit", err)
	}
	if _, _, err := exportPlatform(switched(), 4096); !errors.Is(err, ErrOption) {
		t.Errorf("4096 hosts: %v, want ErrOption", err)
	}
}

// TestHosts: names are unique and such that a list of hosts can hold them.
func TestHosts(t *testing.T) {
	p := switched()
	p.Run.Hosts = []string{"a b", "a_b", "é", "<&>"}
	if got := readSimGrid(t, p, 0).hosts; !cmp.Equal(got, []string{"a_b", "a_b_1", "_", "___"}) {
		t.Errorf("hosts %q", got)
	}
	if got := readSimGrid(t, p, 6).hosts; len(got) != 6 || got[5] != "host-5" {
		t.Errorf("six hosts: %q", got)
	}
}

// known is a platform of one link and other settings.
func knownPlatform(props string) string {
	return fmt.Sprintf(`<?xml version='1.0'?><!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd"><platform version="4.1">
<config>%s</config><zone id="z" routing="Full"><host id="a" speed="1Gf"/><host id="b" speed="1Gf"/>
<link id="l" bandwidth="1Mbps" latency="10ms"/><route src="a" dst="b"><link_ctn id="l"/></route></zone></platform>`, props)
}

// TestKnownAnswers: the reader's rules, on times known from SimGrid's documentation or worked by hand from its rules.
func TestKnownAnswers(t *testing.T) {
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
		p, err := readPlatform([]byte(knownPlatform(c.props)))
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if got, err := p.time("a", "b", c.bytes); err != nil || math.Abs(got-c.want) > 5e-7 {
			t.Errorf("%s: %.9f s, want %.9f: %v", c.name, got, c.want, err)
		}
	}
}

func TestSyntax(t *testing.T) {
	for _, text := range []string{
		strings.Replace(knownPlatform(""), "4.1", "3", 1), strings.Replace(knownPlatform(""), "Full", "Floyd", 1),
		knownPlatform("") + "<more/>",
		strings.Replace(knownPlatform(""), "1Mbps", "1Xbps", 1), strings.Replace(knownPlatform(""), "10ms", "ten", 1), strings.Replace(knownPlatform(""), `ctn id="l"`, `ctn id="k"`, 1),
		knownPlatform(`<prop id="network/model" value="ns-3"/>`), knownPlatform(`<prop id="smpi/os" value="0:1"/>`), knownPlatform(`<prop id="smpi/os" value="2147483648:1:0"/>`),
		knownPlatform(`<prop id="smpi/lat-factor" value="0:x"/>`), knownPlatform(`<prop id="network/TCP-gamma" value="NaN"/>`),
		knownPlatform(`<prop id="smpi/send-is-detached-thresh" value="2147483648"/>`), strings.Replace(knownPlatform(""), `<host id="b" speed="1Gf"/>`, "", 1),
	} {
		if _, err := readPlatform([]byte(text)); !errors.Is(err, errSyntax) {
			t.Errorf("%s: %v, want errSyntax", text, err)
		}
	}
	if _, err := readSimGrid(t, switched(), 0).time("node-0", "nobody", 1); !errors.Is(err, errSyntax) {
		t.Errorf("no route: %v", err)
	}
}

// platformRuns are the params.json that a platform is made of: whole ones, and hostile ones.
func platformRuns() map[string]*params.Params {
	out := map[string]*params.Params{"fixture": platformFixture()}
	for kind, make := range map[string]func() *params.Params{"switch": switched, "medium": medium,
		"switch, first windows": func() *params.Params { return beginning(switched()) },
		"medium, first windows": func() *params.Params { return beginning(medium()) }} {
		out[kind] = make()
		for name := range make().Parameters {
			for _, v := range []float64{0, -1, 1e-300, 1e-9, 1, 1e9, 1e300, math.NaN(), math.Inf(1)} {
				p := make()
				q := p.Parameters[name]
				q.Value, q.Status = &v, params.StatusOK
				p.Parameters[name] = q
				out[fmt.Sprintf("%s, %s = %g", kind, name, v)] = p
			}
			p := make()
			delete(p.Parameters, name)
			out[kind+", no "+name] = p
		}
		for name := range make().Functions {
			p := make()
			delete(p.Functions, name)
			out[kind+", no function "+name] = p
			for c := range make().Functions[name].Coeff {
				for _, v := range []float64{0, -1, 1e-300, -1e-6, 1e12, 1e300, math.NaN()} {
					p := make()
					p.Functions[name].Coeff[c] = v
					out[fmt.Sprintf("%s, %s of %s = %g", kind, c, name, v)] = p
				}
			}
		}
	}
	for label, hosts := range map[string][]string{"equal names": {"h", "h", "h"},
		"names that merge": {"a_1", "a", "a ", "a_", "", "\u2028"},
		"markup":           {"--><host id=\"x\"/>", "&amp;", "\x00"}, "one host": {"h"}} {
		p := switched()
		p.Run.Hosts, p.Run.ID, p.Run.Plan = hosts, "--><x/><!--", "\xff\n--"
		out[label] = p
	}
	return out
}

// TestReadBack: whatever is in params.json, a platform that is handed out is one that SimGrid reads, and a message
// alone takes T(x) on it in both directions, on both sides of every boundary and between.
func TestPlatformReadBack(t *testing.T) {
	for name, p := range platformRuns() {
		t.Run(name, func(t *testing.T) {
			file, _, err := exportPlatform(p, 0)
			if err != nil {
				if !errors.Is(err, ErrMissing) && !errors.Is(err, ErrLimit) && !errors.Is(err, ErrOption) {
					t.Error(err)
				}
				return
			}
			platform, err := readPlatform(file)
			if err != nil {
				t.Fatal(err)
			}
			first, last := platform.hosts[0], platform.hosts[len(platform.hosts)-1]
			if hosts, err := platformHosts(file); err != nil || !cmp.Equal(hosts, platform.hosts) ||
				len(hosts) != len(p.Run.Hosts) || first == last {
				t.Errorf("hosts %q, %v", hosts, err)
			}
			for _, x := range platform.sizes() {
				want, err := p.Functions["T"].At(float64(x), 1, nil)
				if err != nil {
					t.Fatal(err)
				}
				for _, way := range [][2]string{{first, last}, {last, first}} {
					if got, err := platform.time(way[0], way[1], x); err != nil || math.Abs(got/want-1) > 1e-9 {
						t.Errorf("T(%d) = %g s, want %g: %v", x, got, want, err)
					}
				}
			}
		})
	}
}

// sizes are both sides of every boundary of a platform, and between [B].
func (p *simulated) sizes() []int {
	out := []int{1}
	for i, f := range p.factors["smpi/os"] {
		to := 1 << 30
		if i+1 < len(p.factors["smpi/os"]) {
			to = p.factors["smpi/os"][i+1].above
		}
		for _, x := range []int{f.above, f.above + 1, int(math.Sqrt(float64(f.above+1) * float64(to))), to} {
			if x > 0 {
				out = append(out, x)
			}
		}
	}
	return out
}

func TestPlatformGolden(t *testing.T) {
	for name, p := range map[string]*params.Params{"platform.xml": switched(),
		"platform-beginning.xml": beginning(switched())} {
		path := filepath.Join("testdata", name)
		got := platformFile(t, p, 0)
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
