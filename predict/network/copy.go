package network

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"calib/internal/lists"
	"calib/internal/netspec"
	"calib/internal/stats"
	"calib/internal/units"
	"calib/params"
)

// ErrTooFast reports a network that the lab cannot play at any slowdown that it allows.
var ErrTooFast = errors.New("too fast for the lab")

// What the lab needs time for. The presets hku2000, of 8 and 16 hosts, and examples/lab-cluster-fast.yaml are about as
// fast, and make accuracy shows that the lab keeps their times.
const (
	// minWay [s] of the shortest message: kernel and agents of the lab add up to 30 µs to it.
	minWay = 350e-6
	// minGap [s] between the shortest packets of one host.
	minGap = 100e-6
	// maxPackets a second, of all hosts together, that one process moves on time.
	maxPackets = 60_000
)

var slowdowns = []float64{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000}

// How long a host counts as active after it has sent: the round trips of a full packet, and the least time [s].
const (
	activeRoundTrips = 2
	minWindow        = 0.02
)

// Copy is a network for the lab: that of a run with the hosts and pairs that differ.
type Copy struct {
	Spec netspec.Spec // Slowdown says how many times slower it is than the network of the run
	// Notes say what the run leaves open and what the lab cannot play; they come after those of Network.
	Notes []string
}

// Copy describes an emulated cluster of that many hosts like those of p, in the order of p's hosts. slowdown 0 is the
// least with which the lab keeps its times. The lab's hosts make calls of their own, which no slowdown makes longer:
// what it adds to the calls of p is in the delay. It returns ErrTooFast where no slowdown suffices, and the error of
// Validate for a network that no lab file can hold.
func (n *Network) Copy(p *params.Params, hosts int, slowdown float64) (*Copy, error) {
	base := n.Spec
	base.Hosts, base.Links = hosts, n.Among(hosts)
	fabric := netspec.Fabric{PerHost: n.PerHost}
	if f := base.Fabric; f != nil && f.Rate > 0 {
		fabric.Tau, fabric.Rate = f.Tau, f.Rate
	}
	if base.Fabric = &fabric; fabric == (netspec.Fabric{}) {
		base.Fabric = nil
	}
	c := &Copy{}
	if out := n.Unplaced(lists.Upto(hosts)); out > 0 {
		c.note("%s in none of the run's groups: no uplink is between them and any other host", units.Plural(out, "host"))
	}
	if err := base.Validate(); err != nil {
		return nil, err
	}
	d, factors := c.differences(p), slowdowns
	notes := c.Notes
	if slowdown > 0 {
		factors = []float64{slowdown}
	}
	for _, f := range factors {
		c.Spec, c.Notes = n.slow(base, f), slices.Clone(notes)
		c.Spec.Overrides = n.Own(&c.Spec, hosts, func(int) float64 { return 0 })
		c.differ(p, d)
		if err := c.Spec.Validate(); err != nil {
			return nil, fmt.Errorf("%g times slower: %w", f, err)
		}
		switch {
		case playable(&c.Spec):
			return c, nil
		case slowdown > 0:
			c.note("the lab may be late: at a slowdown of %g a message takes %.3g s, and a host sends every %.3g s", f,
				c.Spec.Alike().Way(0, 1, 1, 2), gap(&c.Spec))
			return c, nil
		}
	}
	return nil, fmt.Errorf("%w: even %g times slower the shortest packets of a host leave %.3g s apart",
		ErrTooFast, c.Spec.Slowdown, gap(&c.Spec))
}

func (c *Copy) note(format string, args ...any) {
	c.Notes = append(c.Notes, fmt.Sprintf(format, args...))
}

// playable reports whether the lab can play s: slow hosts and links are slower.
func playable(s *netspec.Spec) bool {
	s = s.Alike()
	g := gap(s)
	packets := float64(s.Hosts/2) / g // each pair sends as fast as it can
	if s.Mode == netspec.Shared && s.Medium.A > 0 {
		packets = min(packets, 1/s.Service(s.Medium, 1))
	}
	return s.Way(0, 1, 1, 2) >= minWay && g >= minGap && packets <= maxPackets
}

// gap is the interval between packets of one byte from one host to another [s].
func gap(s *netspec.Spec) float64 {
	s = s.Alike()
	return max(s.Service(s.Host, 1), s.Service(s.Medium, 1), s.Service(s.ReceiveBlock(1), 1))
}

// slow is s, whose hosts are alike, with all times factor times as long.
func (n *Network) slow(s netspec.Spec, factor float64) netspec.Spec {
	block := func(b netspec.Block) netspec.Block {
		return netspec.Block{A: b.A * factor, B: b.B * factor, Min: b.Min * factor}
	}
	extra, receive := factor-1, block(*s.Receive)
	s.Host, s.Medium, s.L, s.Receive = block(s.Host), block(s.Medium), s.L*factor, &receive
	s.Links = slices.Clone(s.Links)
	for i := range s.Links {
		s.Links[i].Block = block(s.Links[i].Block)
		s.Links[i].L *= factor
	}
	calls := n.Calls.Fixed()
	if n.callsFirst {
		send := n.Calls.Send.Seconds()
		before := func(b netspec.Block) netspec.Block {
			b.A, b.B = b.A+extra*send, b.B+extra*send/float64(s.MSS)
			return b
		}
		s.Host, calls = before(s.Host), calls-send
	}
	s.L += extra * calls
	s.Receive.B += extra * n.Calls.PerByte()
	if f := s.Fabric; f != nil {
		s.Fabric = &netspec.Fabric{PerHost: f.PerHost * factor, Tau: f.Tau * factor, Rate: f.Rate / factor}
		if w := 2 * activeRoundTrips * s.Alike().Way(0, 1, s.MSS, 2); w > minWindow {
			s.Fabric.Window = w
		}
	}
	s.Slowdown = factor
	return s
}

// differ gives the hosts and pairs that the run names as slow blocks of their own. With these their messages take
// longer than others by the ratios of the run: at the smallest size by the fixed time, at the largest by the time per
// byte.
func (c *Copy) differ(p *params.Params, d *differing) {
	if len(d.slow) > 0 && d.sizes[0] == 0 {
		c.note("the run has no times by size: slow hosts and pairs are as fast as the others")
		return
	}
	for _, s := range d.slow {
		switch {
		case s.way[1] < c.Spec.Hosts:
			c.slowed(p.Run.Hosts, s, d)
		case s.host() >= 0:
			c.note("host %s is slow, and not among the %d hosts of the file", p.Run.Hosts[s.way[0]], c.Spec.Hosts)
		}
	}
}

// floorError is by how much a slow host's messages may take longer than in the run without a note.
const floorError = 0.02

// slowed gives a host a block that it has for sending and receiving, and the way between two a link.
func (c *Copy) slowed(names []string, s slow, d *differing) {
	from, to, least := s.way[0], s.way[1], netspec.Block{}
	host := from == to
	if host {
		least = c.Spec.Host
		for to = 0; to == from || d.isSlow(to); {
			to++
		}
	}
	if to >= c.Spec.Hosts {
		c.note("all hosts are slow: they are taken to be alike")
		return
	}
	plain := c.Spec
	plain.Overrides, plain.Links = nil, nil
	time := func(b netspec.Block, x int) float64 {
		with := plain
		if host {
			with.Overrides = map[int]netspec.Block{from: b}
		} else {
			with.Links = []netspec.Link{{Between: [][]int{{from}, {to}}, Block: b}}
		}
		return (with.Message(from, to, x) + with.Message(to, from, x)) / 2
	}
	b := fitBlock(least, &plain, d.sizes, s.ratio, time)
	switch {
	case !host && b.B == 0:
		c.note("the pair %s, %s gets no link of its own: it is not slow at the sizes that were "+
			"compared", names[from], names[to])
	case !host:
		c.Spec.Links = append(c.Spec.Links, netspec.Link{Between: [][]int{{from}, {to}}, Block: b})
	case time(b, d.sizes[0]) > (1+floorError)*s.ratio[0]*plain.Message(0, 1, d.sizes[0]):
		c.note("host %s has one block for sending and receiving, with which its messages take longer than the "+
			"run says", names[from])
		fallthrough
	default:
		c.Spec.Overrides[from] = b
	}
}

// fitBlock returns the block, of a fixed time of at least that of least, with which a message takes ratio times as long
// as on a plain network: of the smallest size by its fixed time, of the largest by its time per byte.
func fitBlock(least netspec.Block, plain *netspec.Spec, sizes [2]int, ratio [2]float64,
	time func(b netspec.Block, x int) float64) netspec.Block {
	mss := float64(plain.MSS)
	m := least.B - least.A/mss // time per byte within a packet
	with := func(a, m float64) netspec.Block {
		return netspec.Block{A: a, B: a/mss + m, Min: least.Min}
	}
	small, large := ratio[0]*plain.Message(0, 1, sizes[0]), ratio[1]*plain.Message(0, 1, sizes[1])
	a := solve(func(a float64) float64 { return time(with(a, m), sizes[0]) }, least.A, small)
	m = solve(func(m float64) float64 { return time(with(a, m), sizes[1]) }, 0, large)
	return with(a, m)
}

// solve returns the x from least on at which an f that does not fall reaches target.
func solve(f func(float64) float64, least, target float64) float64 {
	if !(f(least) < target) {
		return least
	}
	lo, hi := least, math.Max(2*least, 1e-12)
	for f(hi) < target && hi < 1e3 {
		lo, hi = hi, 2*hi
	}
	for range 100 {
		if mid := (lo + hi) / 2; f(mid) < target {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}

// way is that between two hosts, the lower index first, or one host, which is then both ends.
type way [2]int

// host is that host, -1 for two.
func (w way) host() int {
	if w[0] == w[1] {
		return w[0]
	}
	return -1
}

// slow is a host, or the way between two, whose messages take longer than others by a ratio, at the smallest and at the
// largest size.
type slow struct {
	way
	ratio [2]float64
}

// differing is what a run says of hosts and pairs that stand out.
type differing struct {
	slow  []slow // hosts before pairs
	sizes [2]int // of the messages that were compared [B]
}

func (d *differing) isSlow(host int) bool {
	return slices.ContainsFunc(d.slow, func(s slow) bool { return s.host() == host })
}

type measured struct {
	way
	times [2]float64 // of the smallest and of the largest message [s; s/B]; 0 where it was not measured
	slow  bool
}

// differences reads which hosts and pairs a run found to be slow, and by how much: a host by the median of its pairs
// with hosts that are not slow, each over the median of the pairs, within groups or between, that do not stand out.
// Where these were not measured the finding says it. No ratio is below 1.
func (c *Copy) differences(p *params.Params) *differing {
	d := &differing{sizes: sizesOf(p)}
	for _, f := range p.AllFindings(params.Warning) {
		if f.Code == params.SlowHost && len(f.Hosts) > 0 {
			if i := slices.Index(p.Run.Hosts, f.Hosts[0]); i >= 0 {
				ratio := f.Values["ratio"]
				d.slow = append(d.slow, slow{way{i, i}, [2]float64{ratio, ratio}})
			}
		}
	}
	slices.SortStableFunc(d.slow, func(a, b slow) int { return a.way[0] - b.way[0] })
	pairs := measuredPairs(p)
	// beside reports a slow host of a pair, other than own.
	beside := func(q measured, own int) bool {
		return slices.ContainsFunc(q.way[:], func(h int) bool { return h != own && d.isSlow(h) })
	}
	for _, q := range pairs {
		if q.slow && !beside(q, -1) {
			d.slow = append(d.slow, slow{way: q.way})
		}
	}
	group := map[int]int{} // of hosts, from 1
	for i, hosts := range p.GroupsByIndex() {
		for _, h := range hosts {
			group[h] = i + 1
		}
	}
	between := func(q measured) bool { return group[q.way[0]] != group[q.way[1]] }
	for k := range d.sizes {
		// typical is the median time of some pairs; 0 where none was measured.
		typical := func(of func(measured) bool) float64 {
			its := lists.Where(pairs, func(q measured) bool { return q.times[k] > 0 && of(q) })
			return stats.Typical(lists.Map(its, func(q measured) float64 { return q.times[k] }))
		}
		plain := func(q measured) bool { return !q.slow && !beside(q, -1) }
		within := typical(func(q measured) bool { return plain(q) && !between(q) })
		apart := typical(func(q measured) bool { return plain(q) && between(q) })
		for i, q := range pairs { // from here on each over those of its kind; 0 where they are not known
			its := map[bool]float64{false: within, true: apart}[between(q)]
			pairs[i].times[k] /= cmp.Or(its, within, apart, math.Inf(1))
		}
		for i, s := range d.slow {
			its := typical(func(q measured) bool {
				return !beside(q, s.host()) && (q.way == s.way || slices.Contains(q.way[:], s.host()))
			})
			d.slow[i].ratio[k] = max(cmp.Or(its, s.ratio[k]), 1)
		}
	}
	links := lists.Count(d.slow, func(s slow) bool { return s.host() < 0 })
	if n := len(p.Run.Hosts); links > 0 && len(pairs) < n*(n-1)/2 {
		c.note("%s standing out, with a link each; only %d of %d pairs were measured (--pairs all measures all)",
			units.Plural(links, "pair"), len(pairs), n*(n-1)/2)
	}
	return d
}

// measuredPairs lists the pairs of a run, each once.
func measuredPairs(p *params.Params) (out []measured) {
	index, seen := map[string]int{}, map[way]bool{}
	for i, h := range p.Run.Hosts {
		index[h] = i
	}
	for _, q := range p.Pairs {
		a, okA := index[q.From]
		b, okB := index[q.To]
		m := measured{way: way{min(a, b), max(a, b)}, slow: q.Slow != ""}
		if !okA || !okB || a == b || seen[m.way] {
			continue
		}
		seen[m.way] = true
		if q.Latency != nil && *q.Latency > 0 {
			m.times[0] = *q.Latency
		}
		if q.Rate != nil && *q.Rate > 0 {
			m.times[1] = 1 / *q.Rate
		}
		out = append(out, m)
	}
	return out
}
