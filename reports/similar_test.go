package reports

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"calib/params"
)

// network is hosts whose pairs are as they are told.
type network struct {
	hosts   int
	part    func(h int) float64    // of a latency [s]
	way     func(a, b int) float64 // s
	rate    func(h int) float64    // B/s
	scatter float64                // standard deviation of a latency, relative
}

// measured is the pairs of a network that so many random matchings have measured; 0 is all pairs.
func (n network) measured(matchings int) *params.Params {
	p := &params.Params{}
	rng := rand.New(rand.NewPCG(1, 2))
	for h := range n.hosts {
		p.Run.Hosts = append(p.Run.Hosts, fmt.Sprintf("n%04d", h))
	}
	add := func(a, b int) {
		a, b = min(a, b), max(a, b)
		latency := (n.part(a) + n.part(b)) * (1 + n.scatter*rng.NormFloat64())
		if n.way != nil {
			latency += n.way(a, b)
		}
		q := params.Pair{From: p.Run.Hosts[a], To: p.Run.Hosts[b], Latency: &latency}
		if n.rate != nil {
			rate := min(n.rate(a), n.rate(b))
			q.Rate = &rate
		}
		p.Pairs = append(p.Pairs, q)
	}
	for range matchings {
		order := rng.Perm(n.hosts)
		for k := 0; k+1 < n.hosts; k += 2 {
			add(order[k], order[k+1])
		}
	}
	if matchings == 0 {
		for a := range n.hosts {
			for b := a + 1; b < n.hosts; b++ {
				add(a, b)
			}
		}
	}
	return p
}

func alike(int) float64 { return 20e-6 }

func sizes(groups []hostGroup) []int {
	var out []int
	for _, g := range groups {
		out = append(out, len(g.Hosts))
	}
	return out
}

func TestAlike(t *testing.T) {
	h := AlikeOf(network{hosts: 1000, part: alike, rate: func(int) float64 { return 1e9 }, scatter: 0.01}.measured(6))
	if len(h.All) != 1000 || !slices.Equal(sizes(h.Groups), []int{1000}) || len(h.Odd)+len(h.Unknown)+len(h.Near) != 0 {
		t.Fatalf("groups of %v, %d odd, %d unknown, %d neighbourhoods", sizes(h.Groups), len(h.Odd), len(h.Unknown), len(h.Near))
	}
	if g := h.Groups[0]; math.Abs(g.Latency/40e-6-1) > 0.01 || g.Rate != 1e9 || g.Hosts[7] != "n0007" {
		t.Errorf("latency %g, rate %g, host 7 is %s", g.Latency, g.Rate, g.Hosts[7])
	}
}

// Two kinds of hosts, half and half, and slower cards in some: the groups are those, whoever the partners were.
func TestGroups(t *testing.T) {
	n := network{hosts: 400, scatter: 0.002,
		part: func(h int) float64 {
			switch {
			case h == 17:
				return 60e-6
			case h%2 == 0:
				return 20e-6
			}
			return 30e-6
		},
		rate: func(h int) float64 {
			if h >= 300 {
				return 1e8
			}
			return 1e9
		}}
	h := AlikeOf(n.measured(12))
	if !slices.Equal(sizes(h.Groups), []int{150, 149, 50, 50}) {
		t.Fatalf("groups of %v, odd %v", sizes(h.Groups), h.Odd)
	}
	if g := h.Groups[0]; g.Hosts[1] != "n0002" || h.Groups[2].Hosts[0] != "n0300" && h.Groups[2].Hosts[0] != "n0301" {
		t.Errorf("the first group begins with %v, the third with %v", g.Hosts[:2], h.Groups[2].Hosts[:2])
	}
	if len(h.Odd) != 1 || h.Odd[0].Name != "n0017" || math.Abs(h.Odd[0].LatencyRatio-85./45) > 0.05 || h.Odd[0].RateRatio != 1 {
		t.Errorf("odd %+v", h.Odd)
	}
}

// One slow host of four, all pairs: its partners are not slow.
func TestPartnersAreNotOdd(t *testing.T) {
	h := AlikeOf(network{hosts: 4, part: func(h int) float64 { return 20e-6 * float64(1+h/3) }}.measured(0))
	if !slices.Equal(sizes(h.Groups), []int{3}) || len(h.Odd) != 1 || h.Odd[0].Name != "n0003" {
		t.Errorf("groups %v, odd %v", h.Groups, h.Odd)
	}
}

func TestTooFewPairs(t *testing.T) {
	h := AlikeOf(network{hosts: 10, part: alike}.measured(2))
	if len(h.Unknown) != 10 || len(h.Groups)+len(h.Odd) != 0 || len(h.Latencies)+len(h.Rates) != 0 {
		t.Errorf("%+v", h)
	}
	if h := AlikeOf(&params.Params{}); len(h.All)+len(h.Groups) != 0 {
		t.Errorf("%+v of nothing", h)
	}
}

// Racks are found where their pairs were measured, and nothing is said where they were not or where there are none.
func TestNear(t *testing.T) {
	racks := network{hosts: 96, part: alike, scatter: 0.01, way: func(a, b int) float64 {
		if a/12 == b/12 {
			return 2e-6
		}
		return 12e-6
	}}
	h := AlikeOf(racks.measured(0))
	if len(h.Near) != 8 || len(h.Near[0]) != 12 || h.Near[1][0] != "n0012" {
		t.Errorf("%d racks: %v", len(h.Near), h.Near)
	}
	for name, n := range map[string]*params.Params{
		"racks, few pairs": racks.measured(6),
		"no racks":         network{hosts: 96, part: alike, scatter: 0.05}.measured(0),
		"equal":            network{hosts: 96, part: alike}.measured(0),
		"two kinds":        network{hosts: 96, part: func(h int) float64 { return 10e-6 * float64(1+h%2) }, scatter: 0.01}.measured(0),
	} {
		if h := AlikeOf(n); len(h.Near) != 0 {
			t.Errorf("%s: %d neighbourhoods, the first %v", name, len(h.Near), h.Near[0])
		}
	}
}

// What a params.json may hold beside numbers does not disturb.
func TestStrangePairs(t *testing.T) {
	p := network{hosts: 20, part: alike}.measured(0)
	nan, inf, zero := math.NaN(), math.Inf(1), 0.0
	p.Pairs[0].Latency, p.Pairs[1].Latency, p.Pairs[2].Latency, p.Pairs[3].Latency = &nan, &inf, &zero, nil
	p.Pairs = append(p.Pairs, params.Pair{From: "n0001", To: "n0001", Latency: &zero}, params.Pair{From: "gone", To: "n0001"})
	h := AlikeOf(p)
	if len(h.All) != 21 || !slices.Equal(sizes(h.Groups), []int{20}) || !slices.Equal(h.Unknown, []string{"gone"}) {
		t.Errorf("groups %v, unknown %v", sizes(h.Groups), h.Unknown)
	}
}
