package params

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// ranges are what a value to be used can be, by its unit: what no network and no clock can have is a damaged or forged
// file. A small time may be negative, as a difference; what a size cannot be a fit has withheld.
var ranges = map[string][2]float64{
	"s":       {-3600, 10 * 365 * 24 * 3600},
	"s/B":     {-1, 24 * 3600},
	"B":       {0, 1 << 50},
	"B/s":     {0, 1e15},
	"packets": {0, 1 << 50},
}

// outside is the error of a value that its unit does not allow.
func outside(v float64, unit string) error {
	r, known := ranges[unit]
	if !known || v >= r[0] && v <= r[1] {
		return nil
	}
	return fmt.Errorf("%g %s: want %g to %g", v, unit, r[0], r[1])
}

// place is where in a params.json a value stands: the members that lead to it.
type place []string

// rangeError is a value outside its range.
type rangeError struct {
	at  place
	err error
}

func (e *rangeError) Error() string { return e.err.Error() }

// checkRange looks for a value that is to be used, and cannot be.
func (p *Params) checkRange() error {
	for _, name := range slices.Sorted(maps.Keys(p.Parameters)) {
		q := p.Parameters[name]
		if q.Value == nil {
			continue
		}
		if err := outside(*q.Value, q.Unit); err != nil {
			return &rangeError{place{"parameters", name, "value"}, fmt.Errorf("parameter %s: %w", name, err)}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Functions)) {
		f := p.Functions[name]
		if !f.Usable() {
			continue
		}
		for _, c := range slices.Sorted(maps.Keys(f.Coeff)) {
			if err := outside(f.Coeff[c], f.CoeffUnit(c)); err != nil {
				return &rangeError{place{"functions", name, "coeff", c}, fmt.Errorf("function %s, coefficient %s: %w", name, c, err)}
			}
		}
	}
	for _, q := range p.Pairs {
		for _, v := range []struct {
			what, unit string
			value      *float64
		}{{"latency", "s", q.Latency}, {"rate", "B/s", q.Rate}} {
			if v.value == nil {
				continue
			}
			if err := outside(*v.value, v.unit); err != nil {
				return &rangeError{place{"pairs"}, fmt.Errorf("%s of pair %s → %s: %w", v.what, q.From, q.To, err)}
			}
		}
	}
	for i, v := range p.Validation {
		err := outside(v.Measured, "s")
		if err == nil {
			err = outside(float64(v.Bytes), "B")
		}
		if err != nil {
			return &rangeError{place{"validation"}, fmt.Errorf("validation[%d]: %w", i, err)}
		}
	}
	return nil
}

// line is where the last of the members begins whose names lead to a place, counted from 1.
func (at place) line(b []byte) int {
	d := json.NewDecoder(bytes.NewReader(b))
	found := int64(0)
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return 1
	}
	for len(at) > 0 {
		name, err := d.Token()
		if text, ok := name.(string); err != nil || !ok {
			break // the end of the object
		} else if text != at[0] {
			if d.Decode(&json.RawMessage{}) != nil {
				break
			}
			continue
		}
		found, at = d.InputOffset(), at[1:]
		if t, err := d.Token(); err != nil || t != json.Delim('{') {
			break // a value, or a list
		}
	}
	return lineAt(b, found)
}
