package network

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"calib/internal/netspec"
	"calib/params"
)

const us = 1e-6

// run is a params.json of four hosts with parameters that may be used.
func run(kind params.Kind, values map[string]float64) *params.Params {
	p := &params.Params{Run: params.Run{Hosts: []string{"h0", "h1", "h2", "h3"}},
		Parameters: map[string]params.Parameter{},
		Functions:  map[string]params.Function{}, Network: &params.Network{Packets: kind, Streams: kind}}
	for name, v := range values {
		p.Parameters[name] = params.Parameter{Value: &v, Status: params.StatusOK}
	}
	return p
}

func with(p *params.Params, name, form string, coeff map[string]float64) {
	p.Functions[name] = params.Function{Form: form, Coeff: coeff, Unit: "s", Status: params.StatusOK}
}

func copied(t interface{ Fatal(...any) }, p *params.Params, slowdown float64) *Copy {
	n, err := Of(p)
	if err != nil {
		t.Fatal(err)
	}
	c, err := n.Copy(p, 4, slowdown)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// What the parameters of a run say is true of the copy, however slow it is.
func TestParametersAreTrue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := func(name string, lo, hi float64) float64 { return rapid.Float64Range(lo, hi).Draw(t, name) }
		want := map[string]float64{"a": number("a", 100, 2000) * us, "a_c": number("a_c", 10, 500) * us,
			"b_c": number("b_c", 0.5, 2) * us}
		want["b"] = math.Max(number("b", 1, 3)*us, math.Max(want["b_c"]*1.01, want["a"]/1448))
		p := run(params.Shared, want)
		want["packet"] = 1448
		p.Parameters["packet"] = params.Parameter{Value: ptr(1448.0), Status: params.StatusOK}
		delete(want, "packet")
		factor := rapid.SampledFrom([]float64{1, 3, 20}).Draw(t, "factor")
		c := copied(t, p, factor)
		got := c.Spec.TrueParameters()
		for name, v := range want {
			if math.Abs(got[name]-v*factor) > 1e-9*v*factor {
				t.Fatalf("%s is %g, want %g times %g", name, got[name], factor, v)
			}
		}
	})
}

func ptr[T any](v T) *T { return &v }

// cluster is a switch that is known by the functions of the cluster model, factor times faster than the lab can play.
func cluster(factor float64) *params.Params {
	p := run(params.Switch, map[string]float64{"packet": 1448, "B_L": 63.6})
	for name, f := range map[string]params.Cost{"g_s": {C0: 150 * us, C1: 0.1464 * us},
		"g_r": {C0: 120 * us, C1: 0.1171 * us}, "O_s": {C0: 8 * us}, "U_r": {C0: 2 * us}} {
		with(p, name, params.Line, map[string]float64{"c0": f.C0 / factor, "c1": f.C1 / factor})
	}
	with(p, "L_cluster", params.Limited, map[string]float64{"l0": 390 * us / factor, "l1": 3 * us / factor,
		"tau": 0.28 * us / factor, "N": 8e6 * factor})
	return p
}

func TestSwitch(t *testing.T) {
	for _, factor := range []float64{1, 20} {
		c := copied(t, cluster(factor), 0)
		if c.Spec.Slowdown != factor || c.Spec.Buffer != 64 {
			t.Errorf("%g times too fast: slowed %g times, room %d", factor, c.Spec.Slowdown, c.Spec.Buffer)
		}
		got := c.Spec.TrueFunctions()
		calls := 10 * us / factor * (factor - 1) // what the run's hosts spend beyond the lab's
		for name, v := range map[string]float64{"g_s.c0": 150 * us, "g_s.c1": 0.1464 * us, "g_r.c0": 150 * us,
			"L_cluster.l0": 390*us + calls, "L_cluster.l1": 3 * us,
			"L_cluster.tau": 0.28 * us, "L_cluster.N": 8e6} {
			if name == "g_r.c0" {
				v = 120 * us
			}
			if math.Abs(got[name]-v) > 1e-6*v {
				t.Errorf("%g times too fast: %s is %g, want %g", factor, name, got[name], v)
			}
		}
	}
}

// The cluster of Tam and Wang (2000), whose frames have a least size: of the functions that calib fits there, the
// network is made again.
func TestLeastFrame(t *testing.T) {
	n, err := Of(leastFrame())
	if err != nil {
		t.Fatal(err)
	}
	if s := n.Spec; !s.CutThrough || math.Abs(s.L-11.7*us) > 0.02*us || math.Abs(s.Receive.B-0.0033*us) > 0.0005*us {
		t.Errorf("cut-through %t, L %g, receiving %g s/B; want about 11.7 µs and 3.3 ns/B", s.CutThrough, s.L, s.Receive.B)
	}
}

// No network becomes faster by load: an L that falls with the hosts is that of the fewest.
func TestFallingL(t *testing.T) {
	p := cluster(1)
	f := p.Functions["L_cluster"]
	f.Coeff["l1"], f.Domain = -5*us, map[string][2]float64{"p": {2, 8}}
	p.Functions["L_cluster"] = f
	got := copied(t, p, 1).Spec.TrueFunctions()
	if math.Abs(got["L_cluster.l0"]-380*us) > 1e-9 || got["L_cluster.l1"] != 0 {
		t.Errorf("l0 %g, l1 %g, want 380 µs and 0", got["L_cluster.l0"], got["L_cluster.l1"])
	}
}

// Where only two hosts alone were measured, a host's calls come before its block.
func TestCallsBeforeBlocks(t *testing.T) {
	p := run(params.Switch, map[string]float64{"alpha": 20 * us, "beta": 0.008 * us, "g": 6 * us, "packet": 1448})
	with(p, "O_s", params.Line, map[string]float64{"c0": 4 * us, "c1": 0})
	c := copied(t, p, 50)
	if got, want := c.Spec.Service(c.Spec.Host, 0), (50*2+49*4)*us; math.Abs(got-want) > 1e-12 {
		t.Errorf("a host is busy for %g s, want %g: 50·(g − O_s) and 49·O_s", got, want)
	}
	if got, want := c.Spec.Way(0, 1, 0, 2), (50*16+49*4)*us; math.Abs(got-want) > 1e-12 {
		t.Errorf("an empty message takes %g s, want %g", got, want)
	}
}

// A packet that passes three stores takes longer by the byte than two hosts do: the port has the rest, and no more than
// a stream takes.
func TestPortOfPairs(t *testing.T) {
	for _, slope := range []float64{0.6, 1.1, 3} {
		p := run(params.Switch, map[string]float64{"alpha": 1000 * us, "beta": 0.6 * us, "packet": 1448, "g": 400 * us})
		s := params.Series{Quantity: params.Time}
		for _, x := range []float64{1, 1400, 16000} {
			s.Add(x, 1000*us+slope*us*(x-1), [2]float64{}, 0, 1)
		}
		p.Fits = []*params.Fit{{Model: "hockney", Series: []params.Series{s}}}
		n, err := Of(p)
		if err != nil {
			t.Fatal(err)
		}
		host := 0.6 - 400.0/1448 // of each host, within a packet [µs/B]
		want := math.Min(math.Max(slope-2*host, 0), 0.6)
		if got := n.Spec.Medium.B; math.Abs(got-want*us) > 1e-12 {
			t.Errorf("%g µs/B a packet: the port takes %g s/B, want %g µs/B", slope, got, want)
		}
	}
}

// differing4 is a run on a switch of which the named pairs stand out.
func differing4(slow map[string]float64, named ...string) *params.Params {
	p := run(params.Switch, map[string]float64{"alpha": 1000 * us, "beta": 0.6 * us, "packet": 1448})
	s := params.Series{Quantity: params.Time}
	s.Add(1, 1000*us, [2]float64{}, 0, 1)
	s.Add(64000, 39e-3, [2]float64{}, 0, 1)
	p.Fits = []*params.Fit{{Model: "hockney", Series: []params.Series{s}}}
	for i, a := range p.Run.Hosts {
		for _, b := range p.Run.Hosts[i+1:] {
			f := max(slow[a], slow[b], slow[a+b], 1)
			q := params.Pair{From: a, To: b, Latency: ptr(f * 1000 * us), Rate: ptr(1.6e6 / f)}
			if slow[a+b] > 0 {
				q.Slow = "slow"
			}
			p.Pairs = append(p.Pairs, q)
		}
	}
	for _, h := range named {
		p.Findings = append(p.Findings, params.Warnf(params.SlowHost, "").With("ratio", slow[h]).About(h))
	}
	return p
}

func TestSlowHostsAndPairs(t *testing.T) {
	c := copied(t, differing4(map[string]float64{"h2": 1.4, "h0h3": 2}, "h2"), 1)
	s := &c.Spec
	if len(s.Overrides) != 1 || len(s.Links) != 1 || !slices.Equal(s.Links[0].Between[0], []int{0}) ||
		!slices.Equal(s.Links[0].Between[1], []int{3}) {
		t.Fatalf("overrides %v, links %v", s.Overrides, s.Links)
	}
	for _, x := range []int{1, 64000} {
		normal := s.Message(0, 1, x)
		host := (s.Message(2, 1, x) + s.Message(1, 2, x)) / 2 / normal
		if pair := s.Message(3, 0, x) / normal; math.Abs(host-1.4) > 1e-3 || math.Abs(pair-2) > 1e-3 {
			t.Errorf("%d B: %g times as long with the slow host, %g between the slow pair; want 1.4 and 2", x, host, pair)
		}
	}
	slowed := copied(t, differing4(map[string]float64{"h2": 1.4, "h0h3": 2}, "h2"), 10).Spec
	if got := slowed.Message(2, 1, 1) / s.Message(2, 1, 1); math.Abs(got-10) > 1e-9 {
		t.Errorf("slowed 10 times, the slow host takes %g times as long", got)
	}
}

// What the file cannot hold is said.
func TestNotes(t *testing.T) {
	p := differing4(map[string]float64{"h3": 1.4}, "h3")
	n, err := Of(p)
	if err != nil {
		t.Fatal(err)
	}
	c, err := n.Copy(p, 2, 1)
	if err != nil || !strings.Contains(strings.Join(c.Notes, "\n"), "host h3 is slow, and not among the 2 hosts") {
		t.Errorf("%v, %q", err, c.Notes)
	}
	p.Fits = nil
	if c, _ := n.Copy(p, 4, 1); !strings.Contains(strings.Join(c.Notes, "\n"), "the run has no times by size") {
		t.Errorf("%q", c.Notes)
	}
	fast := run(params.Switch, map[string]float64{"alpha": 1e-12, "beta": 1e-15, "packet": 1448})
	n, err = Of(fast)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := n.Copy(fast, 4, 0); !errors.Is(err, ErrTooFast) {
		t.Errorf("%v, want ErrTooFast", err)
	}
}

// The slowdown is the least of the list with which the lab keeps its times.
func TestSlowdown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := cluster(math.Exp(rapid.Float64Range(0, math.Log(1000)).Draw(t, "factor")))
		n, err := Of(p)
		if err != nil {
			t.Fatal(err)
		}
		c, err := n.Copy(p, rapid.IntRange(2, 64).Draw(t, "hosts"), 0)
		if err != nil {
			t.Fatal(err)
		}
		if i := slices.Index(slowdowns, c.Spec.Slowdown); i >= 0 {
			less, err := n.Copy(p, c.Spec.Hosts, slowdowns[max(i-1, 0)])
			if err != nil || !playable(&c.Spec) || i > 0 && playable(&less.Spec) {
				t.Fatalf("slowed %g times: %v", c.Spec.Slowdown, err)
			}
		}
	})
}

// inGroups puts the hosts of p, which become six, into that many groups. A byte takes 20 µs within a group and 28 µs
// between, and an uplink has a rate [B/s]; 0 is none that is known.
func inGroups(p *params.Params, groups int, rate float64) *params.Params {
	p.Run.Hosts = []string{"h0", "h1", "h2", "h3", "h4", "h5"}
	p.Groups = &params.Groups{Hosts: make([][]string, groups)}
	for i, h := range p.Run.Hosts {
		p.Groups.Hosts[i%groups] = append(p.Groups.Hosts[i%groups], h)
	}
	for name, way := range map[string]float64{params.WithinGroups: 20 * us, params.BetweenGroups: 28 * us} {
		p.Classes = append(p.Classes, params.Class{Name: name,
			Parameters: map[string]params.Parameter{"a_prime_limits": {Value: &way}}})
	}
	if rate > 0 {
		p.Parameters["uplink_rate"] = params.Parameter{Value: &rate, Status: params.StatusOK}
	}
	return p
}

// leastFrame is the cluster of Tam and Wang (2000), whose switch cuts through.
func leastFrame() *params.Params {
	p := run(params.Switch, map[string]float64{"packet": 1448})
	with(p, "g_s", params.Floored, map[string]float64{"c0": 3.027 * us, "c1": 0.0796 * us, "floor": 6.73 * us})
	with(p, "g_r", params.Floored, map[string]float64{"c0": 4.986 * us, "c1": 0.0788 * us, "floor": 6.73 * us})
	with(p, "L_cluster", params.Bilinear, map[string]float64{"l0": 18.36 * us, "l1": 1.556 * us, "tau": 0.08087 * us})
	return p
}

// A byte between groups takes longer by what was measured, whether the switch stores packets or not, and a link has the
// rate that was measured, or none.
func TestUplinks(t *testing.T) {
	for _, build := range []func() *params.Params{leastFrame, func() *params.Params { return cluster(1) }} {
		for _, groups := range []int{2, 3} {
			for _, rate := range []float64{2.5e9, 0} {
				n, err := Of(inGroups(build(), groups, rate))
				if err != nil {
					t.Fatal(err)
				}
				s := n.Spec
				s.Hosts, s.Links = 6, n.Among(6)
				if err := s.Validate(); err != nil {
					t.Fatal(err)
				}
				if got := s.Way(0, 1, 1, 2) - s.Way(0, groups, 1, 2); math.Abs(got-8*us) > 1e-12 {
					t.Errorf("cut-through %t, %d groups, %g B/s: %g s longer between groups, want 8 µs", s.CutThrough, groups,
						rate, got)
				}
				want := 0.0
				if rate > 0 {
					want = 1448 / rate
				}
				for _, l := range s.Links {
					if got := s.Service(l.Block, 1448); math.Abs(got-want) > 1e-15 {
						t.Errorf("%d groups, %g B/s: a link serves a packet in %g s, want %g", groups, rate, got, want)
					}
				}
			}
		}
	}
}

// The copy's links are slower as all else is, and hosts that the run has not are said to be in no group.
func TestCopyOfGroups(t *testing.T) {
	p := inGroups(cluster(1), 2, 2.5e9)
	n, err := Of(p)
	if err != nil {
		t.Fatal(err)
	}
	for hosts, noted := range map[int]bool{6: false, 8: true} {
		c, err := n.Copy(p, hosts, 10)
		if err != nil {
			t.Fatal(err)
		}
		s := &c.Spec
		if got := s.Way(0, 1, 1, 2) - s.Way(0, 2, 1, 2); math.Abs(got-80*us) > 1e-12 {
			t.Errorf("%d hosts: %g s longer between groups, want 80 µs", hosts, got)
		}
		if got := strings.Contains(strings.Join(c.Notes, "\n"), "2 hosts in none of the run's groups"); got != noted {
			t.Errorf("%d hosts: %q", hosts, c.Notes)
		}
	}
}

// Where a kind's times are not known, all hosts are taken as those of one kind, which is said.
func TestKindsAreSaid(t *testing.T) {
	p := cluster(1)
	p.Kinds = [][]string{{"h0", "h1", "h2"}, {"h3"}}
	n, err := Of(p)
	if err != nil || !slices.Contains(n.Notes, "hosts are of 2 kinds: the numbers of the largest stand for all") {
		t.Errorf("%v, %q", err, n.Notes)
	}
}

// Hosts of another kind have the times of their class, as it says: in the simulation, and in a slowed copy.
func TestKindsHaveTheirTimes(t *testing.T) {
	for _, ratio := range []float64{0.8, 1.3} {
		p := differing4(nil)
		p.Kinds = [][]string{{"h0", "h1"}, {"h2", "h3"}}
		for i, factor := range []float64{1, ratio} {
			line := map[string]float64{"c0": factor * 1e-3, "c1": factor * 1e-6}
			p.Classes = append(p.Classes, params.Class{Name: params.KindName(i), Functions: map[string]params.Function{
				"T": {Form: params.Line, Coeff: line, Unit: "s", Status: params.StatusOK}}})
		}
		for _, factor := range []float64{1, 50} {
			c := copied(t, p, factor)
			for _, x := range []int{1, 64000} {
				if got := c.Spec.Message(2, 3, x) / c.Spec.Message(0, 1, x); math.Abs(got/ratio-1) > 0.02 {
					t.Errorf("%g times slower: %d B take hosts of the other kind %g times as long, want %g", factor, x, got, ratio)
				}
			}
			if slices.ContainsFunc(c.Notes, func(n string) bool { return strings.Contains(n, "kinds") }) {
				t.Errorf("%q", c.Notes)
			}
		}
	}
}

// Hosts of another kind have the times of their class beside racks too, wherever the first hosts are.
func TestKindsBesideRacks(t *testing.T) {
	p := differing4(nil)
	p.Kinds = [][]string{{"h0", "h1"}, {"h2", "h3"}}
	p.Groups = &params.Groups{Hosts: [][]string{{"h0", "h2"}, {"h1", "h3"}}, Apart: 2}
	for i, factor := range []float64{1, 1.5} {
		line := map[string]float64{"c0": factor * 1e-3, "c1": factor * 1e-6}
		p.Classes = append(p.Classes, params.Class{Name: params.KindName(i), Functions: map[string]params.Function{
			"T": {Form: params.Line, Coeff: line, Unit: "s", Status: params.StatusOK}}})
	}
	for name, way := range map[string]float64{params.WithinGroups: 1e-3, params.BetweenGroups: 2e-3} {
		p.Classes = append(p.Classes, params.Class{Name: name,
			Parameters: map[string]params.Parameter{"a_prime_limits": {Value: &way}}})
	}
	with := copied(t, p, 50).Spec
	if got := with.Alike().Message(0, 1, 1); math.Abs(messageOf(with, 2, 1)/got/1.5-1) > 0.02 {
		t.Errorf("two hosts of the other kind take %g times as long without racks, want 1.5", messageOf(with, 2, 1)/got)
	}
}

// messageOf is the time of a message between two hosts that are like one, without links.
func messageOf(s netspec.Spec, host, x int) float64 {
	s.Links, s.Overrides = nil, map[int]netspec.Block{0: s.Overrides[host], 1: s.Overrides[host]}
	return s.Message(0, 1, x)
}

// The messages of a slow host take longer by the run's ratio in a slowed copy, too, of whose times calls are a part.
func TestSlowHostOfSlowedCopy(t *testing.T) {
	p := differing4(map[string]float64{"h3": 1.4}, "h3")
	for name, v := range map[string]float64{"g": 300 * us} {
		p.Parameters[name] = params.Parameter{Value: &v, Status: params.StatusOK}
	}
	with(p, "O_s", params.Line, map[string]float64{"c0": 200 * us, "c1": 0})
	for _, factor := range []float64{1, 50} {
		s := copied(t, p, factor).Spec
		if got := (s.Message(0, 3, 1) + s.Message(3, 0, 1)) / 2 / s.Message(0, 1, 1); math.Abs(got-1.4) > 0.02 {
			t.Errorf("%g times slower: messages of the slow host take %g times as long, want 1.4", factor, got)
		}
	}
}

// A pair is slow beside those of its kind, within groups or between.
func TestSlowPairOfAGroup(t *testing.T) {
	p := differing4(map[string]float64{"h0h1": 2})
	p.Groups = &params.Groups{Hosts: [][]string{{"h0", "h1"}, {"h2", "h3"}}}
	for _, q := range p.Pairs[1:5] {
		*q.Latency *= 1.4
	}
	p.Findings = append(p.Findings, params.Warnf(params.SlowUplink, "the uplink of h0, h1 is slow").About("h0", "h1"))
	s := copied(t, p, 1).Spec
	if got := s.Message(0, 1, 1) / s.Message(2, 3, 1); math.Abs(got-2) > 0.01 {
		t.Errorf("messages of the slow pair take %g times as long, want 2", got)
	}
	if got := SlowUplinks(p); len(got) != 1 || !strings.HasSuffix(got[0], "though the uplink of h0, h1 is slow") {
		t.Errorf("notes %q", got)
	}
}
