// Package predict says how long communication patterns take on a network of which a run knows the parameters, by every
// model that has something to say, with intervals; which algorithm of an operation is best; and how far each model is
// to be trusted on this network (Validate).
//
// An interval is for one measurement, the median of some rounds. It holds what the parameters' own intervals leave
// open, and the model's error on messages between two hosts, in which is what it misses and what such medians scatter;
// the run measured both. What else a model leaves out is not in it: validation shows that.
package predict

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"calib/bench/pattern"
	"calib/fit/loggp"
	"calib/fit/resample"
	"calib/internal/lists"
	"calib/params"
	"calib/predict/cost"
)

// Names of the models, the most detailed first.
const (
	Sim        = params.SimWarm // every message within a connection's window
	SimEndless = "sim-endless"  // sim with ports that hold any number of packets, where B_L is known
	SimCold    = params.SimCold // sim with the windows that connections begin with
	Hyperbolic = "hyperbolic"
	Cluster    = "cluster"
	LogGP      = "loggp"
	LoGPC      = "logpc"
	Hockney    = "hockney"
	Postal     = "postal" // predicts only where it is named
)

type builder func(*params.Params, loggp.Cube) (cost.Model, error)

var builders = map[string]builder{
	Sim:        simulation(func(*simulated) error { return nil }),
	SimEndless: simulation((*simulated).endless),
	SimCold:    simulation((*simulated).cold),
	Hyperbolic: ofParams(cost.Hyperbolic),
	Cluster:    ofParams(cost.Cluster),
	LoGPC:      cost.LoGPC,
	LogGP:      ofParams(cost.LogGP),
	Hockney:    ofParams(cost.Hockney),
	Postal:     ofParams(cost.Postal),
}

var Models = []string{Sim, SimEndless, SimCold, Hyperbolic, Cluster, LoGPC, LogGP, Hockney}

func ofParams(build func(*params.Params) (cost.Model, error)) builder {
	return func(p *params.Params, _ loggp.Cube) (cost.Model, error) { return build(p) }
}

// Query is what is asked: a pattern with M bytes on a number of hosts.
type Query struct {
	Pattern      pattern.Pattern
	Hosts, Bytes int
	teams        [][]int // hosts by rank; none for the first
}

// traffic is what is asked, for all models that are asked.
func (q Query) traffic() *cost.Traffic {
	return cost.TrafficOf(q.Pattern, q.Hosts, q.Bytes, q.teams...)
}

// Prediction is one model's answer. CI95 is nil where the parameters have no intervals, as those of a single round.
type Prediction struct {
	Model     string      `json:"model"`
	Operation string      `json:"operation"`
	Algorithm string      `json:"algorithm"`
	Segment   int         `json:"segment,omitempty"` // B, of a segmented algorithm
	Hosts     int         `json:"hosts"`
	Bytes     int         `json:"bytes"`
	Seconds   float64     `json:"seconds,omitempty"`
	CI95      *[2]float64 `json:"ci95,omitempty"`
	// Bounds are the times without and with full overlap, where a model has bounds, the operation may be either, and the
	// prediction lies between.
	Bounds *[2]float64 `json:"bounds,omitempty"`
	// Why says why the model does not predict this: there is no number then.
	Why string `json:"why,omitempty"`
}

// How often the parameters are drawn, for models that simulate and for formulas.
const (
	drawsOfSim      = 16
	drawsOfFormulas = 100
)

// Predictor predicts by some models of one params.json.
type Predictor struct {
	models []*model
}

// model is one way to predict, told the parameters as they are, and drawn.
type model struct {
	name  string
	mid   cost.Model
	world *simulated // mid, where that simulates
	drawn []cost.Model
	// misfit is the model's relative error on messages between two hosts, as a standard deviation; at least what their
	// medians scatter.
	misfit float64
	err    error // why there is no model
	most   int   // messages or packets that the predictions of one query may go through; 0 is no bound
}

// New returns a predictor by the named models; none means all, the better simulation first. It returns an error where a
// name is unknown, or where p has the parameters of none of them: the error then says what each misses.
func New(p *params.Params, names []string) (*Predictor, error) {
	return NewOnCube(p, names, loggp.Cube{})
}

// NewOnCube is New for hosts that are the nodes of a cube to LoGPC.
func NewOnCube(p *params.Params, names []string, nodes loggp.Cube) (*Predictor, error) {
	if len(names) == 0 {
		names = inOrder(p)
	}
	q, drawn := &Predictor{}, draws(p)
	var missing []error
	for _, name := range names {
		if builders[name] == nil {
			return nil, fmt.Errorf("no model %q (have %s)", name, strings.Join(append(Models, Postal), ", "))
		}
		m := newModel(name, p, nodes, drawn)
		if m.err != nil {
			missing = append(missing, fmt.Errorf("%s: %w", name, m.err))
		}
		q.models = append(q.models, m)
	}
	if len(missing) == len(names) {
		return nil, errors.Join(missing...)
	}
	return q, nil
}

// inOrder are all models, the simulation first that predicted best what p's run measured of patterns.
func inOrder(p *params.Params) []string {
	if best, _ := params.BestSimulation(p.Validation); best.Model != SimCold {
		return Models
	}
	rest := lists.Where(Models, func(m string) bool { return m != SimCold })
	return append([]string{SimCold}, rest...)
}

// simulation is the network that is played, nil where none could be made.
func (p *Predictor) simulation() *simulated {
	return cmp.Or(lists.Map(p.models, func(m *model) *simulated { return m.world })...)
}

// Notes say what the simulation had to assume.
func (p *Predictor) Notes() []string {
	if w := p.simulation(); w != nil {
		return lists.Map(w.Notes, func(n string) string { return Sim + ": " + n })
	}
	return nil
}

func newModel(name string, p *params.Params, nodes loggp.Cube, drawn func(n int) []*params.Params) *model {
	m := &model{name: name}
	if m.mid, m.err = builders[name](p, nodes); m.err != nil {
		return m
	}
	m.misfit = math.Max(misfit(m.mid, p), scatter(p))
	n := drawsOfFormulas
	if m.world, _ = m.mid.(*simulated); m.world != nil {
		n = drawsOfSim
	}
	m.drawn = resample.Map(drawn(n), func(p *params.Params) (cost.Model, error) { return builders[name](p, nodes) })
	return m
}

func (p *Predictor) Predict(q Query) []Prediction {
	out := make([]Prediction, len(p.models))
	t := q.traffic()
	resample.Each(len(p.models), func(i int) { out[i], _ = p.models[i].predict(t) })
	return out
}

// predict also returns the times of the drawn parameters [s].
func (m *model) predict(q *cost.Traffic) (out Prediction, times []float64) {
	out = Prediction{Model: m.name, Operation: q.Pattern.Operation, Algorithm: q.Pattern.Algorithm,
		Segment: q.Pattern.Segment, Hosts: q.Hosts, Bytes: q.Bytes}
	t, err := m.time(q)
	if err != nil {
		out.Why = err.Error()
		return out, nil
	}
	out.Seconds = t
	b, ok := m.mid.(interface {
		Bounds(*cost.Traffic) (none, full float64, err error)
	})
	if ok && q.Pattern.Operation == "mg" {
		// It runs between its bounds, as its hosts are synchronised or not (Stoica 1994, section 5.2). Where messages pass
		// each other in more ways than the bounds have, as in the staggered order, they bound nothing.
		if none, full, err := b.Bounds(q); err == nil && none <= t && t <= full {
			out.Bounds = &[2]float64{none, full}
		}
	}
	times = m.times(q)
	out.CI95 = interval(times, t, m.misfit)
	return out, times
}

func (m *model) time(q *cost.Traffic) (float64, error) {
	if m.err != nil {
		return 0, m.err
	}
	if n := m.work(q); m.world != nil && n > m.most {
		return 0, fmt.Errorf("a simulation of %d packets takes long, "+
			"and validation simulates up to %d (calib predict does it)", n, m.most)
	}
	return m.mid.Time(q)
}

// work is how many messages a prediction of q goes through, or how many packets it simulates; 0 where there is no bound
// on it.
func (m *model) work(q *cost.Traffic) int {
	if m.most == 0 {
		return 0
	}
	e, err := q.Extent()
	if err != nil {
		return 0 // the model says why
	}
	if m.world != nil {
		return e.Messages + e.Bytes/max(m.world.Spec.MSS, 1)
	}
	return e.Messages
}

// minDraws are those that an interval needs.
const minDraws = 4

// times are those of the drawn parameters [s]; NaN where a draw allows none.
func (m *model) times(q *cost.Traffic) []float64 {
	n := len(m.drawn)
	if work := m.work(q); work > 0 {
		n = min(n, max(m.most/work, minDraws))
	}
	out := make([]float64, n)
	resample.Each(n, func(i int) {
		t, err := m.drawn[i].Time(q)
		if err != nil {
			t = math.NaN()
		}
		out[i] = t
	})
	return out
}

// Choice is the best algorithm of an operation at one size and number of hosts, by one model.
type Choice struct {
	Operation string `json:"operation"`
	Hosts     int    `json:"hosts"`
	Bytes     int    `json:"bytes"`
	Model     string `json:"model"`
	// Best and Next are the two fastest; Next is nil where there is no other, or all others take as long. What takes as
	// long as Best is not Next.
	Best Prediction  `json:"best"`
	Next *Prediction `json:"next,omitempty"`
	// Margin is by how much Next takes longer, over the time of Best; CI95 its interval.
	Margin     float64     `json:"margin"`
	MarginCI95 *[2]float64 `json:"margin_ci95,omitempty"`
	// Decided says that there is no other algorithm, or that the interval of the margin is above zero: else the
	// parameters do not allow the choice.
	Decided bool `json:"decided"`
}

// Best names the fastest algorithm of an operation by the first model of p that predicts any. The algorithms are
// compared draw by draw, so that what both depend on does not blur the margin. It returns an error where no model
// predicts any.
func (p *Predictor) Best(operation string, hosts, bytes int) (Choice, error) {
	var err error
	for _, m := range p.models {
		var c Choice
		if c, err = m.best(operation, hosts, bytes); err == nil {
			return c, nil
		}
	}
	return Choice{}, fmt.Errorf("%s of %d B on %d hosts: %w", operation, bytes, hosts, err)
}

func (m *model) best(operation string, hosts, bytes int) (Choice, error) {
	type candidate struct {
		Query
		seconds float64
	}
	var all []candidate
	err := fmt.Errorf("no algorithm of %q (operations: %v)", operation, pattern.Operations())
	for _, p := range pattern.Variants(operation, bytes) {
		q := Query{Pattern: p, Hosts: hosts, Bytes: bytes}
		t, e := m.time(q.traffic())
		if e != nil {
			err = e
			continue
		}
		all = append(all, candidate{q, t})
	}
	if len(all) == 0 {
		return Choice{}, err
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(a.seconds, b.seconds) })
	c := Choice{Operation: operation, Hosts: hosts, Bytes: bytes, Model: m.name, Decided: true}
	// Those that take as long are the same to the model, and no other choice.
	next := slices.IndexFunc(all, func(v candidate) bool { return v.seconds > all[0].seconds*(1+SameTime) })
	if next < 0 {
		c.Best, _ = m.predict(all[0].traffic())
		return c, nil
	}
	var second Prediction
	c.Best, second, c.Margin, c.MarginCI95 = m.compare(all[0].Query, all[next].Query, 0)
	c.Next, c.Decided = &second, c.MarginCI95 != nil && c.MarginCI95[0] > 0
	return c, nil
}

// SameTime is the relative difference of times that are equal but for the order of equal events.
const SameTime = 1e-6

// Timed are queries with their times [s] by one model that predicts them all.
type Timed struct {
	Queries []Query
	Seconds []float64
	Model   string
	model   *model
}

// Times returns the times of queries by the first model of p that predicts all of them; an error where none does.
func (p *Predictor) Times(all []Query) (t Timed, err error) {
	err = errors.New("nothing is asked for")
models:
	for _, m := range p.models {
		t = Timed{all, make([]float64, len(all)), m.name, m}
		for i, q := range all {
			if t.Seconds[i], err = m.time(q.traffic()); err != nil {
				err = fmt.Errorf("%s of %d B on %d hosts: %w", q.Pattern.Name(), q.Bytes, q.Hosts, err)
				continue models
			}
		}
		return t, nil
	}
	return Timed{}, err
}

// Margin is by how much the second of two queries takes longer than the first, over the time of the first, draw by
// draw. For the interval, which is nil where the parameters have none, the model has the relative error of doubt on
// each, as one standard deviation, or its own on messages between two hosts where that is more.
func (t Timed) Margin(first, second int, doubt float64) (margin float64, ci *[2]float64) {
	_, _, margin, ci = t.model.compare(t.Queries[first], t.Queries[second], doubt)
	return margin, ci
}

// compare also returns both predictions.
func (m *model) compare(first, second Query, doubt float64) (a, b Prediction, margin float64, ci *[2]float64) {
	a, ofA := m.predict(first.traffic())
	b, ofB := m.predict(second.traffic())
	margin = b.Seconds/a.Seconds - 1
	if a.CI95 == nil {
		return a, b, margin, nil
	}
	sd := math.Sqrt2 * max(doubt, m.misfit) * (1 + margin)
	if s, n := deviation(ofA, func(i int) float64 { return ofB[i]/ofA[i] - 1 - margin }); n >= minDraws {
		sd = math.Hypot(sd, s)
	}
	return a, b, margin, &[2]float64{margin - Normal95*sd, margin + Normal95*sd}
}
