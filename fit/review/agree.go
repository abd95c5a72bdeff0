package review

import (
	"fmt"
	"math"

	"calib/params"
)

// claim is what a run says of one quantity in one way: a value with its 95% interval, and the parameters and functions
// that it is made of.
type claim struct {
	name       string // "2a + a_c"
	unit       string
	v, lo, hi  float64
	parameters []string // to withhold where the claim is refused
	functions  []string
}

func (c claim) String() string { return c.name + " = " + number(c.v, &[2]float64{c.lo, c.hi}, c.unit) }

// rule holds two claims of one quantity against each other. They contradict each other if their intervals do not meet
// and the first is further above or below the second than it may be. Then the first is withheld, since the second is
// the more direct measurement, or both where no rule can tell.
type rule struct {
	first, second func(*review) (claim, bool)
	// above and below are the margins, as shares of the larger claim, or of the time of the smallest message where
	// ofTime is set: the claims are parts of that time, and a part may be small. Margins are wide where definitions
	// differ.
	above, below float64
	ofTime       bool
	both         bool
	why          string // what makes it a contradiction, and which to use
}

// Margins. Claims by one definition from different data agree within a few per cent in every emulated network; 10% is
// what the papers' models miss at best. Claims by different definitions (one line through all sizes against the limit
// of large ones, one message after a pause against ping-pong) differ by up to 20% there.
const (
	sameQuantity = 0.1
	alikeOnly    = 0.25
	// pipelined is by how much a stream may be faster than ping-pong: sender and receiver copy at once, where a
	// ping-pong's copies partly follow one another.
	pipelined = 0.5
)

// rules are in order: a claim that one refuses is no witness in the next.
func rules() []rule {
	const shape = "they describe long messages in different ways; " +
		"use b_prime_limits, the slope of the largest messages, and T(x) between"
	const fixed = "they describe short messages in different ways; use a_prime_limits, the limit of the smallest messages"
	const stream = "a byte of a stream takes no longer than one of ping-pong, and at least half as long; use "
	const burst = "a message alone takes 2a + a_c, and ping-pong says how long that is; use "
	const timed = "is timed call by call, the other taken from the difference of two round trips; use "
	return []rule{
		{first: parameter("beta"), second: parameter("b_prime_limits"), above: alikeOnly, below: alikeOnly, why: shape},
		{first: parameter("alpha"), second: parameter("a_prime_limits"), above: alikeOnly, below: alikeOnly, why: fixed},
		{first: oneStream, second: parameter("b_prime_limits"), above: sameQuantity, below: pipelined,
			why: stream + "b_prime_limits"},
		{first: oneStream, second: longMessages, above: alikeOnly, below: pipelined, why: stream + "beta"},
		{first: oneBurst, second: parameter("a_prime_limits"), above: alikeOnly, below: alikeOnly,
			why: burst + "a_prime_limits"},
		{first: oneBurst, second: parameter("alpha"), above: alikeOnly, below: alikeOnly, why: burst + "alpha"},
		{first: parameter("o_s"), second: atOneByte("O_s"), above: sameQuantity, below: sameQuantity, ofTime: true,
			why: "O_s " + timed + "O_s"},
		{first: parameter("o_r"), second: atOneByte("U_r"), above: sameQuantity, below: sameQuantity, ofTime: true,
			why: "U_r " + timed + "U_r"},
		{first: loggpL, second: wayAtOneByte, above: sameQuantity, below: sameQuantity, ofTime: true, both: true,
			why: "both are half a round trip without the hosts' times, which were measured in two ways that differ; " +
				"use neither"},
		{first: parameter("g"), second: slowest, above: alikeOnly, below: alikeOnly,
			why: "messages of one host to another leave and arrive g_s or g_r apart, whichever is longer; " +
				"use g_s and g_r, which are from longer streams"},
		{first: parameter("G"), second: mergedByte, above: alikeOnly, below: alikeOnly,
			why: "both are the time per byte of messages that the kernel may merge; " +
				"use g_s_merged, which is from longer streams"},
		{first: parameter("B_L"), second: sameBuffer, above: sameQuantity, below: sameQuantity, both: true,
			why: "both are the packets that one port holds; they may meet different bottlenecks, and neither can be preferred"},
	}
}

// agree withholds what contradicts another number of the run.
func (r *review) agree() {
	for _, q := range rules() {
		a, okA := q.first(r)
		b, okB := q.second(r)
		if okA && okB && r.contradict(q, a, b) {
			r.refuse(q, a, b)
		}
	}
}

// contradict reports whether two claims exclude each other and the difference matters.
func (r *review) contradict(q rule, a, b claim) bool {
	if a.lo <= b.hi && b.lo <= a.hi {
		return false
	}
	of := math.Max(math.Abs(a.v), math.Abs(b.v))
	if q.ofTime {
		of = math.Max(of, r.reference("s"))
	}
	margin := q.above
	if a.v < b.v {
		margin = q.below
	}
	return math.Abs(a.v-b.v) > margin*of
}

// refuse withholds the claims that a rule refuses, and says so.
func (r *review) refuse(q rule, a, b claim) {
	why := fmt.Sprintf("%s contradicts %s: %s", a, b, q.why)
	refused := a
	if q.both {
		refused.parameters = append(append([]string{}, a.parameters...), b.parameters...)
		refused.functions = append(append([]string{}, a.functions...), b.functions...)
	}
	for _, name := range refused.parameters {
		r.withhold(name, params.StatusInconsistent, why, nil)
	}
	for _, name := range refused.functions {
		r.mark(name, params.StatusInconsistent, why)
	}
	r.add(params.Warnf(params.Contradiction, "%s", why).Of(refused.name).With("first", a.v).With("second", b.v))
}

// parameter is the claim of a parameter. Without an interval nothing can be said to be excluded.
func parameter(name string) func(*review) (claim, bool) {
	return func(r *review) (claim, bool) {
		q := r.Parameters[name]
		if q.Value == nil || q.CI95 == nil {
			return claim{}, false
		}
		c := claim{name: name, unit: q.Unit, parameters: []string{name}}
		c.v, c.lo, c.hi, _ = q.Ends()
		return c, true
	}
}

// sameBuffer is B_L_tcp where the buffer is known to count packets: otherwise its packets may be larger than those of
// B_L, and fewer.
func sameBuffer(r *review) (claim, bool) {
	if r.Parameters["B_L_bytes"].Why != params.CountsPackets {
		return claim{}, false
	}
	return parameter("B_L_tcp")(r)
}

// loggpL is L of LogGP.
func loggpL(r *review) (claim, bool) {
	c, ok := parameter("L")(r)
	for _, o := range []string{"o_s", "o_r"} { // L is what they leave of half a round trip
		ok = ok && r.Parameters[o].Status != params.StatusInconsistent
	}
	return c, ok
}

// busy is the share of the time that a CPU works from which it is what limits a stream.
const busy = 0.8

// oneStream is the time per byte of the streams of one pair: b, or b_c where the medium is the bottleneck of a pair, or
// b_prime. A stream that a CPU limits says nothing of a ping-pong, whose messages are still in the caches.
func oneStream(r *review) (claim, bool) {
	for _, name := range []string{"b", "b_prime", "b_c"} {
		if _, known := r.Parameters["b"].Raw(); known && name == "b_c" {
			break // the medium is no bottleneck of a pair, whether b may be used or not
		}
		if c, ok := parameter(name)(r); ok {
			send, _ := r.Parameters["cpu_send"].Raw()
			recv, _ := r.Parameters["cpu_recv"].Raw()
			return c, max(send, recv) < busy*c.v
		}
	}
	return claim{}, false
}

// longMessages is beta, unless it is of messages that are too short.
func longMessages(r *review) (claim, bool) {
	c, ok := parameter("beta")(r)
	return c, ok && r.short("beta") == ""
}

// oneBurst is the fixed time of one message alone while no other is sent: 2a + a_c, or a_prime. The sum is checked
// whatever the status of its parts: a part that may be zero is still a part of what was measured.
func oneBurst(r *review) (claim, bool) {
	a, ac := r.Parameters["a"], r.Parameters["a_c"]
	va, okA := a.Raw()
	vc, okC := ac.Raw()
	if !okA || !okC || a.CI95 == nil || ac.CI95 == nil {
		return parameter("a_prime")(r)
	}
	together := r.Correlation("a", "a_c")
	half := func(side int) float64 {
		da, dc := 2*math.Abs(a.CI95[side]-va), math.Abs(ac.CI95[side]-vc)
		return math.Sqrt(max(0, da*da+dc*dc+2*together*da*dc))
	}
	v := 2*va + vc
	return claim{name: "2a + a_c", unit: "s", v: v, lo: v - half(0), hi: v + half(1), parameters: []string{"a"}}, true
}

// atOneByte is the sum of cost functions at the smallest message and the fewest hosts that they hold for.
func atOneByte(names ...string) func(*review) (claim, bool) {
	return func(r *review) (claim, bool) {
		c, half := claim{unit: "s"}, 0.0
		for _, name := range names {
			f, known := r.Functions[name]
			if !known || !f.Usable() || len(f.CI95) == 0 {
				return claim{}, false
			}
			at, ok := r.corner(f, 0)
			if !ok {
				return claim{}, false
			}
			if c.name != "" {
				c.name += " + "
			}
			c.name += name + "(" + at.where + ")"
			c.v, half, c.functions = c.v+at.value, math.Hypot(half, at.half), append(c.functions, name)
		}
		c.lo, c.hi = c.v-half, c.v+half
		return c, true
	}
}

// wayAtOneByte is L_cluster(m, p), and O_r where that is known: LogGP's receiver takes a message that is there, so that
// what its host did when the message came is in L.
func wayAtOneByte(r *review) (claim, bool) {
	way, known := atOneByte("L_cluster")(r)
	if both, ok := atOneByte("L_cluster", "O_r")(r); ok {
		both.functions = way.functions
		return both, true
	}
	return way, known
}

// slowest is the longer of g_s and g_r for the smallest message.
func slowest(r *review) (claim, bool) {
	s, okS := atOneByte("g_s")(r)
	d, okD := atOneByte("g_r")(r)
	if okD && (!okS || d.v > s.v) {
		return d, true
	}
	return s, okS
}

// merges is how long g_s_merged is at most, relative to g_s, where the kernel merged messages.
const merges = 0.5

// mergedByte is the cost per byte of g_s_merged. Where messages left one by one, as on a path that is faster than its
// hosts, it is not that of long messages.
func mergedByte(r *review) (claim, bool) {
	const name = "g_s_merged"
	f := r.Functions[name]
	ci, ok := f.CI95["c1"]
	merged, _ := atOneByte(name)(r)
	if single, known := atOneByte("g_s")(r); !ok || !f.Usable() || known && merged.v > merges*single.v {
		return claim{}, false
	}
	return claim{name: name + ".c1", unit: f.Unit + "/B", v: f.Coeff["c1"], lo: ci[0], hi: ci[1],
		functions: []string{name}}, true
}
