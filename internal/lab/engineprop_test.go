package lab

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"calib/internal/netspec"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func drawBlock(t *rapid.T, name string) netspec.Block {
	a := float64(rapid.IntRange(0, 300).Draw(t, name+".a")) * 1e-6
	b := netspec.Block{A: a, B: a/1000 + float64(rapid.IntRange(0, 500).Draw(t, name+".m"))*1e-9}
	b.Min = float64(rapid.SampledFrom([]int{0, 0, 150, 400}).Draw(t, name+".min")) * 1e-6
	return b
}

// drawSpec draws a network of four hosts that has any of the features of a Spec, without loss.
func drawSpec(t *rapid.T) *netspec.Spec {
	s := testSpec()
	if rapid.Bool().Draw(t, "switched") {
		switched(s)
	}
	s.Host, s.Medium = drawBlock(t, "host"), drawBlock(t, "medium")
	if rapid.Bool().Draw(t, "receives otherwise") {
		b := drawBlock(t, "receive")
		s.Receive = &b
	}
	if rapid.Bool().Draw(t, "an override") {
		s.Overrides = map[int]netspec.Block{1: drawBlock(t, "override")}
	}
	if rapid.Bool().Draw(t, "fabric") {
		s.Fabric = &netspec.Fabric{
			PerHost: 3e-6, Tau: float64(rapid.IntRange(0, 200).Draw(t, "tau")) * 1e-9,
			Rate: float64(rapid.IntRange(0, 10).Draw(t, "rate")) * 1e6, Window: 1e-3,
		}
	}
	if rapid.Bool().Draw(t, "link") {
		s.Links = []netspec.Link{{Between: [][]int{{0, 1}, {2}}, Block: drawBlock(t, "link"),
			L:      float64(rapid.SampledFrom([]int{0, 0, 25}).Draw(t, "link's delay")) * 1e-6,
			Buffer: rapid.IntRange(0, 4).Draw(t, "link's buffer")}}
	}
	s.CutThrough = rapid.Bool().Draw(t, "cut through")
	s.Buffer = rapid.IntRange(0, 4).Draw(t, "buffer")
	return s
}

func drawTraffic(t *rapid.T) []sent {
	var in []sent
	var now int64
	for range rapid.IntRange(1, 60).Draw(t, "packets") {
		now += int64(rapid.IntRange(0, 400*us).Draw(t, "gap"))
		s := sent{at: now, src: rapid.IntRange(0, 3).Draw(t, "src"), bytes: rapid.IntRange(1, 1000).Draw(t, "bytes")}
		s.dst = (s.src + rapid.IntRange(1, 3).Draw(t, "step")) % 4
		in = append(in, s)
	}
	return in
}

// reference computes what becomes of charged packets the plain way: stage by stage, over all packets; defined is false
// where it depends on which of two packets came first that came at once.
func reference(spec *netspec.Spec, in []sent) (out []got, defined bool) {
	service := func(b netspec.Block, i int) int64 { return nanos(spec.Service(b, in[i].bytes)) }
	begun, ended := make([]int64, len(in)), make([]int64, len(in)) // with the sender's block
	idle := map[int]int64{}
	order := make([]int, len(in))
	for i, s := range in {
		begun[i] = max(s.at, idle[s.src])
		ended[i] = begun[i] + service(spec.HostBlock(s.src), i)
		idle[s.src], order[i] = ended[i], i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(ended[i], ended[j]) })

	begins, crosses := slices.Clone(ended), slices.Clone(ended) // with the medium at the earliest, and reaches it
	if spec.CutThrough {
		copy(begins, begun)
	}
	linkIdle, linkLeft := map[int]int64{}, map[int]int64{}
	order = slices.DeleteFunc(order, func(i int) bool {
		l := linkOf(spec, in[i])
		if l < 0 {
			return false
		}
		inside := 0
		for j, t := range linkLeft {
			if linkOf(spec, in[j]) == l && t > ended[i] {
				inside++
			}
		}
		if room := spec.Links[0].Buffer; room > 0 && inside >= room {
			out = append(out, got{ID: i, Cause: "buffer"})
			return true
		}
		linkIdle[l] = max(ended[i], linkIdle[l]) + service(spec.Links[0].Block, i)
		linkLeft[i], crosses[i] = linkIdle[l], linkIdle[l]+nanos(spec.Links[0].L)
		begins[i] += crosses[i] - ended[i]
		return false
	})
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(crosses[i], crosses[j]) })
	for k := 1; k < len(order); k++ {
		// Which of two that come from a link and from elsewhere at the same moment is first is not defined.
		if i, j := order[k-1], order[k]; crosses[i] == crosses[j] && linkOf(spec, in[i]) != linkOf(spec, in[j]) {
			return nil, false
		}
	}

	port := func(i int) int {
		if spec.Mode == netspec.Shared {
			return 0
		}
		return in[i].dst
	}
	left := map[int]int64{} // the medium, by packet
	portIdle, rxIdle := map[int]int64{}, map[int]int64{}
	for k, i := range order {
		inside, hosts := 0, map[int]bool{in[i].src: true}
		for _, j := range order[:k] {
			if t, ok := left[j]; ok && port(j) == port(i) && t > crosses[i] {
				inside++
			}
			if spec.Fabric != nil && crosses[j] >= crosses[i]-nanos(spec.Fabric.Active()) {
				hosts[in[j].src] = true
			}
		}
		if spec.Buffer > 0 && inside >= spec.Buffer {
			out = append(out, got{ID: i, Cause: "buffer"})
			continue
		}
		left[i] = max(max(begins[i], portIdle[port(i)])+service(spec.Medium, i), crosses[i])
		portIdle[port(i)] = left[i]
		reached := left[i] + nanos(spec.L)
		if spec.Fabric != nil {
			gs := spec.Service(spec.HostBlock(in[i].src), in[i].bytes)
			reached += nanos(spec.Fabric.Delay(in[i].bytes, len(hosts), gs))
		}
		dst := in[i].dst
		rxIdle[dst] = max(reached, rxIdle[dst]) + service(spec.ReceiveBlock(dst), i)
		out = append(out, got{ID: i, At: rxIdle[dst]})
	}
	return out, true
}

// linkOf is the link's server that a packet passes, or −1.
func linkOf(spec *netspec.Spec, s sent) int {
	return spec.Routes()(s.src, s.dst, -1)
}

// byID forgets when next said to look, and in which order packets ended.
func byID(all []got) []got {
	all = slices.Clone(all)
	for i := range all {
		all[i].Late = 0
	}
	slices.SortFunc(all, func(a, b got) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

func TestEngineReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec, in := drawSpec(t), drawTraffic(t)
		want, defined := reference(spec, in)
		if !defined {
			return
		}
		if diff := gocmp.Diff(byID(want), byID(play(spec, in))); diff != "" {
			t.Fatalf("-reference +engine:\n%s", diff)
		}
	})
}

// Whatever is sent: every packet ends once; packets of a pair stay in order, and those to one host in the order of the
// medium; none is faster than its services; and next is never later than a charged delivery.
func TestEngineProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec, in := drawSpec(t), drawTraffic(t)
		spec.Loss = rapid.SampledFrom([]float64{0, 0.2}).Draw(t, "loss")
		check(t, spec, in, play(spec, in))
	})
}

// least is the time of a packet that meets no other.
func least(spec *netspec.Spec, s sent) int64 {
	tx, medium := nanos(spec.Service(spec.HostBlock(s.src), s.bytes)), nanos(spec.Service(spec.Medium, s.bytes))
	sum := tx + medium
	if spec.CutThrough {
		sum = max(tx, medium)
	}
	if linkOf(spec, s) >= 0 {
		sum += nanos(spec.Service(spec.Links[0].Block, s.bytes)) + nanos(spec.Links[0].L)
	}
	if spec.Fabric != nil {
		sum += nanos(spec.Fabric.PerHost)
	}
	return sum + nanos(spec.L) + nanos(spec.Service(spec.ReceiveBlock(s.dst), s.bytes))
}

func check(t *rapid.T, spec *netspec.Spec, in []sent, out []got) {
	ends := make([]int64, len(in)) // of the sender's block
	idle := map[int]int64{}
	for i, s := range in {
		ends[i] = max(s.at, idle[s.src]) + nanos(spec.Service(spec.HostBlock(s.src), s.bytes))
		idle[s.src] = ends[i]
	}
	seen := map[int]bool{}
	last := map[int]int64{} // by destination: the end of the sender's block of the packet before
	latest := int64(math.MinInt64)
	for _, g := range out {
		if seen[g.ID] {
			t.Fatalf("packet %d ended twice", g.ID)
		}
		seen[g.ID] = true
		if g.Cause != "" {
			continue
		}
		s := in[g.ID]
		if g.At < s.at+least(spec, s) {
			t.Fatalf("packet %d took %d ns, its services alone take %d", g.ID, g.At-s.at, least(spec, s))
		}
		if g.Late != 0 {
			t.Fatalf("next was %d ns too late for packet %d", g.Late, g.ID)
		}
		if g.At < latest {
			t.Fatalf("packet %d delivered at %d, after one at %d", g.ID, g.At, latest)
		}
		latest = g.At
		if spec.Links == nil && ends[g.ID] < last[s.dst] {
			t.Fatalf("packet %d, which reached the medium at %d, overtook one of %d", g.ID, ends[g.ID], last[s.dst])
		}
		last[s.dst] = ends[g.ID]
	}
	if len(seen) != len(in) {
		t.Fatalf("%d packets ended of %d", len(seen), len(in))
	}
}
