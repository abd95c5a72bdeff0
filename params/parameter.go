package params

import "fmt"

const (
	StatusOK             = "ok"             // to be relied on: it has an interval, is possible, and nothing contradicts it
	StatusProvisional    = "provisional"    // a number, but of too few data or of a model that misses them: Why says which
	StatusInconsistent   = "inconsistent"   // impossible, or contradicted by another parameter of the run: Why says which
	StatusUnidentifiable = "unidentifiable" // the data cannot determine it: Bound says what they allow
	StatusBound          = "bound"          // only a bound: the interval holds zero, and the value would matter
)

// Useful is the half-width of an interval, over the value, up to which a number is of use to who predicts: the worst
// case of the papers' models is no better.
const Useful = 0.25

// Material is the share of a time, or of a time per byte, below which an effect does not matter to who predicts times,
// significant or not: models hold their own measurements to a few per cent at best, and the stop rule of a run is 2%.
const Material = 0.02

// Statuses lists every status, the best first.
var Statuses = []string{StatusOK, StatusProvisional, StatusBound, StatusUnidentifiable, StatusInconsistent}

// Withhold takes the value out of use: it stays as the estimate.
func (p *Parameter) Withhold(status, why string) {
	if p.Value != nil {
		p.Estimate = p.Value
	}
	p.Value, p.Status, p.Why = nil, status, why
}

// Raw returns the number that was estimated, whether it is to be used or not; false where there is none.
func (p Parameter) Raw() (float64, bool) {
	switch {
	case p.Value != nil:
		return *p.Value, true
	case p.Estimate != nil:
		return *p.Estimate, true
	}
	return 0, false
}

// Parameter is one fitted number, or the reason why there is none. A value is in SI units.
type Parameter struct {
	Value      *float64    `json:"value" jsonschema:"in unit; null unless status is ok or provisional"`
	Unit       string      `json:"unit" jsonschema:"SI unit; 1 is a plain number"`
	Estimate   *float64    `json:"estimate,omitempty" jsonschema:"what was estimated, where it is not to be used"`
	CI95       *[2]float64 `json:"ci95,omitempty" jsonschema:"95% interval of value or estimate"`
	Budget     []Term      `json:"budget,omitempty" jsonschema:"what the width of ci95 is made of; else in points.json"`
	Status     string      `json:"status" jsonschema:"whether value may be used"`
	Why        string      `json:"why,omitempty" jsonschema:"why the status is not ok"`
	Model      string      `json:"model" jsonschema:"model that found it"`
	Experiment string      `json:"experiment" jsonschema:"experiment that it was measured by"`
	Source     string      `json:"source" jsonschema:"paper and equation"`
	Label      string      `json:"label,omitempty" jsonschema:"what it is, in words; else in points.json"`
	Bound      *Bound      `json:"bound,omitempty" jsonschema:"what the data allow without a value; null is no limit"`
}

// CountsPackets is why B_L_bytes has no value where that is known.
const CountsPackets = "the buffer counts packets, not bytes"

// SegmentHeaders are the bytes of a frame beside the payload of a segment: Ethernet (14), IPv4 (20), TCP (20) and its
// time stamps (12).
const SegmentHeaders = 66

// PortPackets is how many packets a port holds that have this payload [B] each. It is computed from B_L_bytes where the
// buffer counts bytes, else from B_L; of names which. ok is false where neither has a value.
func (p *Params) PortPackets(payload float64) (packets float64, of string, ok bool) {
	if v := p.Parameters["B_L_bytes"].Value; v != nil {
		return *v / (payload + SegmentHeaders), "B_L_bytes", true
	}
	if v := p.Parameters["B_L"].Value; v != nil {
		return *v, "B_L", true
	}
	return 0, "", false
}

// Bound is from where to where a value may be; infinite on a side without limit.
type Bound [2]float64

// Term is one part of a parameter's uncertainty. Terms are combined in quadrature. Source: JCGM 100 (GUM), sections 4
// and 5.
type Term struct {
	Name string  `json:"name" jsonschema:"such as rounds, start skew, clock offset"`
	Type string  `json:"type" jsonschema:"A: from the scatter of repeated measurements; B: from other evidence (JCGM 100)"`
	U    float64 `json:"u" jsonschema:"standard uncertainty that it adds, in the unit of the parameter"`
	Why  string  `json:"why,omitempty" jsonschema:"what u is taken from"`
}

const (
	TypeA = "A"
	TypeB = "B"
)

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

// Zero says why a time is zero within what the run can tell; "" where it is not. It is negative by less than matters,
// or only bounded, by an interval that holds zero. What needs it takes zero.
func (p Parameter) Zero() string {
	switch {
	case p.Value != nil && *p.Value < 0 && p.Status == StatusProvisional:
		return fmt.Sprintf("it is %g %s, and counts as zero", *p.Value, p.Unit)
	case p.Value == nil && p.Status == StatusBound && p.Bound != nil && p.Bound[0] <= 0 && p.Bound[1] >= 0:
		return fmt.Sprintf("it may be zero, and is at most %g %s", p.Bound[1], p.Unit)
	}
	return ""
}

func (p Parameter) check() error {
	switch p.Status {
	case StatusOK, StatusProvisional:
		if p.Value == nil {
			return fmt.Errorf("status %s, but no value", p.Status)
		}
	case StatusInconsistent, StatusUnidentifiable, StatusBound:
		if p.Value != nil {
			return fmt.Errorf("status %s, but a value", p.Status)
		}
	default:
		return fmt.Errorf("status %q, want one of %q", p.Status, Statuses)
	}
	for _, t := range p.Budget {
		if t.Name == "" || t.Type != TypeA && t.Type != TypeB || !(t.U >= 0) {
			return fmt.Errorf("term of uncertainty %+v, want a name, type A or B and u ≥ 0", t)
		}
	}
	for _, iv := range []*[2]float64{p.CI95, (*[2]float64)(p.Bound)} {
		if iv != nil && iv[0] > iv[1] {
			return fmt.Errorf("interval [%v, %v] ends before it starts", iv[0], iv[1])
		}
	}
	if p.Value != nil {
		return inRange(*p.Value, p.Unit)
	}
	return nil
}

const TermClockOffset = "clock offset" // a term of uncertainty: between two hosts' clocks

// ranges are what a value to be used can be, by its unit: what no network and no clock can have is a damaged or forged
// file. A small time may be negative, as a difference; what a size cannot be a fit has withheld.
var ranges = map[string][2]float64{
	"s":       {-3600, 10 * 365 * 24 * 3600},
	"s/B":     {-1, 24 * 3600},
	"B":       {0, 1 << 50},
	"B/s":     {0, 1e15},
	"packets": {0, 1 << 50},
}

func inRange(v float64, unit string) error {
	if r, known := ranges[unit]; known && !(v >= r[0] && v <= r[1]) {
		return fmt.Errorf("%g %s: want %g to %g", v, unit, r[0], r[1])
	}
	return nil
}
