package lsq

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"
)

// exactFit is the least-squares solution in rational arithmetic of the data as printed, an oracle without rounding:
// coefficients, and the residual sum of squares.
func exactFit(t *testing.T, x [][]*big.Rat, y []*big.Rat) (coef []float64, rss float64) {
	t.Helper()
	p := len(x[0])
	m := make([][]*big.Rat, p) // [XᵀX | Xᵀy], reduced in place
	for i := range m {
		m[i] = make([]*big.Rat, p+1)
		for j := range m[i] {
			m[i][j] = new(big.Rat)
		}
		for k := range x {
			for j := range p {
				m[i][j].Add(m[i][j], new(big.Rat).Mul(x[k][i], x[k][j]))
			}
			m[i][p].Add(m[i][p], new(big.Rat).Mul(x[k][i], y[k]))
		}
	}
	for c := range p {
		inv := new(big.Rat).Inv(m[c][c])
		for j := range m[c] {
			m[c][j].Mul(m[c][j], inv)
		}
		for i := range m {
			f := new(big.Rat).Set(m[i][c])
			for j := range m[i] {
				if i != c {
					m[i][j].Sub(m[i][j], new(big.Rat).Mul(f, m[c][j]))
				}
			}
		}
	}
	sum := new(big.Rat)
	for k := range x {
		r := new(big.Rat).Set(y[k])
		for j := range p {
			r.Sub(r, new(big.Rat).Mul(x[k][j], m[j][p]))
		}
		sum.Add(sum, r.Mul(r, r))
	}
	rss, _ = sum.Float64()
	for j := range p {
		c, _ := m[j][p].Float64()
		coef = append(coef, c)
	}
	return coef, rss
}

// design expands predictors into the columns of a linear problem: an optional constant, then each predictor, then
// powers of the first up to the degree.
func design(x [][]*big.Rat, constant bool, degree int) [][]*big.Rat {
	out := make([][]*big.Rat, len(x))
	for k, row := range x {
		if constant {
			out[k] = append(out[k], big.NewRat(1, 1))
		}
		out[k] = append(out[k], row...)
		power := row[0]
		for range degree - 1 {
			power = new(big.Rat).Mul(power, row[0])
			out[k] = append(out[k], power)
		}
	}
	return out
}

// rats parses decimal strings exactly.
func rats(t *testing.T, s []string) []*big.Rat {
	t.Helper()
	out := make([]*big.Rat, len(s))
	for i, v := range s {
		r, ok := new(big.Rat).SetString(v)
		if !ok {
			t.Fatalf("not a number: %q", v)
		}
		out[i] = r
	}
	return out
}

// float64s rounds to float64.
func float64s(v []*big.Rat) []float64 {
	out := make([]float64, len(v))
	for i := range v {
		out[i], _ = v[i].Float64()
	}
	return out
}

// checkLinear fits exact data in float64 and compares with the exact solution.
func checkLinear(t *testing.T, name string, x [][]*big.Rat, y []*big.Rat, want, wantRSS float64) {
	t.Helper()
	rows := make([][]float64, len(x))
	for i := range x {
		rows[i] = float64s(x[i])
	}
	coef, rss := exactFit(t, x, y)
	sol, err := Linear(rows, float64s(y), nil)
	if err != nil {
		t.Fatal(err)
	}
	c, r := worst(sol.Coef, coef, 15), digits(sol.RSS, rss, 15)
	t.Logf("%-9s coef %4.1f  rss %4.1f  cond %.0e", name, c, r, sol.Cond)
	if c < want || r < wantRSS {
		t.Errorf("%s: digits %.1f and %.1f, want %g and %g", name, c, r, want, wantRSS)
	}
}

// TestNISTLinear compares with exact rational solutions, having checked that these round to the certified values.
func TestNISTLinear(t *testing.T) {
	for _, c := range []struct {
		name     string
		degree   int
		constant bool
		digits   float64
	}{
		{"Norris", 1, true, 12},
		{"Pontius", 2, true, 12},
		{"NoInt1", 1, false, 14},
		{"NoInt2", 1, false, 14},
		{"Longley", 1, true, 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			certified, ys, xs := readLinear(t, c.name)
			x := make([][]*big.Rat, len(xs))
			for i := range xs {
				x[i] = rats(t, xs[i])
			}
			rows := design(x, c.constant, c.degree)
			coef, _ := exactFit(t, rows, rats(t, ys))
			for j, cert := range certified {
				if !rounded(coef[j], cert) {
					t.Errorf("exact solution %d is %.15g, certified %s", j, coef[j], cert)
				}
			}
			checkLinear(t, c.name, rows, rats(t, ys), c.digits, min(c.digits, 9))
		})
	}
}

// rounded reports whether v rounds to the printed decimal number, give or take one unit of its last digit.
func rounded(v float64, printed string) bool {
	mantissa, exp, _ := strings.Cut(strings.ToUpper(printed), "E")
	_, decimals, _ := strings.Cut(mantissa, ".")
	want, err := strconv.ParseFloat(printed, 64)
	power := 0
	if exp != "" {
		power, _ = strconv.Atoi(exp)
	}
	return err == nil && math.Abs(v-want) <= math.Pow10(power-len(decimals))
}

// wamplerNoise is the disturbance of Wampler3; Wampler4 and 5 multiply it by 100 and 10⁴. It is orthogonal to
// polynomials of degree five on 0..20.
var wamplerNoise = []int64{759, -2048, 2048, -2048, 2523, -2048, 2048, -2048, 1838, -2048, 2048,
	-2048, 1838, -2048, 2048, -2048, 2523, -2048, 2048, -2048, 759}

// TestWampler generates the five problems from their definition: polynomials of degree five on x = 0..20 with
// coefficients 1 (Wampler2: 10⁻ʲ), undisturbed in 1 and 2. The fitted coefficients equal the generating ones exactly.
func TestWampler(t *testing.T) {
	for k, c := range []struct {
		base         *big.Rat
		noise        int64
		digits, rest float64
	}{
		{big.NewRat(1, 1), 0, 9, 0}, // residuals are zero: no digits to compare
		{big.NewRat(1, 10), 0, 12, 0},
		{big.NewRat(1, 1), 1, 9, 12},
		{big.NewRat(1, 1), 100, 9, 12},
		{big.NewRat(1, 1), 10000, 7, 12},
	} {
		var x [][]*big.Rat
		var y []*big.Rat
		for i, d := range wamplerNoise {
			row := []*big.Rat{big.NewRat(int64(i), 1)}
			x = append(x, row)
			v, term := big.NewRat(d*c.noise, 1), big.NewRat(1, 1)
			for range 6 {
				v = new(big.Rat).Add(v, term)
				term = new(big.Rat).Mul(term, new(big.Rat).Mul(c.base, row[0]))
			}
			y = append(y, v)
		}
		checkLinear(t, "Wampler"+string(rune('1'+k)), design(x, true, 5), y, c.digits, c.rest)
	}
}
