package compare

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat/distuv"

	"calib/internal/files"
	"calib/internal/stats"
	"calib/internal/units"
	"calib/params"
	"calib/reports"
)

const FloorSchema = "calib.noise/1" // names the version of a noise floor

// Floor is the noise floor: by how much runs differ though nothing has changed.
type Floor struct {
	Schema string     `json:"schema"`
	Runs   []string   `json:"runs"`
	Nights int        `json:"nights"`
	Level  float64    `json:"level"` // share of the differences between two runs that are below the floor
	Of     []Quantity `json:"of"`
}

type Quantity struct {
	Name     string   `json:"name"`
	From     string   `json:"from,omitempty"`
	To       string   `json:"to,omitempty"`
	Unit     string   `json:"unit"`
	Runs     int      `json:"runs"`   // that have it
	Median   float64  `json:"median"` // of them [SI]
	Absolute float64  `json:"absolute"`
	Relative *float64 `json:"relative,omitempty"` // Absolute over the median, where all values are positive
}

// Noise returns the noise floor of A/A runs: the difference that 95% of pairs of runs stay below. A metric needs two
// runs. The spread σ is estimated from the median of the differences between all pairs, which a quarter of outliers
// hardly moves. The floor is √2·σ times the quantile of Student's t for that many runs, so that few runs give a high
// floor and never a low one by luck.
func Noise(runs []Run) *Floor {
	side := sideOf(runs)
	f := &Floor{Schema: FloorSchema, Runs: side.Runs, Nights: side.Nights, Level: stats.Level, Of: []Quantity{}}
	t := newTable(runs, runs, false)
	for _, s := range slices.Concat(t.params, t.links) {
		x := known(s.raw[:t.old])
		if len(x) < 2 {
			continue
		}
		q := Quantity{Name: s.Name, From: s.From, To: s.To, Unit: s.Unit, Runs: len(x), Median: stats.Median(x),
			Absolute: math.Sqrt2 * spread(x) * student(float64(len(x)-1), 1-stats.Level)}
		if r := q.Absolute / q.Median; q.Median > 0 && !math.IsInf(r, 0) {
			q.Relative = &r
		}
		f.Of = append(f.Of, q)
	}
	return f
}

// student is the t quantile that leaves alpha outside on both sides.
func student(df, alpha float64) float64 {
	return distuv.StudentsT{Sigma: 1, Nu: math.Max(df, 1)}.Quantile(1 - alpha/2)
}

const maxPairwise = 100 // bounds the values that are compared pair by pair; the last ones are

// spread is a robust standard deviation: the median |xᵢ−xⱼ| of all pairs, over √2·Φ⁻¹(3/4). It is 0 for one value.
func spread(x []float64) float64 {
	x = x[max(len(x)-maxPairwise, 0):]
	var d []float64
	for i := range x {
		for j := range i {
			d = append(d, math.Abs(x[i]-x[j]))
		}
	}
	if len(d) == 0 {
		return 0
	}
	return stats.Median(d) / (math.Sqrt2 * 0.674489750196082)
}

// medianLoss is the standard error of the median of normal values over that of their mean.
const medianLoss = 1.2533141373155003 // √(π/2)

// floor returns by how much the medians of both sides may differ by noise alone, as estimated from the old runs. within
// is the noise between runs of one night, which more runs make smaller. between is the noise between nights, which only
// more nights make smaller; the test does not see it, because all runs of a night share it, so that it allows for the
// number of tests here. Each is 0 where there are too few runs or nights.
func (t *table) floor(s *series, tests int, o Options) (within, between float64) {
	isNights := map[int]bool{}
	for i, v := range s.tested[t.old:] {
		if !math.IsNaN(v) {
			isNights[t.night[t.old+i]] = true
		}
	}
	nights, rest := t.byNight(s)
	was, is := float64(len(known(s.tested[:t.old]))), float64(len(known(s.tested[t.old:])))
	noise := medianLoss * spread(rest) * math.Sqrt(1/was+1/is)
	if len(rest) >= minTested {
		within = noise * student(float64(len(rest)-1), o.Alpha)
	}
	k, df, sd, runs := float64(len(nights)), float64(len(nights)-1), 0.0, 0.0
	switch {
	case len(nights) >= minNights:
		sd = spread(nights)
		if each := was / k; o.gate && each >= minTested { // the gate may have more runs than a night of the baseline
			sd, runs = math.Sqrt(math.Max(0, sd*sd-math.Pow(medianLoss*spread(rest), 2)/each)), noise
		}
	case o.gate && !t.together && len(rest) >= minTested:
		sd, df = spread(rest), float64(len(rest)-1)
	}
	if sd+runs > 0 {
		between = math.Hypot(sd*math.Sqrt(1/k+1/float64(len(isNights))), runs) * student(df, o.nights/float64(tests))
	}
	return within, between
}

// byNight returns the medians of the nights of the old runs, and by how much their runs differ from them.
func (t *table) byNight(s *series) (nights, rest []float64) {
	by := make([][]float64, t.nights)
	for i, v := range s.tested[:t.old] {
		if !math.IsNaN(v) {
			by[t.night[i]] = append(by[t.night[i]], v)
		}
	}
	var all []float64
	for _, x := range by {
		if len(x) == 0 {
			continue
		}
		m := stats.Median(x)
		nights = append(nights, m)
		all = append(all, x...)
		if len(x) < minTested {
			continue
		}
		for _, v := range x {
			rest = append(rest, (v-m)*math.Sqrt(float64(len(x))/float64(len(x)-1)))
		}
	}
	if len(rest) < 2*minTested { // too few runs a night: take the spread of all runs, nights included
		rest = all
	}
	return nights, rest
}

// of returns the floor of a quantity in its unit; for a host and for all links together the largest of their links.
func (f *Floor) of(c Change) (absolute float64, have bool) {
	if f == nil {
		return 0, false
	}
	for _, q := range f.Of {
		same := q.Name == c.Name && (c.Scope == ScopeHost && (q.From == c.Host || q.To == c.Host) ||
			c.Scope != ScopeHost && q.From == c.From && q.To == c.To)
		all := c.Scope == ScopeNetwork && q.From != "" && linksPrefix+q.Name == c.Name
		if (same || all) && q.Unit == c.Unit {
			absolute, have = max(absolute, q.Absolute), true
		}
	}
	return absolute, have
}

// ReadFloor reads a floor in JSON. An unknown schema is an error.
func ReadFloor(b []byte) (*Floor, error) {
	var f Floor
	err := files.JSON(b, &f)
	if err == nil && f.Schema != FloorSchema {
		err = fmt.Errorf("unknown schema %q, want %s", f.Schema, FloorSchema)
	}
	if err != nil {
		return nil, fmt.Errorf("noise floor: %w; calib run --hosts hosts.txt --aa 10 makes one", err)
	}
	for i := range f.Of {
		q := &f.Of[i]
		if !(q.Absolute >= 0) || math.IsInf(q.Absolute, 0) {
			return nil, fmt.Errorf("noise floor: %s: a noise of %v", q.Name, q.Absolute)
		}
		// Some are of before links had an order, and of before a function had another name.
		q.Name, q.From, q.To = params.Renamed(q.Name), min(q.From, q.To), max(q.From, q.To)
	}
	return &f, nil
}

// FloorText writes f for people: the network's quantities. Those of links are in its JSON.
func FloorText(w io.Writer, f *Floor) error {
	lines := []string{fmt.Sprintf("Noise floor of %s: in %.0f%% of cases two runs of an unchanged network differ "+
		"by less.", units.Plural(len(f.Runs), "run"), 100*f.Level), ""}
	for _, q := range f.Of {
		if q.From != "" {
			continue
		}
		share := units.Format(q.Absolute, q.Unit)
		if q.Relative != nil {
			share = reports.Percent(*q.Relative)
		}
		lines = append(lines, reports.Clean(fmt.Sprintf("  %-24s %9s  of %s", q.Name, share, units.Format(q.Median, q.Unit))))
	}
	_, err := fmt.Fprintln(w, strings.Join(lines, "\n"))
	return err
}
