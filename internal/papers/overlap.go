package main

import (
	"math"

	"calib/fit/overlap"
)

// overlapPaper rebuilds Strumpen 1994.
func overlapPaper(string, measurements) (paper, error) {
	return paper{
		title:    "Communication latency hiding",
		citation: "Strumpen 1994 (ETH 216)",
		words: "All rows are formulas. The paper's measurements are of five workstations of its time, of 4.3BSD's sockets and of the Internet between\n" +
			"Zürich and Cambridge: the lab copies networks, not kernels and processors. What calib measures of the same kind on today's hosts is in\n" +
			"RESULTS.md (experiments fragment, buffer, nodelay, memcopy, overlap)",
		rows:    join(gainRows(), exampleRows(), conjugateRows(), protocolRows()),
		missing: overlapMissing,
	}, nil
}

// ideal hides all communication at no cost.
var ideal = overlap.Hiding{F: 1}

// gainRows are the largest gains of sections 2.1 to 2.3, and where they are.
func gainRows() []row {
	const half = 0.5
	gamma, most, _ := overlap.Fixed{F: half, Penalty: 1}.Peak()
	overhead := func(omega float64) got { return computed(overlap.Hiding{F: 1, Omega: omega}.Gain(1 + omega)) }
	ends := func(gammaH, gammaS float64) got { return computed(ideal.Gain(gammaH / gammaS)) }
	const processors = 16.0
	return join(
		at("Figure 3, eq. 1",
			row{what: "largest G, at γ = 1", paper: num("2", plain), ours: computed(overlap.IdealGain(1)), how: "overlap.IdealGain"},
			row{what: "G at γ = 0.5", paper: num("1.5", plain).of("1 + γ"), ours: computed(overlap.IdealGain(0.5)), how: "overlap.IdealGain"},
			row{what: "G at γ = 4", paper: num("1.25", plain).of("1 + 1/γ"), ours: computed(overlap.IdealGain(4)), how: "overlap.IdealGain"}),
		at("Figure 4, f = 0.5",
			row{what: "largest G", paper: num("1.5", plain).of("1 + f"), ours: computed(most), how: "Fixed.Peak"},
			row{what: "γ of it", paper: num("2", plain).of("1/f"), ours: computed(gamma), how: "Fixed.Peak"}),
		at("Figure 5, Ω = 0",
			row{what: "largest G, at γ_h = γ_s", paper: num("2", plain), ours: ends(5, 5), how: "Hiding.Gain"},
			row{what: "G, γ_h = 1, γ_s = 0.5", paper: num("1.5", plain), ours: ends(1, 0.5), how: "Hiding.Gain"},
			row{what: "G, γ_h = 1, γ_s = 2", paper: num("1.5", plain), ours: ends(1, 2), how: "Hiding.Gain"},
			row{what: "G, γ_h = 10, γ_s = 5", paper: num("1.5", plain), ours: ends(10, 5), how: "Hiding.Gain"},
			row{what: "G, γ_h = 10, γ_s = 20", paper: num("1.5", plain), ours: ends(10, 20), how: "Hiding.Gain"}),
		at("Figure 6, max(G) at 1 + Ω = γ_h/γ_s",
			row{what: "Ω = 0", golden: "latency_hiding.max_gain", paper: num("2", plain).of("2 − Ω/(1 + Ω)"), ours: overhead(0), how: "Hiding.Gain"},
			row{what: "Ω = 1", paper: num("1.5", plain).of("2 − Ω/(1 + Ω)"), ours: overhead(1), how: "Hiding.Gain"},
			row{what: "Ω = 1", paper: num("1.5", plain).of("2 − Ω/(1 + Ω)"), ours: computed(overlap.MaxGain(1)), how: "overlap.MaxGain"}),
		at("Figure 9.1, eq. 6, q = p",
			row{what: "G at λ = p²", paper: num("2", plain), ours: computed(ideal.Gain(processors * processors / (processors * processors))), how: "Hiding.Gain"}),
	)
}

// exampleRows are those of section 2.3.1, which read figures 5, 7 and 8.
func exampleRows() []row {
	var out []row
	for _, c := range []struct {
		what          string
		gammaH, omega float64
		paper         stated
		golden        string
	}{
		{"G(H_1), γ_h = 1, Ω = 1", 1, 1, num("0.6", plain).as("3/5"), "latency_hiding.examples.0"},
		{"G(H_2), γ_h = 5, Ω = 0.2", 5, 0.2, num("1.6666666666666667", plain).as("5/3"), "latency_hiding.examples.1"},
		{"G(H_3), γ_h = 10, Ω = 0", 10, 0, num("1.5", plain).as("3/2"), "latency_hiding.examples.2"},
	} {
		out = append(out, at("Figures 5, 7, 8: example 1, γ_s = 5",
			row{what: c.what, golden: c.golden + ".G", paper: c.paper, ours: computed(overlap.Hiding{F: 1, Omega: c.omega}.Gain(c.gammaH / 5)), how: "Hiding.Gain"})...)
	}
	for _, c := range []struct {
		what          string
		gammaH, omega float64
		paper         string
	}{{"H_1 gains, γ_h = 5, Ω = 0", 5, 0, "1"}, {"H_2 gains, γ_h = 1, Ω = 0.2", 1, 0.2, "0"}, {"H_3 gains, γ_h = 10, Ω = 1", 10, 1, "1"}} {
		gains := got{value: 1}
		for s := 2.0; s < 10; s += 0.125 { // at γ_s = 10 the third's gain is 1
			if !overlap.Gains(c.gammaH/s, c.omega) {
				gains.value = 0
			}
		}
		out = append(out, at("Figures 5, 7, 8: example 2, 2 ≤ γ_s < 10", row{what: c.what + " (1: yes)", paper: num(c.paper, plain), ours: gains, how: "overlap.Gains"})...)
	}
	return out
}

// conjugateRows are section 4.3. The paper does not print the constants of its model: a/b follows from its p = 601, at which T(p) = a/p + b√p
// is least; f and ω/b are those, to three digits, that give the other numbers best.
func conjugateRows() []row {
	const f, omega, fewest, most = 0.345, 4.03, 1, 1000
	lambda := math.Pow(601, 1.5) / 2
	ratio := func(p float64) float64 { return math.Sqrt(p) * p / lambda } // q = √p
	hiding := func(p float64) overlap.Hiding { return overlap.Hiding{F: f, Omega: omega * p / lambda} }
	speedup := func(p float64) float64 { return overlap.Speedup(p, ratio(p)) }
	with := func(p float64) float64 { return hiding(p).Speedup(p, ratio(p)) }
	gain := func(p float64) float64 { return hiding(p).Gain(ratio(p)) }
	largest := func(of func(float64) float64) (at, value float64) {
		for p := float64(fewest); p <= most; p++ {
			if v := of(p); v > value {
				at, value = p, v
			}
		}
		return at, value
	}
	atGain, mostGain := largest(gain)
	atWithout, mostWithout := largest(speedup)
	atWith, mostWith := largest(with)
	const whole = "a/b follows from p = 601, a whole number: 600.5 to 601.5 give 200.17 to 200.50"
	const how = "Hiding.Gain, .Speedup, overlap.Speedup"
	return at("Figure 24: f = 0.345, ω/b = 4.03 and a/b from the printed p and S",
		row{what: "largest G", golden: "latency_hiding.cg.G_max", paper: num("1.307", plain), ours: computed(mostGain), how: how},
		row{what: "p of it", golden: "latency_hiding.cg.p_at_G_max", paper: num("229", plain), ours: computed(atGain), how: how},
		row{what: "S(229)", golden: "latency_hiding.cg.S", paper: num("155.7", plain), ours: computed(speedup(229)), how: how},
		row{what: "S_lh(229)", golden: "latency_hiding.cg.S_lh", paper: num("203.5", plain), ours: computed(with(229)), how: how},
		row{what: "largest S", golden: "latency_hiding.cg.S_max_without.S", paper: num("200.2", plain), ours: computed(mostWithout), how: how, cause: whole},
		row{what: "p of it", golden: "latency_hiding.cg.S_max_without.p", paper: num("601", plain), ours: computed(atWithout), how: how},
		row{what: "largest S_lh", golden: "latency_hiding.cg.S_max_with.S", paper: num("230.6", plain), ours: computed(mostWith), how: how, cause: "f and ω/b are known to three digits"},
		row{what: "p of it", golden: "latency_hiding.cg.S_max_with.p", paper: num("453", plain), ours: computed(atWith), how: how},
	)
}

// protocolRows are table 2: the direct transfer and the overhead are the transfer with latency hiding.
func protocolRows() []row {
	var out []row
	for _, c := range []struct {
		machine          string
		overhead, direct float64 // ms
		paper            string
		cause            string
	}{
		{"RS6000/590", 0.2, 0.596, "0.977", "the paper's own check: the sum \"matches fairly well\"; the overhead counts the four pipe messages only"},
		{"SPARCstation1+", 1.52, 0.962, "2.489", "as above"},
		{"SPARCstation10", 0.44, 0.442, "0.996", "as above"},
	} {
		out = append(out, row{what: "lathide of a " + c.machine + ", overhead + direct", golden: "latency_hiding.table2_ms." + c.machine + ".lathide",
			paper: num(c.paper, ms), ours: computed((c.overhead + c.direct) * ms.scale), how: "the columns as printed", cause: c.cause})
	}
	return at("Table 2", out...)
}

// overlapMissing is what belongs to the authors' machines.
var overlapMissing = []missing{
	{place: "Figures 1, 2, 12, 13, 14, 15, 17", shows: "decomposition, event diagrams, protocol steps", why: "drawings without numbers"},
	{place: "Figures 5, 7, 8 (arguments)", shows: "γ_s = 5; γ_h = 1, 5, 10; Ω = 1, 0.2, 0 of example 1",
		golden: []string{"latency_hiding.examples.0.gamma_s", "latency_hiding.examples.0.gamma_h", "latency_hiding.examples.0.omega", "latency_hiding.examples.1.gamma_s",
			"latency_hiding.examples.1.gamma_h", "latency_hiding.examples.1.omega", "latency_hiding.examples.2.gamma_s", "latency_hiding.examples.2.gamma_h",
			"latency_hiding.examples.2.omega"},
		why: "arguments of rows above, nothing to rebuild"},
	{place: "Figures 9.2, 9.3", shows: "gain by q and f", why: "only drawn, with values of λ that the text does not state"},
	{place: "Figure 10", shows: "copies cost a SPARCstation1+ more than 3 times the transfer", why: "that processor; experiment memcopy measures copies of the hosts it runs on"},
	{place: "Figure 11", shows: "fragments of 4096 B are fastest", golden: []string{"latency_hiding.best_fragment_bytes"},
		why: "4.3BSD maps a page into an mbuf from half a page on; today's kernels have no such step. Experiment fragment looks for one"},
	{place: "Section 3.1.1", shows: "messages of 4,097 to 5,552 B take 100 ms, with TCP_NODELAY below 10 ms", why: "SunOS 4's buffering of small rests; experiment nodelay looks for it"},
	{place: "Table 1, Figure 16", shows: "semaphores and pipe messages of five machines", why: "system calls of those machines"},
	{place: "Table 2, columns overhead and direct", shows: "0.2, 1.52, 0.44 ms; 0.596, 0.962, 0.442 ms",
		golden: []string{"latency_hiding.table2_ms.RS6000/590.overhead", "latency_hiding.table2_ms.RS6000/590.direct", "latency_hiding.table2_ms.SPARCstation1+.overhead",
			"latency_hiding.table2_ms.SPARCstation1+.direct", "latency_hiding.table2_ms.SPARCstation10.overhead", "latency_hiding.table2_ms.SPARCstation10.direct"},
		why: "measured on those machines; the rows above take them"},
	{place: "Figures 18, 19", shows: "times on three networks, penalty factor", why: "only drawn, of those machines"},
	{place: "Figure 20", shows: "simultaneous send is about 50% faster than ping-pong", why: "SPARCstation1+ with 16 KB socket buffers"},
	{place: "Figures 21, 22, 23", shows: "speed-up and gain of a solver on the Internet and on Ethernet", why: "only drawn; the authors' solver on those machines"},
}
