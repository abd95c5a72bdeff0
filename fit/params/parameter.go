package params

import (
	"errors"
	"fmt"
)

// Status of a parameter.
const (
	StatusOK             = "ok"
	StatusUnidentifiable = "unidentifiable" // the data cannot determine it: Bound says what they allow
	StatusBound          = "bound"          // only a one-sided bound
)

// Parameter is one fitted number, or the reason why there is none. A value is in SI units.
type Parameter struct {
	Value      *float64    `json:"value"`
	Unit       string      `json:"unit"`
	CI95       *[2]float64 `json:"ci95,omitempty"`
	Status     string      `json:"status"`
	Bound      *[2]float64 `json:"bound,omitempty"` // what the data allow, where Value is null
	Why        string      `json:"why,omitempty"`
	Model      string      `json:"model"`
	Experiment string      `json:"experiment"`
	Source     string      `json:"source"` // paper and equation
	// Label is the parameter in words, for people ("contention of the medium per message").
	Label string `json:"label"`
}

// Ends returns the value and the ends of its interval, all the same where it has none; false without a finite value.
func (p Parameter) Ends() (v, lo, hi float64, ok bool) {
	if p.Value == nil || !finite(*p.Value) {
		return 0, 0, 0, false
	}
	v = *p.Value
	if p.CI95 == nil || !finitePair(p.CI95) {
		return v, v, v, true
	}
	return v, p.CI95[0], p.CI95[1], true
}

func (p Parameter) check() error {
	switch p.Status {
	case StatusOK:
		if p.Value == nil {
			return errors.New("status ok, but no value")
		}
	case StatusUnidentifiable, StatusBound:
	default:
		return fmt.Errorf("status %q, want %q, %q or %q", p.Status, StatusOK, StatusUnidentifiable, StatusBound)
	}
	for _, iv := range []*[2]float64{p.CI95, p.Bound} {
		if iv != nil && iv[0] > iv[1] {
			return fmt.Errorf("interval [%v, %v] ends before it starts", iv[0], iv[1])
		}
	}
	return nil
}
