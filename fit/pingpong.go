package fit

import (
	"slices"

	"calib/internal/dataset"
)

// pingpong is T(x), half the round trip by message size, resampled: what Hockney, Hyperbola and Segmented are fitted to.
type pingpong struct {
	fit    *Fit
	sizes  []float64 // B, ascending
	times  *sampled  // s, by size
	packet float64   // payload of one packet [B]
}

// loadPingpong gathers the medians by size of at least minSizes sizes, over the pairs of hosts that are not slow, or of
// all where no others were measured. It returns ErrNeeds for fewer sizes.
func loadPingpong(d *dataset.Dataset, s Settings, model, source string, minSizes int) (*pingpong, error) {
	f := newFit(model, "pingpong", source)
	lines := f.usable(lineBatches(d, "pingpong", ""))
	slow := findSlow(d)
	lines = f.withoutSlow(lines, slow)
	t := &table{}
	var sizes []int64
	for i := range lines {
		sizes = append(sizes, lines[i].point["bytes"])
	}
	slices.Sort(sizes)
	sizes = slices.Compact(sizes)
	if len(sizes) < minSizes {
		return nil, needs(model, "pingpong measured at too few sizes without loss")
	}
	p := &pingpong{fit: f}
	for _, x := range sizes {
		t.at(float64(x))
		p.sizes = append(p.sizes, float64(x))
	}
	for i := range lines {
		b := &lines[i]
		t.add(t.at(float64(b.point["bytes"])), 0, b.round, b.timings(), seconds(b.lines[0].NS)...)
	}
	f.account(d, lines)
	var known bool
	if p.packet, known = packetBytes(lines); !known {
		f.note("the kernel did not report the segment size: a packet is taken to hold %g bytes", p.packet)
	}
	var err error
	if p.times, err = t.resample(s.replicates(), s.seed(d, model)); err != nil {
		return nil, err
	}
	f.sayRounds(p.times.rounds)
	f.Domain["bytes"] = [2]float64{p.sizes[0], p.sizes[len(p.sizes)-1]}
	return p, nil
}

// sayRounds warns where the rounds are too few for an interval to mean much.
func (f *Fit) sayRounds(rounds int) {
	if rounds < 2 {
		f.warn("one round only: the intervals do not hold what changes between rounds")
	}
}

// withoutSlow leaves out the batches of slow hosts, says so, and keeps them where nothing else was measured.
func (f *Fit) withoutSlow(in []batch, slow slowHosts) []batch {
	f.Warnings = append(f.Warnings, slow.said...)
	var clean []batch
	for i := range in {
		if !in[i].hasAny(slow.hosts) {
			clean = append(clean, in[i])
		}
	}
	if len(clean) == 0 || len(clean) == len(in) {
		return in
	}
	for i := range in {
		if in[i].hasAny(slow.hosts) {
			f.leaveOut(&in[i], whySlowHost)
		}
	}
	return clean
}

// seconds converts raw nanoseconds.
func seconds(ns []int64) []float64 {
	out := make([]float64, len(ns))
	for i, v := range ns {
		out[i] = float64(v) * 1e-9
	}
	return out
}

// residuals records the measured times beside those of a model.
func (p *pingpong) residuals(predict func(x float64) float64) {
	for i, x := range p.sizes {
		ci := p.times.interval(p.times.values[i], p.times.replicates, i)
		p.fit.Residuals = append(p.fit.Residuals, Residual{
			Series: "T(x)", X: x, XName: "bytes", Measured: p.times.values[i], Lo: ci[0], Hi: ci[1],
			Fitted: predict(x), N: p.times.n[i],
		})
	}
}

// finish states the quality of the fit, with the leave-one-size-out error of refit.
func (p *pingpong) finish(condition float64, refit func(x, y []float64) (func(float64) float64, error)) *Fit {
	p.fit.judge(r2(p.fit.Residuals, "T(x)"), condition, "T(x)")
	if e, ok := leaveOneOut(p.sizes, p.times.values, refit); ok {
		p.fit.Quality.LeaveOneOut = &e
	}
	return p.fit
}
