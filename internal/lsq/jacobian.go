package lsq

import (
	"fmt"
	"math"
)

// jacobian stores √w·∂f/∂β at the current β in s.jac.
func (s *search) jacobian() error {
	if s.pr.Jac != nil {
		if err := s.pr.Jac(s.beta, s.rows); err != nil {
			return fmt.Errorf("jacobian at %v: %w", s.beta, err)
		}
	} else if err := s.differences(); err != nil {
		return err
	}
	for i, row := range s.rows {
		for j := range row {
			row[j] *= s.root[i]
			if !finite(row[j]) {
				return fmt.Errorf("jacobian[%d][%d] at %v: %w", i, j, s.beta, ErrNotFinite)
			}
		}
	}
	return nil
}

// differences stores the derivatives by central differences of fourth order,
//
//	f' = [8·(f(β+h) − f(β−h)) − (f(β+2h) − f(β−2h))]/(12·h),
//
// with h = 2⁻¹³·|β|, or more where it takes more to move the model by 2⁻²⁶ of the
// size of y (2⁻¹³ while β and the slope are both zero). That is smaller than the
// ε^(1/5)·|β| that balances truncation (h⁴) and rounding (ε/h) for a model that
// varies on the scale of β, since a peak far from the origin varies on a shorter
// one. Where the model is not finite at β ± 2h, h is reduced until it is.
func (s *search) differences() error {
	beta := append([]float64(nil), s.beta...)
	var f [4][]float64
	for k := range f {
		f[k] = make([]float64, s.n)
	}
	for j, b := range s.beta {
		h := math.Ldexp(math.Abs(b), -13)
		if s.d[j] > 0 {
			h = max(h, math.Ldexp((s.size+s.cost)/s.d[j], -26))
		}
		if h == 0 {
			h = math.Ldexp(1, -13)
		}
		for cut := 0; ; cut++ {
			good := h > 0
			for k, m := range [4]float64{-2, -1, 1, 2} {
				beta[j] = b + m*h
				ok, err := s.predict(beta, f[k])
				if err != nil {
					return err
				}
				good = good && ok
			}
			if good {
				break
			}
			if cut == 10 {
				return fmt.Errorf("model around parameter %d at %v: %w", j, s.beta, ErrNotFinite)
			}
			h /= 8
		}
		for i, row := range s.rows {
			row[j] = (8*(f[2][i]-f[1][i]) - (f[3][i] - f[0][i])) / (12 * h)
		}
		beta[j] = b
	}
	return nil
}
