package fit

import (
	"cmp"
	"maps"
	"slices"

	"calib/fit/resample"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/lists"
	"calib/params"
)

// Pingpong is T(x), half the round trip by message size: what the models of one message are fitted to. The samples are
// selected, and their medians taken, once for all models; each draws replicates of its own.
type Pingpong struct {
	Sizes  []float64           // B, ascending
	Times  *resample.Estimates // s, by size
	Packet float64             // payload of one packet [B]
	Breaks []float64           // Settings.Breaks

	medians *resample.Medians
	fit     *params.Fit // what was used and left out, for the fit of every model
}

// Pingpong returns the times by size, over the pairs of hosts that are not slow, or of all where no others were
// measured, with the replicates of a model. One round gives no interval, and has no replicates. It returns ErrNeeds
// where fewer than minSizes sizes were measured.
func (p *Prepared) Pingpong(model string, minSizes int) (*Pingpong, error) {
	t, err := Shared(p, (*Prepared).pingpong)
	if err != nil {
		return nil, err
	}
	if len(t.Sizes) < max(1, minSizes) {
		return nil, Needs("pingpong measured at too few sizes without loss")
	}
	q := *t
	if q.medians.Rounds < 2 {
		q.Times = q.medians.Estimate()
	} else {
		q.Times = p.draw(q.medians, model)
	}
	return &q, nil
}

// pingpong is what the models of one message share, without Times.
func (p *Prepared) pingpong() (*Pingpong, error) {
	r := p.New("", names.Pingpong, "")
	lines := r.Lines(names.Pingpong, "")
	out := &Pingpong{Breaks: p.settings.Breaks, fit: r.Fit}
	if len(lines) == 0 {
		return out, nil
	}
	bytes := func(b *Batch) int64 { return b.Point[names.FactorBytes] }
	slices.SortStableFunc(lines, func(a, b *Batch) int { return cmp.Compare(bytes(a), bytes(b)) })
	var t resample.Table[int64] // its points ascend, as the sizes do
	for _, b := range lines {
		t.AddTeam(t.OneWay(bytes(b)), b.Team(), 0, b.Round, b.Timings(), HalfTrips(b.Lines[0])...)
	}
	out.Sizes = resample.Distinct(&t, func(x int64) (float64, bool) { return float64(x), true })
	r.Account(lines)
	out.Packet = r.Packet(lines)
	out.medians = t.Medians()
	r.Rounds = out.medians.Rounds
	r.CheckRounds(r.Rounds)
	r.Domain["bytes"] = [2]float64{out.Sizes[0], out.Sizes[len(out.Sizes)-1]}
	return out, nil
}

// Timings are the half round trips of pingpong with all that became of their packets: losses, and other work.
type Timings struct {
	Sizes  []float64     // B, ascending
	Rounds [][][]float64 // by size and round [s]
	Means  bool          // of many messages, as other tools print them, are among them
	Breaks []float64     // Settings.Breaks
	Packet float64       // payload of one packet [B]
}

// Timings returns all half round trips between hosts that are not slow, or ErrNeeds where they have fewer than minSizes
// sizes.
func (r *Result) Timings(minSizes int) (*Timings, error) {
	lines := r.Unflagged(r.Prepared.LineBatches(names.Pingpong, ""), Untimed)
	lines = r.WithoutSlow(slices.DeleteFunc(lines, func(b *Batch) bool { return b.Timings() == 0 }))
	by := map[int64]map[int][]float64{}
	rounds := map[int]bool{}
	out := &Timings{Breaks: r.Prepared.settings.Breaks, Packet: r.Packet(lines)}
	for _, b := range lines {
		if of, averaged := b.Lines[0].Aux[names.AuxAveraged]; averaged && of != 1 {
			out.Means = true
		}
		x := b.Point[names.FactorBytes]
		if by[x] == nil {
			by[x] = map[int][]float64{}
		}
		by[x][b.Round] = append(by[x][b.Round], HalfTrips(b.Lines[0])...)
		rounds[b.Round] = true
	}
	if len(by) < minSizes {
		return nil, Needs("pingpong measured at too few sizes")
	}
	r.Account(lines)
	r.Rounds = len(rounds)
	r.CheckRounds(r.Rounds)
	for _, x := range slices.Sorted(maps.Keys(by)) {
		out.Sizes = append(out.Sizes, float64(x))
		rounds := slices.Sorted(maps.Keys(by[x]))
		out.Rounds = append(out.Rounds, lists.Map(rounds, func(r int) []float64 { return by[x][r] }))
	}
	r.Domain["bytes"] = [2]float64{out.Sizes[0], out.Sizes[len(out.Sizes)-1]}
	return out, nil
}

// HalfTrips returns the half round trips of a line [s]: each round trip holds one reading of the clock.
func HalfTrips(s *dataset.Sample) []float64 { return WithoutClock(s, 0.5) }

// WithoutClock returns the timings of a line [s] less the cost of some readings of the clock in each. Lines that do not
// say what it costs are taken as they are.
func WithoutClock(s *dataset.Sample, readings float64) []float64 {
	out := Seconds(s.NS)
	for i := range out {
		out[i] -= readings * s.Aux[names.AuxClock] * 1e-9
	}
	return out
}

// New returns an empty fit of a model to q.
func (q *Pingpong) New(p *Prepared, model, source string) *Result {
	r := p.New(model, names.Pingpong, source)
	r.Used, r.LeftOut, r.LeftOutWhy = q.fit.Used, q.fit.LeftOut, maps.Clone(q.fit.LeftOutWhy)
	r.Hosts, r.Rounds = slices.Clone(q.fit.Hosts), q.fit.Rounds
	r.Findings = slices.Clone(q.fit.Findings)
	r.Domain["bytes"] = q.fit.Domain["bytes"]
	return r
}

// Finish records the measured times beside those of a model, and states the quality of the fit.
func (q *Pingpong) Finish(r *Result, unknowns int, condition float64, at func(x float64) float64) {
	s := r.AddSeries(params.Series{Name: "T(x)", Quantity: params.Time, XName: "bytes"}, q.Sizes, q.Times, at)
	r.Judge(R2(unknowns, s), condition, s)
}
