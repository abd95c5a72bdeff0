package cost

import (
	"compress/gzip"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"calib/fit/cluster"
	"calib/params"
)

// stored is a params.json of the models' tests.
func stored(t *testing.T, name string) *params.Params {
	t.Helper()
	file, err := os.Open("../../fit/models/testdata/" + name + "/params.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	text, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	p, err := params.Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// change is p with one parameter changed.
func change(p *params.Params, name string, of func(*params.Parameter)) {
	q := p.Parameters[name]
	of(&q)
	p.Parameters[name] = q
}

func set(p *params.Params, name string, v float64) {
	change(p, name, func(q *params.Parameter) { q.Value, q.Status = &v, params.StatusOK })
}

// Every parameter that a model needs is asked for by name, and with the experiment where it was not measured; no
// impossible value passes.
func TestParameters(t *testing.T) {
	for _, tc := range []struct {
		of         func(*params.Params) (Model, error)
		model      string
		names      []string
		experiment string
	}{
		{Hockney, "hockney", []string{"alpha", "beta"}, "pingpong"},
		{LogGP, "loggp", []string{"L", "o_s", "o_r", "g", "G"}, "prtt"},
		{Hyperbolic, "hyperbolic-network", []string{"a", "b", "a_c", "b_c"}, "paired"},
	} {
		for _, name := range tc.names {
			says := func(p *params.Params, what string) {
				t.Helper()
				_, err := tc.of(p)
				if !errors.Is(err, ErrParameters) || !strings.Contains(err.Error(), what) ||
					strings.Contains(what, "missing") != strings.Contains(err.Error(), ","+tc.experiment) {
					t.Errorf("%s of %s: %v, want %q", name, tc.model, err, what)
				}
			}
			p := stored(t, "switch-full")
			if _, err := tc.of(p); err != nil {
				t.Fatal(err)
			}
			for _, v := range []float64{0, -1e-6, math.NaN(), math.Inf(1)} {
				set(p, name, v)
				mayBeZero := tc.model == "loggp" && name != "G" || strings.HasSuffix(name, "_c")
				if v == 0 && mayBeZero { // a cost that was not seen is none
					if _, err := tc.of(p); err != nil {
						t.Error(err)
					}
					continue
				}
				says(p, name+" = ")
			}
			change(p, name, func(q *params.Parameter) { q.Withhold(params.StatusInconsistent, "contradicted") })
			says(p, name+" is withheld (inconsistent: contradicted)")
			delete(p.Parameters, name)
			delete(p.Functions, name)
			says(p, name+" is missing")
		}
	}
	for _, name := range []string{"L", "o_s", "o_r", "g"} {
		p := stored(t, "switch-full")
		change(p, name, func(q *params.Parameter) {
			q.Withhold(params.StatusBound, "")
			q.Bound = &params.Bound{0, 1e-6}
		})
		if _, err := LogGP(p); err != nil {
			t.Errorf("%s that may be zero: %v", name, err)
		}
	}
	p := stored(t, "switch-full")
	p.Parameters["L"] = params.Parameter{Model: "another"}
	if _, err := LogGP(p); !errors.Is(err, ErrParameters) {
		t.Errorf("L of another model: %v", err)
	}
}

func TestHyperbolicOpen(t *testing.T) {
	bound := func(q *params.Parameter) { q.Withhold(params.StatusBound, "") }
	open := func(q *params.Parameter) { q.Withhold(params.StatusUnidentifiable, "") }
	const a, ac, b, bc = 1e-3, 2e-4, 3e-8, 2e-8
	host, network := params.Block{A: a, B: b}, params.Block{A: ac, B: bc}
	for _, tc := range []struct {
		name    string
		network *params.Network
		change  map[string]func(*params.Parameter)
		want    *hyperbolic
	}{
		{"all known", &params.Network{Packets: params.Shared, Streams: params.Shared}, nil,
			&hyperbolic{host: host, network: network}},
		{"kind not known", nil, nil, &hyperbolic{host: host, network: network}},
		{"switch", &params.Network{Packets: params.Switch, Streams: params.Switch},
			map[string]func(*params.Parameter){"a_c": bound, "b_c": open}, &hyperbolic{host: host, ports: true}},
		{"switch whose port shows", &params.Network{Packets: params.Switch, Streams: params.Switch},
			map[string]func(*params.Parameter){"b_c": open},
			&hyperbolic{host: host, network: params.Block{A: ac}, ports: true}},
		{"switch with a narrow uplink", &params.Network{Packets: params.Switch, Streams: params.Shared},
			map[string]func(*params.Parameter){"a_c": open},
			&hyperbolic{host: host, network: params.Block{B: bc}, ports: true}},
		{"b ≤ b_c", &params.Network{Packets: params.Shared, Streams: params.Shared},
			map[string]func(*params.Parameter){"b": open},
			&hyperbolic{host: params.Block{A: a, B: bc}, network: network}},
		{"a_c open, no switch", &params.Network{Packets: params.Unknown, Streams: params.Switch},
			map[string]func(*params.Parameter){"a_c": bound}, nil},
		{"b_c open, no switch", &params.Network{Packets: params.Switch, Streams: params.Unknown},
			map[string]func(*params.Parameter){"b_c": open}, nil},
		{"b and b_c open", &params.Network{Packets: params.Switch, Streams: params.Switch},
			map[string]func(*params.Parameter){"b": open, "b_c": open}, nil},
		{"contradicted on a switch", &params.Network{Packets: params.Switch, Streams: params.Switch},
			map[string]func(*params.Parameter){"a_c": func(q *params.Parameter) { q.Withhold(params.StatusInconsistent, "") }},
			nil},
	} {
		p := &params.Params{Network: tc.network, Parameters: map[string]params.Parameter{}}
		for name, v := range map[string]float64{"a": a, "a_c": ac, "b": b, "b_c": bc} {
			p.Parameters[name] = params.Parameter{Value: &v, Status: params.StatusOK, Model: "hyperbolic-network"}
		}
		for name, of := range tc.change {
			change(p, name, of)
		}
		m, err := Hyperbolic(p)
		if tc.want == nil {
			if !errors.Is(err, ErrParameters) || m != nil {
				t.Errorf("%s: %v, %v", tc.name, m, err)
			}
			continue
		}
		if h, ok := m.(*hyperbolic); err != nil || !ok || *h != *tc.want {
			t.Errorf("%s: %+v, %v, want %+v", tc.name, m, err, tc.want)
		}
	}
}

// Stored runs give all the models' times, or say what is missing.
func TestStored(t *testing.T) {
	p := stored(t, "switch-full")
	for _, of := range []func(*params.Params) (Model, error){Hockney, LogGP, Hyperbolic, Cluster} {
		m, err := of(p)
		if err != nil {
			t.Fatal(err)
		}
		if v := timeOf(t, m, find(t, "bcast", "serial"), 4, 1000); !(v > 1e-4 && v < 1e-2) {
			t.Errorf("%s: serial broadcast of 1,000 B to 4 hosts takes %g s", fmt.Sprintf("%T", m), v)
		}
	}
	if _, err := Hyperbolic(stored(t, "two-hosts")); !errors.Is(err, ErrParameters) ||
		!strings.Contains(err.Error(), "a is withheld (unidentifiable: one number of pairs") {
		t.Errorf("two hosts: %v", err)
	}
	h, err := Hyperbolic(stored(t, "shared"))
	if err != nil {
		t.Fatal(err)
	}
	near(t, "eq. 16 of the shared network", timeOf(t, h, find(t, "p2p", "direct"), 2, 4096),
		h.(*hyperbolic).path(1).T(4096))
}

// The cluster model gives eq. 2 and 8 with the functions of the file.
func TestCluster(t *testing.T) {
	p := stored(t, "switch-full")
	c, err := cluster.Of(p)
	if err != nil {
		t.Fatal(err)
	}
	m, err := Cluster(p)
	if err != nil {
		t.Fatal(err)
	}
	const hosts, packets = 8, 5
	bytes := packets * int(c.MTU)
	way := func(p float64) float64 { return c.Os.Of(c.MTU) + c.L.At(c.MTU, p) + c.Or.Of(c.MTU) + c.Ur.Of(c.MTU) }
	gs, gr := c.Gs.Of(c.MTU), c.Gr.Of(c.MTU)
	gather := way(hosts) + max((hosts-1)*packets*gr-gr, packets*gs-gs+(hosts-2)*gr)
	byTwo, err := c.GatherTime(hosts-1, float64(bytes), 2)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "p2p", timeOf(t, m, find(t, "p2p", "direct"), 2, bytes), (packets-1)*gs+way(2))
	near(t, "scatter", timeOf(t, m, find(t, "bcast", "serial"), hosts, bytes), ((hosts-1)*packets-1)*gs+way(hosts))
	near(t, "eq. 2", timeOf(t, m, as("bcast", "binomial", binomial), hosts, bytes),
		(packets-1)*(2*gs+c.Or.Of(c.MTU)+c.Ur.Of(c.MTU))+3*way(hosts))
	for _, hosts := range []int{2, 3} { // the same messages, whatever the pattern is called
		near(t, "a tree that is a scatter", timeOf(t, m, as("bcast", "binomial", binomial), hosts, bytes),
			timeOf(t, m, find(t, "bcast", "serial"), hosts, bytes))
	}
	near(t, "eq. 8", timeOf(t, m, as("incast", "direct", incast), hosts, bytes), gather)
	near(t, "eq. 8, by two", timeOf(t, m, as("gather", "windows", incast), hosts, bytes), byTwo)
	if _, err := m.Time(TrafficOf(find(t, "bcast", "binary"), hosts, bytes)); !errors.Is(err, ErrNotPredicted) {
		t.Errorf("binary broadcast: %v", err)
	}
	if _, err := m.Time(TrafficOf(as("ring", "", rounds(3, ringStep)), 4, 4000)); !errors.Is(err, ErrNotPredicted) {
		t.Errorf("ring: %v", err)
	}
}

func TestClusterParameters(t *testing.T) {
	for _, tc := range []struct {
		name string
		of   func(*params.Params)
		want string
	}{
		{"no gap", func(p *params.Params) { delete(p.Functions, "g_s") }, "g_s is missing"},
		{"withheld", func(p *params.Params) {
			f := p.Functions["L_cluster"]
			f.Status, f.Why = params.StatusInconsistent, "contradicted"
			p.Functions["L_cluster"] = f
		}, "L_cluster is withheld (inconsistent: contradicted)"},
		{"negative", func(p *params.Params) { p.Functions["g_r"].Coeff["c0"] = -1 }, "g_r of 1 B is -"},
		{"not a number", func(p *params.Params) { p.Functions["O_s"].Coeff["c1"] = math.NaN() }, "O_s of 1 B is NaN"},
		{"negative O_r", func(p *params.Params) {
			f := p.Functions["U_r"]
			f.Coeff = map[string]float64{"c0": -1e-6, "c1": 0}
			p.Functions["O_r"] = f
		}, "O_r of 1 B is -1e-06"},
		{"no form", func(p *params.Params) {
			f := p.Functions["g_s"]
			f.Form = "?"
			p.Functions["g_s"] = f
		}, "function g_s"},
		{"no packet", func(p *params.Params) { set(p, "packet", -1) }, "the packet of"},
	} {
		p := stored(t, "switch-full")
		tc.of(p)
		m, err := Cluster(p)
		if !errors.Is(err, ErrParameters) || m != nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, %v", tc.name, m, err)
		}
	}
}
