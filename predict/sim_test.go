package predict

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"calib/bench/pattern"
	"calib/fit/loggp"
	"calib/params"
	"calib/predict/cost"
	"calib/predict/network"
)

const us = 1e-6

func built(p *params.Params) (*simulated, error) {
	m, err := simulation(func(*simulated) error { return nil })(p, loggp.Cube{})
	w, _ := m.(*simulated)
	return w, err
}

// run is a params.json with parameters that may be used.
func run(kind params.Kind, values map[string]float64) *params.Params {
	p := &params.Params{Parameters: map[string]params.Parameter{}, Functions: map[string]params.Function{},
		Network:     &params.Network{Packets: kind, Streams: kind},
		Environment: params.Environment{Common: map[string]string{"nic.segment": "1448"}}}
	for name, v := range values {
		p.Parameters[name] = params.Parameter{Value: &v, Status: params.StatusOK}
	}
	return p
}

// with adds a function of a form.
func with(p *params.Params, name, form string, coeff map[string]float64) *params.Params {
	p.Functions[name] = params.Function{Form: form, Coeff: coeff, Unit: "s", Status: params.StatusOK}
	return p
}

func sparc() map[string]float64 {
	return map[string]float64{"a": 860 * us, "a_c": 346 * us, "b": 1.42 * us, "b_c": 0.92 * us}
}

// cluster is a switch whose every cost is known: L is what host, port and receiver take per byte, and 300 µs.
func cluster() *params.Params {
	p := run(params.Switch, map[string]float64{"packet": 1448, "B_L": 64})
	with(p, "O_s", params.Line, map[string]float64{"c0": 5 * us, "c1": 0})
	with(p, "U_r", params.Line, map[string]float64{"c0": 2 * us, "c1": 0})
	with(p, "g_s", params.Line, map[string]float64{"c0": 150 * us, "c1": 0.1 * us})
	with(p, "g_r", params.Line, map[string]float64{"c0": 120 * us, "c1": 0.08 * us})
	return with(p, "L_cluster", params.Bilinear, map[string]float64{"l0": 300 * us, "l1": 10 * us, "tau": 0.2 * us})
}

func seconds(t *testing.T, p *params.Params, operation, algorithm string, hosts, bytes int) float64 {
	t.Helper()
	w, err := built(p)
	if err != nil {
		t.Fatal(err)
	}
	what, err := pattern.Find(operation, algorithm)
	if err != nil {
		t.Fatal(err)
	}
	v, err := w.Time(cost.TrafficOf(what, hosts, bytes))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// crowded is that cluster with an aggregate rate of 25 B/µs, which four hosts that send 1,000 B every 250 µs stay below
// and sixteen do not.
func crowded() *params.Params {
	p := cluster()
	l := p.Functions["L_cluster"]
	l.Form, l.Coeff["N"] = params.Limited, 25e6
	p.Functions["L_cluster"] = l
	return p
}

// What the network was told comes out of it.
func TestTimes(t *testing.T) {
	offloads := map[string]float64{"a_prime_limits": 20 * us, "b": 0.0002 * us, "b_prime_limits": 0.0003 * us}
	for _, c := range []struct {
		name, operation, algorithm string
		p                          *params.Params
		hosts, bytes               int
		want                       float64
	}{
		{"a medium, one message", "p2p", "direct", run(params.Shared, sparc()), 2, 1, 2*860*us + 346*us + 1.15*us},
		{"a medium that four share", "gather", "direct", run(params.Shared, sparc()), 5, 1, 5*860*us + 346*us + 4*us},
		{"L_cluster(m, p) with two hosts", "p2p", "direct", cluster(), 2, 1000, (5 + 300 + 20 + 200 + 2) * us},
		{"L_cluster(m, p) with eight", "scatter", "direct", cluster(), 8, 1, (6*150.1 + 5 + 300 + 80 + 0.2 + 2) * us},
		{"a network with room for four", "bcast", "binomial", crowded(), 4, 1000, 2 * (5 + 300 + 40 + 200 + 2) * us},
		{"and too little for sixteen that are active when it begins", "bcast", "binomial", crowded(), 16, 1000,
			4 * (5 + 300 + 160 + 200*2.56 + 2) * us},
		{"a port", "incast", "direct", cluster(), 8, 1, (5 + 300 + 80 + 6*120.1 + 0.2 + 2) * us},
		{"two hosts alone", "p2p", "direct", run(params.Switch, map[string]float64{"alpha": 2000 * us, "beta": 1 * us}), 2, 1,
			2000 * us},
		{"hosts that bundle packets, a short message", "p2p", "direct", run(params.Switch, offloads), 2, 1, 20 * us},
		{"hosts that bundle packets, a piece", "p2p", "direct", run(params.Switch, offloads), 2, 64000,
			(20 + 64000*0.0003) * us},
	} {
		got := seconds(t, c.p, c.operation, c.algorithm, c.hosts, c.bytes)
		if math.Abs(got/c.want-1) > 0.01 {
			t.Errorf("%s: %.6g s, want %.6g", c.name, got, c.want)
		}
	}
}

// A kind of network that is not known is what the pairs that were measured look more like; what was assumed is said.
func TestUnknownKind(t *testing.T) {
	for growth, want := range map[float64]string{0.33: "it is taken as one, since pairs delay each other by 33%",
		0.02: "switch is not known; it is taken as one"} {
		p := run(params.Unknown, sparc())
		p.Findings = []params.Finding{params.Notef(params.NetworkUnknown, "not known").With("margin", 0.1).With("packets",
			growth)}
		w, err := built(p)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(strings.Join(w.Notes, "\n"), want) {
			t.Errorf("pairs that delay each other by %g: %q", growth, w.Notes)
		}
	}
}

// A withheld parameter is not used; without enough of them there is no network, and the error says which experiments
// help.
func TestMissing(t *testing.T) {
	p := run(params.Shared, map[string]float64{"a": 860 * us})
	q := p.Parameters["a"]
	q.Withhold(params.StatusInconsistent, "contradicted")
	p.Parameters["a"] = q
	_, err := built(p)
	if !errors.Is(err, network.ErrParameters) || !strings.Contains(err.Error(), "clock,paired,pingpong") ||
		!strings.Contains(err.Error(), "clock,gap,load,overhead") {
		t.Errorf("%v", err)
	}
}

// B_L is the port's room; without it the ports hold everything.
func TestBuffer(t *testing.T) {
	w, err := built(cluster())
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(w.From, "B_L") || w.Spec.Buffer != 64 {
		t.Errorf("told %v, room %d", w.From, w.Spec.Buffer)
	}
	free, err := built(cluster())
	if err == nil {
		err = free.endless()
	}
	if err != nil || free.Spec.Buffer != 0 || w.Spec.Buffer != 64 {
		t.Errorf("%v, %d", err, free.Spec.Buffer)
	}
	if err := free.endless(); err == nil {
		t.Errorf("without a buffer: %v", err)
	}
	incast, _ := pattern.Find("incast", "direct")
	small, _ := w.Time(cost.TrafficOf(incast, 8, 64<<10))
	large, _ := free.Time(cost.TrafficOf(incast, 8, 64<<10))
	if !(small >= large && small < 1.2*large) {
		t.Errorf("an overflowing port takes %g s, one that holds all %g: lost packets are sent again while the port is busy",
			small, large)
	}
}

// A send buffer has the room that the kernel granted.
func TestSendBuffer(t *testing.T) {
	values := sparc()
	values["send_buffer"] = 69120
	w, err := built(run(params.Shared, values))
	if err != nil || w.opt.SendBuffer != 69120 {
		t.Errorf("room for %d B, want 69,120 (%v)", w.opt.SendBuffer, err)
	}
}

// A pattern that is not defined for so many hosts is an error.
func TestUndefined(t *testing.T) {
	w, err := built(run(params.Shared, sparc()))
	if err != nil {
		t.Fatal(err)
	}
	one, _ := pattern.Find("p2p", "direct")
	if _, err := w.Time(cost.TrafficOf(one, 5, 1)); err == nil {
		t.Error("one message of five hosts")
	}
}

// Hosts of a switch whose delay grows with their number look like a medium that they share; its parameters then miss a
// single message, and the network is told those of the cluster model instead.
func TestBestOfSeveral(t *testing.T) {
	p := cluster()
	p.Network.Packets = params.Shared
	for name, v := range sparc() {
		p.Parameters[name] = params.Parameter{Value: &v, Status: params.StatusOK}
	}
	var points []params.Residual
	for _, m := range []float64{1, 1000} {
		points = append(points, params.Residual{X: m, Measured: (5+300+20+2)*us + 0.2*us*m})
	}
	p.Fits = []*params.Fit{{Series: []params.Series{{Quantity: params.Time, Points: points}}}}
	w, err := built(p)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(w.From, "L_cluster") || slices.Contains(w.From, "a_c") {
		t.Errorf("told %v, where a and a_c miss a message by a factor of six", w.From)
	}
}

// Two messages of 40 packets that a host sends one after the other: on warm connections the first is there in half the
// time of both, on cold ones, which take turns in the host, when the second nearly is.
func TestCold(t *testing.T) {
	p := run(params.Shared, map[string]float64{"a": 1000 * us, "b": 1 * us, "a_c": 0.1 * us, "b_c": 0.001 * us})
	w, err := built(p)
	if err != nil {
		t.Fatal(err)
	}
	cold, err := built(p)
	if err == nil {
		err = cold.cold()
	}
	if err != nil {
		t.Fatal(err)
	}
	tree, _ := pattern.Find("bcast", "binomial")
	const m = 40 * 1448
	one := 1e-6 * m
	warm, _ := w.Time(cost.TrafficOf(tree, 4, m))
	late, err := cold.Time(cost.TrafficOf(tree, 4, m))
	if err != nil || math.Abs(warm/one-2) > 0.1 || math.Abs(late/one-3) > 0.2 {
		t.Errorf("broadcasts take %.2f and cold %.2f times a message, want 2 and nearly 3 (%v)", warm/one, late/one, err)
	}
}

// Where hosts are in groups, the simulation says nothing of hosts that the run has not; the other models do.
func TestHostsInNoGroup(t *testing.T) {
	p := with(cluster(), "O_r", params.Line, map[string]float64{"c0": us, "c1": 0})
	p.Run.Hosts = []string{"h0", "h1", "h2", "h3"}
	p.Groups = &params.Groups{Hosts: [][]string{{"h0", "h2"}, {"h1", "h3"}}}
	for name, way := range map[string]float64{params.WithinGroups: 300 * us, params.BetweenGroups: 400 * us} {
		p.Classes = append(p.Classes, params.Class{Name: name,
			Parameters: map[string]params.Parameter{"a_prime_limits": {Value: &way}}})
	}
	q, err := New(p, []string{Sim, Cluster})
	if err != nil {
		t.Fatal(err)
	}
	bcast, _ := pattern.Find("bcast", "binomial")
	for hosts, why := range map[int]string{4: "", 6: "2 hosts in none of the run's groups"} {
		out := q.Predict(Query{Pattern: bcast, Hosts: hosts, Bytes: 1000})
		if got := out[0].Why; (got == "") != (why == "") || !strings.HasPrefix(got, why) || out[1].Seconds == 0 {
			t.Errorf("%d hosts: %+v", hosts, out)
		}
	}
}
