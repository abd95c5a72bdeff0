package params

import (
	"cmp"
	"regexp"
	"slices"

	"calib/internal/lists"
	"calib/internal/units"
)

const (
	BetterLower   = "lower"
	BetterHigher  = "higher"
	BetterNeither = "" // a change is shown, and is neither good nor bad
)

// Metric is one number of a run that can be followed from run to run: a parameter, a coefficient of a function
// ("g_s.c0") or its value at a size ("T.64KiB"), the share of segments sent again ("loss"), or latency and rate of one
// pair at the size that the pair was measured at ("rate.64KiB"; without a size in files that do not state it).
type Metric struct {
	Name   string      `json:"name"`
	From   string      `json:"from,omitempty"` // with To, the link it belongs to; else it is of the whole network
	To     string      `json:"to,omitempty"`
	Unit   string      `json:"unit"`
	Label  string      `json:"label"`
	Value  float64     `json:"value"` // SI
	CI95   *[2]float64 `json:"ci95,omitempty"`
	Better string      `json:"better,omitempty"`
	Status string      `json:"status,omitempty"` // StatusOK or StatusProvisional
	Why    string      `json:"-"`                // of Status
	// Sizes are the message sizes that a parameter or coefficient was fitted to ("1B..64KiB"): fitted to others, it is
	// another number. "" where the name says the size, or there is none.
	Sizes string `json:"sizes,omitempty"`
}

const LossMetric = "loss"

// Link names the link of m, "" for the whole network.
func (m Metric) Link() string {
	if m.From == "" && m.To == "" {
		return ""
	}
	return m.From + "→" + m.To
}

// Metrics lists every finite number of p that may be used and so can be followed, the network's before those of links,
// each sorted by name.
func (p *Params) Metrics() []Metric {
	var out []Metric
	add := func(m Metric) {
		if !finitePair(m.CI95) {
			m.CI95 = nil
		}
		m.Better, m.Status = cmp.Or(m.Better, better(m.Unit)), cmp.Or(m.Status, StatusOK)
		if finite(m.Value) {
			out = append(out, m)
		}
	}
	for name, q := range lists.ByKey(p.Parameters) {
		if q.Value != nil {
			m := Metric{Name: name, Unit: q.Unit, Label: q.Label, Value: *q.Value, CI95: q.CI95, Status: q.Status, Why: q.Why}
			own := func(f *Fit) bool { return f.Model == q.Model && f.Experiment == q.Experiment }
			if i := slices.IndexFunc(p.Fits, own); i >= 0 {
				m.Sizes = sizesOf(p.Fits[i].Domain)
			}
			add(m)
		}
	}
	for name, f := range lists.ByKey(p.Functions) {
		for _, m := range f.metrics(name) {
			m.Status, m.Why = f.Status, f.Why
			add(m)
		}
	}
	if p.Loss != nil {
		add(Metric{Name: LossMetric, Unit: "1", Label: "share of segments sent again", Value: p.Loss.Rate, CI95: &p.Loss.CI95,
			Better: BetterLower})
	}
	for _, q := range p.Pairs {
		from, to := min(q.From, q.To), max(q.From, q.To) // whatever the order of the hosts was
		if q.Latency != nil {
			add(Metric{Name: sized("latency", q.LatencyBytes), From: from, To: to, Unit: "s",
				Label: "half round trip of the smallest message", Value: *q.Latency, CI95: q.LatencyCI})
		}
		if q.Rate != nil {
			add(Metric{Name: sized("rate", q.RateBytes), From: from, To: to, Unit: "B/s",
				Label: "rate of the largest message", Value: *q.Rate, CI95: q.RateCI})
		}
	}
	slices.SortStableFunc(out, func(a, b Metric) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// sized is the name of a metric at a message size; 0 is a size that is not known.
func sized(name string, size int64) string {
	if size == 0 {
		return name
	}
	return name + "." + units.Bytes(size).String()
}

// SplitSize splits the name of a metric at a message size from that size, which is "" where the name has none.
func SplitSize(name string) (base, size string) {
	if m := atSize.FindStringSubmatch(name); m != nil {
		return m[1], m[2]
	}
	return name, ""
}

var atSize = regexp.MustCompile(`^(.+?)\.(\d[\d.]*(?:B|[KMG]iB))$`)

// sizesOf is the range of message sizes in a domain.
func sizesOf(domain map[string][2]float64) string {
	for _, factor := range []string{"bytes", "m"} {
		if in, ok := domain[factor]; ok {
			return units.Bytes(in[0]).String() + ".." + units.Bytes(in[1]).String()
		}
	}
	return ""
}

// followedSizes are where functions of segments are followed [B].
var followedSizes = [...]units.Bytes{1, 64, units.KiB, 16 * units.KiB, 64 * units.KiB, units.MiB}

// metrics are the coefficients of f where it is usable, or, of segments, its values at followedSizes within the domain
// ("T.64KiB"): from run to run breaks move, and a segment's coefficients with them.
func (f Function) metrics(name string) []Metric {
	if !f.Usable() {
		return nil
	}
	var out []Metric
	if f.Form == Pieces {
		in := f.Domain["bytes"]
		for _, x := range followedSizes {
			if y, err := f.At(float64(x), 0, nil); err == nil && in[0] <= float64(x) && float64(x) <= in[1] {
				out = append(out, Metric{Name: name + "." + x.String(), Unit: f.Unit, Label: f.Label + ", " + x.String(), Value: y})
			}
		}
		return out
	}
	for c, v := range lists.ByKey(f.Coeff) {
		out = append(out, Metric{Name: name + "." + c, Unit: f.CoeffUnit(c), Label: f.Label + ", " + c,
			Value: v, CI95: f.Interval(c), Sizes: sizesOf(f.Domain)})
	}
	return out
}

// better is what a unit says: times are better short, rates high.
func better(unit string) string {
	switch unit {
	case "s", "s/B":
		return BetterLower
	case "B/s":
		return BetterHigher
	}
	return BetterNeither
}
