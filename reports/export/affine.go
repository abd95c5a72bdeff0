package export

import (
	"fmt"
	"math"
	"strings"

	"calib/reports/export/input"
)

// affine is the time of a message of x bytes on an idle network, α + β·x, from handing it over to having it.
type affine struct {
	alpha, beta float64 // s, s/B
	from        []string
}

// at returns the time [s] of x bytes.
func (a affine) at(x float64) float64 { return a.alpha + a.beta*x }

// affineOf takes α and β of Hockney's model of T(x); without it LogGP's L + o_s + o_r + (x−1)·G, which has that form
// too.
func affineOf(in *input.Input) (affine, error) {
	a := affine{from: []string{"alpha", "beta"}}
	v, err := in.NeedAll(a.from...)
	if err == nil {
		a.alpha, a.beta = v[0], v[1]
		return a, a.check()
	}
	a.from = []string{"L", "o_s", "o_r", "G"}
	if v, other := in.NeedAll(a.from...); other == nil {
		a.alpha, a.beta = v[0]+v[1]+v[2]-v[3], v[3]
		return a, a.check()
	}
	return affine{}, err // ping-pong is quicker to measure than LogGP
}

func (a affine) check() error {
	if a.alpha < 0 || !(a.beta > 0) {
		return fmt.Errorf("a message takes %g s + %g s/B by %s: %w: it must not be negative, and must grow with the size",
			a.alpha, a.beta, strings.Join(a.from, ", "), ErrLimit)
	}
	return nil
}

// tolerated is the largest relative error of a model of which its users need not be warned.
const tolerated = 0.1

// compareWithMeasured compares the times of a target's model with the measured T(x): the outcome is a note, or a
// warning where the model is off by more than a tenth somewhere.
func compareWithMeasured(in *input.Input, what string, at func(bytes float64) float64) (notes, warnings []string) {
	points := in.Points()
	if len(points) == 0 {
		return nil, nil
	}
	sum, worst, where := 0.0, 0.0, 0.0
	for _, q := range points {
		e := at(q.Bytes)/q.Seconds - 1
		if sum += math.Abs(e); math.Abs(e) > math.Abs(worst) {
			worst, where = e, q.Bytes
		}
	}
	text := []string{fmt.Sprintf("against the measured T(x), %s is off by %.1f%% on average, and by %+.1f%% at most, at %.0f bytes", what,
		100*sum/float64(len(points)), 100*worst, where)}
	if math.Abs(worst) > tolerated {
		return nil, text
	}
	return text, nil
}
