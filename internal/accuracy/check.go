package main

import (
	"fmt"
	"math"

	"calib/fit/params"
	"calib/internal/units"
)

// check is the comparison of one parameter with the truth.
type check struct {
	name           string
	truth, allowed float64
	unit           string
	want           string // the truth in words, where it is no number
	measured       string
	ci             string
	err            string
	ok             bool
}

// Tolerances of the lab: relative, and absolute in seconds.
const (
	tolSlope        = 0.01
	tolContention   = 0.02
	tolContentionUS = 5e-6
	tolFixed        = 0.02
	tolFixedUS      = 30e-6
)

// value checks one parameter.
func value(p *params.Params, name string, truth float64, unit string, allowed float64) check {
	c := check{name: name, truth: truth, unit: unit, allowed: allowed}
	q, there := p.Parameters[name]
	v, estimated := q.Raw() // the lab checks what is estimated, whether it may be used or not
	if !there || !estimated {
		c.measured, c.err = "–", "no value: "+q.Why
		return c
	}
	if q.CI95 != nil {
		c.ci = interval(*q.CI95, unit)
	}
	return c.compare(v)
}

// notIdentifiable checks that a parameter has no value and the status of one that the data cannot determine.
func notIdentifiable(p *params.Params, name, unit string) check {
	c := check{name: name, truth: math.NaN(), unit: unit, measured: "–"}
	q, there := p.Parameters[name]
	c.ok = there && q.Value == nil && q.Status == params.StatusUnidentifiable
	c.err = q.Status
	if q.Bound != nil {
		c.ci = fmt.Sprintf("bound %s to %s", units.Format(q.Bound[0], unit), units.Format(q.Bound[1], unit))
	}
	return c
}

// row is the check as a row of the Markdown table.
func (c check) row(network, seed string) string {
	verdict := "ok"
	if !c.ok {
		verdict = "**outside**"
	}
	truth, allowed := "not identifiable", ""
	if c.want != "" {
		truth = c.want
	} else if !math.IsNaN(c.truth) {
		truth, allowed = units.Format(c.truth, c.unit), "± "+units.Format(c.allowed, c.unit)
	}
	return fmt.Sprintf("| %s | %s | %s | %s | %s | %s | %s | %s | %s |",
		network, seed, c.name, truth, c.measured, c.ci, c.err, allowed, verdict)
}

func interval(ci [2]float64, unit string) string {
	return fmt.Sprintf("%s to %s", units.Format(ci[0], unit), units.Format(ci[1], unit))
}

// compare judges a value against the truth.
func (c check) compare(v float64) check {
	d := v - c.truth
	c.measured, c.err = units.Format(v, c.unit), units.Format(d, c.unit)
	if c.truth != 0 {
		c.err = fmt.Sprintf("%+.2f%%", 100*d/c.truth)
	}
	c.ok = math.Abs(d) <= c.allowed
	return c
}
