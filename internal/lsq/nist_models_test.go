package lsq

import "math"

// model is f(x; b) of one observation.
type model func(b, x []float64) float64

// rational3 is the cubic/cubic model of Hahn1 and Thurber.
func rational3(b, x []float64) float64 {
	t := x[0]
	return (b[0] + t*(b[1]+t*(b[2]+t*b[3]))) / (1 + t*(b[4]+t*(b[5]+t*b[6])))
}

// gauss is the model of Gauss1, Gauss2 and Gauss3.
func gauss(b, x []float64) float64 {
	u, v := (x[0]-b[3])/b[4], (x[0]-b[6])/b[7]
	return b[0]*math.Exp(-b[1]*x[0]) + b[2]*math.Exp(-u*u) + b[5]*math.Exp(-v*v)
}

// lanczos is the sum of three exponentials of Lanczos1, 2 and 3.
func lanczos(b, x []float64) float64 {
	return b[0]*math.Exp(-b[1]*x[0]) + b[2]*math.Exp(-b[3]*x[0]) + b[4]*math.Exp(-b[5]*x[0])
}

// chwirut is the model of Chwirut1 and Chwirut2.
func chwirut(b, x []float64) float64 { return math.Exp(-b[0]*x[0]) / (b[1] + b[2]*x[0]) }

// saturating is the model of Misra1a and BoxBOD.
func saturating(b, x []float64) float64 { return b[0] * (1 - math.Exp(-b[1]*x[0])) }

// enso is a mean, an annual cycle and two cycles of fitted period.
func enso(b, x []float64) float64 {
	w := 2 * math.Pi * x[0]
	return b[0] + b[1]*math.Cos(w/12) + b[2]*math.Sin(w/12) +
		b[4]*math.Cos(w/b[3]) + b[5]*math.Sin(w/b[3]) +
		b[7]*math.Cos(w/b[6]) + b[8]*math.Sin(w/b[6])
}

// strdModels are the 27 non-linear problems, in NIST's order of difficulty.
var strdModels = []struct {
	name, level string
	f           model
}{
	{"Misra1a", "lower", saturating},
	{"Chwirut2", "lower", chwirut},
	{"Chwirut1", "lower", chwirut},
	{"Lanczos3", "lower", lanczos},
	{"Gauss1", "lower", gauss},
	{"Gauss2", "lower", gauss},
	{"DanWood", "lower", func(b, x []float64) float64 { return b[0] * math.Pow(x[0], b[1]) }},
	{"Misra1b", "lower", func(b, x []float64) float64 {
		u := 1 + b[1]*x[0]/2
		return b[0] * (1 - 1/(u*u))
	}},
	{"Kirby2", "average", func(b, x []float64) float64 {
		return (b[0] + x[0]*(b[1]+x[0]*b[2])) / (1 + x[0]*(b[3]+x[0]*b[4]))
	}},
	{"Hahn1", "average", rational3},
	{"Nelson", "average", func(b, x []float64) float64 { return b[0] - b[1]*x[0]*math.Exp(-b[2]*x[1]) }},
	{"MGH17", "average", func(b, x []float64) float64 {
		return b[0] + b[1]*math.Exp(-x[0]*b[3]) + b[2]*math.Exp(-x[0]*b[4])
	}},
	{"Lanczos1", "average", lanczos},
	{"Lanczos2", "average", lanczos},
	{"Gauss3", "average", gauss},
	{"Misra1c", "average", func(b, x []float64) float64 { return b[0] * (1 - 1/math.Sqrt(1+2*b[1]*x[0])) }},
	{"Misra1d", "average", func(b, x []float64) float64 { return b[0] * b[1] * x[0] / (1 + b[1]*x[0]) }},
	{"Roszman1", "average", func(b, x []float64) float64 {
		return b[0] - b[1]*x[0] - math.Atan(b[2]/(x[0]-b[3]))/math.Pi
	}},
	{"ENSO", "average", enso},
	{"MGH09", "higher", func(b, x []float64) float64 {
		return b[0] * x[0] * (x[0] + b[1]) / (x[0]*(x[0]+b[2]) + b[3])
	}},
	{"Thurber", "higher", rational3},
	{"BoxBOD", "higher", saturating},
	{"Rat42", "higher", func(b, x []float64) float64 { return b[0] / (1 + math.Exp(b[1]-b[2]*x[0])) }},
	{"MGH10", "higher", func(b, x []float64) float64 { return b[0] * math.Exp(b[1]/(x[0]+b[2])) }},
	{"Eckerle4", "higher", func(b, x []float64) float64 {
		u := (x[0] - b[2]) / b[1]
		return b[0] / b[1] * math.Exp(-u*u/2)
	}},
	{"Rat43", "higher", func(b, x []float64) float64 {
		return b[0] / math.Pow(1+math.Exp(b[1]-b[2]*x[0]), 1/b[3])
	}},
	{"Bennett5", "higher", func(b, x []float64) float64 { return b[0] * math.Pow(b[1]+x[0], -1/b[2]) }},
}
