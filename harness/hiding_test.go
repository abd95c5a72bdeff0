package harness

import (
	"math"
	"slices"

	"calib/fit/overlap"
)

// overlapPaper rebuilds Strumpen 1994.
func overlapPaper() paper {
	rows := slices.Concat(gainRows(), conjugateRows(), protocolRows())
	return paper{key: "latency_hiding", figures: 24, tables: 2, rows: rows}
}

// gainRows are the largest gains of sections 2.1 to 2.3, and where they are, and the examples of section 2.3.1.
func gainRows() []row {
	const hiding, processors, lambda = "Fixed.Gain", 16.0, 16.0 * 16.0
	gamma, largest, _ := overlap.Fixed{F: 0.5, Penalty: 1}.Peak()
	gain := func(omega, r float64) got {
		return is(overlap.Fixed{F: 1, Overhead: omega / r, Penalty: 1}.Gain(1 / r))
	}
	// gains is 1 where hiding gains for 2 ≤ γ_s < 10. At γ_s = 10 the third's gain is 1.
	gains := func(gammaH, omega float64) got {
		for s := 2.0; s < 10; s += 0.125 {
			if gain(omega, gammaH/s).value <= 1 {
				return is(0)
			}
		}
		return is(1)
	}
	ideal := overlap.Fixed{F: 1, Penalty: 1}
	return []row{
		{"Figure 3, eq. 1", "largest G, at γ = 1", "2", is(ideal.Gain(1)), hiding, ""},
		{"", "G at γ = 0.5", "1 + γ = 1.5", is(ideal.Gain(0.5)), hiding, ""},
		{"", "G at γ = 4", "1 + 1/γ = 1.25", is(ideal.Gain(4)), hiding, ""},
		{"Figure 4, f = 0.5", "largest G", "1 + f = 1.5", is(largest), "Fixed.Peak", ""},
		{"", "γ of it", "1/f = 2", is(gamma), "Fixed.Peak", ""},
		{"Figure 5, Ω = 0", "largest G, at γ_h = γ_s", "2", gain(0, 1), hiding, ""},
		{"", "G, γ_h = 1, γ_s = 0.5", "1.5", gain(0, 1/0.5), hiding, ""},
		{"", "G, γ_h = 1, γ_s = 2", "1.5", gain(0, 1./2), hiding, ""},
		{"", "G, γ_h = 10, γ_s = 5", "1.5", gain(0, 10./5), hiding, ""},
		{"", "G, γ_h = 10, γ_s = 20", "1.5", gain(0, 10./20), hiding, ""},
		{"Figure 6, max(G) at 1 + Ω = γ_h/γ_s", "Ω = 0", "2 − Ω/(1 + Ω) = 2", gain(0, 1), hiding, ""},
		{"", "Ω = 1", "2 − Ω/(1 + Ω) = 1.5", gain(1, 2), hiding, ""},
		{"Figure 9.1, eq. 6, q = p", "G at λ = p²", "2", gain(0, processors*processors/lambda), hiding, ""},
		{"Figures 5, 7, 8: example 1, γ_s = 5", "G(H_1), γ_h = 1, Ω = 1", "3/5", gain(1, 1./5), hiding, ""},
		{"", "G(H_2), γ_h = 5, Ω = 0.2", "5/3", gain(0.2, 5./5), hiding, ""},
		{"", "G(H_3), γ_h = 10, Ω = 0", "3/2", gain(0, 10./5), hiding, ""},
		{"Figures 5, 7, 8: example 2, 2 ≤ γ_s < 10", "H_1 gains, γ_h = 5, Ω = 0 (1: yes)", "1", gains(5, 0),
			hiding, ""},
		{"", "H_2 gains, γ_h = 1, Ω = 0.2 (1: yes)", "0", gains(1, 0.2), hiding, ""},
		{"", "H_3 gains, γ_h = 10, Ω = 1 (1: yes)", "1", gains(10, 1), hiding, ""},
	}
}

// conjugateRows are section 4.3. The paper does not print the constants of its model: a/b follows from its p = 601, at
// which T(p) = a/p + b√p is least; f and ω/b are those, to three digits, that give the other numbers best.
func conjugateRows() []row {
	const (
		f, omega = 0.345, 4.03
		whole    = "a/b follows from p = 601, a whole number: 600.5 to 601.5 give 200.17 to 200.50"
		by       = "Fixed.Gain, .Speedup, overlap.Speedup"
	)
	lambda := math.Pow(601, 1.5) / 2
	ratio := func(p float64) float64 { return math.Sqrt(p) * p / lambda } // q = √p
	hiding := func(p float64) overlap.Fixed {
		return overlap.Fixed{F: f, Overhead: omega * p / lambda / ratio(p), Penalty: 1}
	}
	gain := func(p float64) float64 { return hiding(p).Gain(1 / ratio(p)) }
	without := func(p float64) float64 { return overlap.Speedup(p, ratio(p)) }
	with := func(p float64) float64 { return hiding(p).Speedup(p, 1/ratio(p)) }
	largest := func(of func(float64) float64) (at got) {
		for p := 1.0; p <= 1000; p++ {
			if of(p) > of(max(1, at.value)) {
				at.value = p
			}
		}
		return at
	}
	atGain, atWithout, atWith := largest(gain), largest(without), largest(with)
	return []row{
		{"Figure 24: f = 0.345, ω/b = 4.03 and a/b from the printed p and S", "largest G", "1.307",
			is(gain(atGain.value)), by, ""},
		{"", "p of it", "229", atGain, by, ""},
		{"", "S(229)", "155.7", is(without(229)), by, ""},
		{"", "S_lh(229)", "203.5", is(with(229)), by, ""},
		{"", "largest S", "200.2", is(without(atWithout.value)), by, whole},
		{"", "p of it", "601", atWithout, by, ""},
		{"", "largest S_lh", "230.6", is(with(atWith.value)), by, "f and ω/b are known to three digits"},
		{"", "p of it", "453", atWith, by, ""},
	}
}

// protocolRows are table 2: the direct transfer and the overhead are the transfer with latency hiding.
func protocolRows() []row {
	const lathide, by, ms = "lathide of a ", "the columns as printed", 1e-3
	return []row{
		{"Table 2", lathide + "RS6000/590, overhead + direct", "0.977 ms", is((0.2 + 0.596) * ms), by,
			"the paper's own check: the sum \"matches fairly well\"; the overhead counts the four pipe messages only"},
		{"", lathide + "SPARCstation1+, overhead + direct", "2.489 ms", is((1.52 + 0.962) * ms), by, "as above"},
		{"", lathide + "SPARCstation10, overhead + direct", "0.996 ms", is((0.44 + 0.442) * ms), by, "as above"},
	}
}
