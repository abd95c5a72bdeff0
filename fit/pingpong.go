package fit

import (
	"maps"
	"slices"

	"calib/fit/resample"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/lsq"
	"calib/internal/params"
)

// Pingpong is T(x), half the round trip by message size: what the models of one message are fitted to. The samples are
// selected, and their medians taken, once for all models; each draws replicates of its own.
type Pingpong struct {
	Sizes  []float64           // B, ascending
	Times  *resample.Estimates // s, by size; nil of Timings
	Packet float64             // payload of one packet [B]
	Breaks []float64           // Settings.Breaks
	pairs  *pairTimes
}

// pairTimes is what the models of one message share.
type pairTimes struct {
	sizes   []float64
	medians *resample.Medians
	lines   map[int64][]*dataset.Sample // by size
	packet  float64
	fit     *params.Fit // what was used and left out, for the fit of every model
}

// Pingpong returns the times by size, over the pairs of hosts that are not slow, or of all where no others were
// measured, with the replicates of a model. One round gives no interval, and has no replicates. It returns ErrNeeds
// where fewer than minSizes sizes were measured.
func (p *Prepared) Pingpong(model string, minSizes int) (*Pingpong, error) {
	q, err := p.Timings(model, minSizes)
	if err != nil {
		return nil, err
	}
	if q.pairs.medians.Rounds() < 2 {
		q.Times = q.pairs.medians.Estimate()
	} else {
		q.Times = p.draw(q.pairs.medians, model)
	}
	return q, nil
}

// Timings is Pingpong for a model of raw timings (Sorted), which needs no replicates.
func (p *Prepared) Timings(model string, minSizes int) (*Pingpong, error) {
	t, err := Shared(p, (*Prepared).pingpong)
	if err != nil {
		return nil, err
	}
	if len(t.sizes) < max(1, minSizes) {
		return nil, Needs("pingpong measured at too few sizes without loss")
	}
	return &Pingpong{Sizes: t.sizes, Packet: t.packet, Breaks: p.settings.Breaks, pairs: t}, nil
}

func (p *Prepared) pingpong() (*pairTimes, error) {
	r := p.New("", names.Pingpong, "")
	lines := r.Lines(names.Pingpong, "")
	out := &pairTimes{fit: r.Fit, lines: map[int64][]*dataset.Sample{}}
	var sizes []int64
	for _, b := range lines {
		sizes = append(sizes, b.Point[names.FactorBytes])
	}
	slices.Sort(sizes)
	var t resample.Table[int64]
	for _, x := range slices.Compact(sizes) {
		t.OneWay(x)
		out.sizes = append(out.sizes, float64(x))
	}
	if len(out.sizes) == 0 {
		return out, nil
	}
	for _, b := range lines {
		x := b.Point[names.FactorBytes]
		t.AddTeam(t.OneWay(x), b.Team(), 0, b.Round, b.Timings(), HalfTrips(b.Lines[0])...)
		out.lines[x] = append(out.lines[x], b.Lines[0])
	}
	r.Account(lines)
	out.packet = r.Packet(lines)
	out.medians = t.Medians()
	r.Rounds = out.medians.Rounds()
	r.CheckRounds(r.Rounds)
	r.Domain["bytes"] = [2]float64{out.sizes[0], out.sizes[len(out.sizes)-1]}
	return out, nil
}

// Sorted returns all half round trips of size i [s], ascending.
func (q *Pingpong) Sorted(i int) []float64 {
	var all []float64
	for _, s := range q.pairs.lines[int64(q.Sizes[i])] {
		all = append(all, HalfTrips(s)...)
	}
	slices.Sort(all)
	return all
}

// HalfTrips returns the half round trips of a line [s] without the cost of the clock: each round trip holds one
// reading. Lines that do not say what it costs are taken as they are.
func HalfTrips(s *dataset.Sample) []float64 {
	out := Seconds(s.NS)
	clock := s.Aux[names.AuxClock] * 1e-9
	for i := range out {
		out[i] -= clock / 2
	}
	return out
}

// New returns an empty fit of a model to q.
func (q *Pingpong) New(p *Prepared, model, source string) *Result {
	r := p.New(model, names.Pingpong, source)
	r.Used, r.LeftOut, r.LeftOutWhy = q.pairs.fit.Used, q.pairs.fit.LeftOut, maps.Clone(q.pairs.fit.LeftOutWhy)
	r.Hosts, r.Rounds = slices.Clone(q.pairs.fit.Hosts), q.pairs.fit.Rounds
	r.Findings = slices.Clone(q.pairs.fit.Findings)
	r.Domain["bytes"] = q.pairs.fit.Domain["bytes"]
	return r
}

// Finish records the measured times beside those of a model, and states the quality of the fit with the
// leave-one-size-out error of refit.
func (q *Pingpong) Finish(r *Result, condition float64, predict func(x float64) float64, refit lsq.Predictor) *params.Fit {
	s := params.Series{Name: "T(x)", Quantity: params.Time, XName: "bytes"}
	for i, x := range q.Sizes {
		s.Add(x, q.Times.Values[i], q.Times.Point(i), predict(x), q.Times.N[i])
	}
	r.Series = append(r.Series, s)
	r.Judge(R2(2, s), condition, s)
	r.LeaveOneOut(q.Sizes, q.Times.Values, refit)
	return r.Fit
}
