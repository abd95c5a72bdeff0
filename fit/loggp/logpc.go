package loggp

import (
	"errors"
	"fmt"
	"math"

	"calib/fit"
	"calib/fit/hyperbolic"
	"calib/fit/resample"
	"calib/internal/dataset/names"
	"calib/internal/plot"
	"calib/params"
)

const sourceLoGPC = "Moritz, Frank 2001, section 5.1, eq. 7, 14"

// LoGPC measures what contention adds to an injection of a remap, and holds the remaps against the model. T is the time
// between two injections of a host alone, T_c with all hosts injecting to drawn destinations, T_n with all hosts
// injecting to the next host each, so that no two messages of a kind share a host. For the smallest size, and with
// _<size> for others:
//
//	C_n = (T_n − T)/2      contention per message for what messages between different hosts share, synchronous
//	C_r = T_c − T_n        contention per injection for what a host's messages share (interfaces, processor), synchronous
//	inflation_sync = T_c/T
//	inflation_async = T_c/max(T, T_sync/(2·W))
//
// so that T_c = T + 2·C_n + C_r (section 5.1.1). Without replies, hosts that all inject have W messages under way at
// most, and a host alone has no bound. With W under way and no contention it takes T_sync/(2·W) at least. Nothing of it
// is fitted. Series hold T_c of every remap beside what the model says (Machine.Cost) of the LogGP parameters of the
// run, and of a_c and b_c where the network behaves like a shared medium.
var LoGPC = fit.Model{Name: "logpc", Needs: []string{names.Remap}, Fit: fitLoGPC, Draw: loGPCPlots}

// fitLoGPC returns fit.ErrNeeds without a usable remap.
func fitLoGPC(p *fit.Prepared) (*params.Fit, error) {
	d, err := loadRemaps(p)
	if err != nil {
		return nil, err
	}
	for _, bytes := range d.sizes() {
		d.contention(bytes)
	}
	machine, err := inputs(p)
	if err != nil && !errors.Is(err, ErrInputs) {
		return nil, err
	}
	if err != nil {
		d.tabulate(func(s setting, measured float64) float64 { return measured })
		d.fit.Add(params.Notef("remaps-unpredicted", "the remaps are not compared with the model: %v", err))
		d.fit.JudgeTable()
		return d.fit.Fit, nil
	}
	d.tabulate(func(s setting, _ float64) float64 { return machine.Cost(d.remapOf(s)).Interval })
	d.fit.Judge(math.NaN(), math.NaN(), d.fit.Series...)
	d.judge(machine.Network != nil)
	return d.fit.Fit, nil
}

// inputs fits what the model takes of others: of LogGP, of messages alone, and of the hyperbolic model.
func inputs(p *fit.Prepared) (Machine, error) {
	var fits []*params.Fit
	for _, m := range []fit.Model{hyperbolic.Network, hyperbolic.Hyperbola, LogGP} {
		f, err := m.Fit(p)
		switch {
		case err == nil:
			fits = append(fits, f)
		case !errors.Is(err, fit.ErrNeeds):
			return Machine{}, err
		}
	}
	return MachineOf(fit.Collect(p, fits), Cube{})
}

// contention records what contention adds to messages of a size.
func (d *remaps) contention(bytes int64) {
	size := fit.SizeWords(bytes)
	record := func(name, unit, label string, of func(v []float64) float64, settings ...setting) {
		var points []int
		for _, s := range settings {
			i, ok := d.table.Index[s]
			if !ok {
				return
			}
			points = append(points, i)
		}
		v, ci := d.times.Of(func(v []float64) float64 { return of(resample.Pick(v, points)) })
		d.fit.Found(name+d.suffix(bytes), unit, label, v, ci)
	}
	all, alone := d.largest(1, bytes)
	apart := all
	apart.destinations = names.DestinationsNext
	record("C_n", "s", "contention for the network per message of a synchronous remap of "+size,
		func(v []float64) float64 { return (v[1] - v[2]) / 2 }, all, apart, alone)
	record("C_r", "s", "contention for hosts per injection of a synchronous remap of "+size,
		func(v []float64) float64 { return v[0] - v[1] }, all, apart, alone)
	record("inflation_sync", "1", "time between injections of "+size+" of a host that waits for a reply to each message, "+
		"all hosts injecting over one alone", func(v []float64) float64 { return v[0] / v[1] }, all, alone)
	roundTrip := alone
	all, alone = d.largest(0, bytes)
	window := float64(max(1, d.ahead[all]))
	record("inflation_async", "1", "time between injections of "+size+" of a host that does not wait for replies, "+
		"all hosts injecting over what one alone would take",
		func(v []float64) float64 { return v[0] / max(v[1], v[2]/(2*window)) }, all, alone, roundTrip)
}

// tabulate records T_c of all remaps by the number of hosts, with what is said of each.
func (d *remaps) tabulate(says func(s setting, measured float64) float64) {
	series := map[string]int{}
	for _, s := range d.settings() {
		if !s.together() {
			continue
		}
		name := s.words()
		k, ok := series[name]
		if !ok {
			k = len(d.fit.Series)
			series[name] = k
			d.fit.Series = append(d.fit.Series, params.Series{Name: name, Quantity: params.RemapTime, XName: "hosts",
				Factors: map[string]float64{"sync": float64(s.sync), "bytes": float64(s.bytes),
					"destinations": float64(s.destinations), "span": float64(s.span)}})
		}
		i := d.table.Index[s]
		v := d.times.Values[i]
		d.fit.Series[k].Add(float64(s.hosts), v, d.times.Point(i), says(s, v), d.times.N[i])
	}
}

// destinations are the kinds of factor destinations.
var destinations = [...]string{"drawn", "(i+p) mod P", "next"}

func (s setting) words() string {
	kind := map[bool]string{true: "synchronous", false: "asynchronous"}[s.sync != 0]
	out := "T_c, " + kind + ", " + fit.SizeName(s.bytes) + ", " + destinations[s.destinations]
	if s.span > 0 {
		out += fmt.Sprintf(" within %d", s.span)
	}
	return out
}

// paperError is the largest error of the model in its paper.
const paperError = 0.12

func (d *remaps) judge(medium bool) {
	mean, worst, n := params.Misfit(d.fit.Series...)
	if n == 0 {
		return
	}
	where, off := "", 0.0
	for _, s := range d.fit.Series {
		for _, r := range s.Points {
			if e := r.Relative(); math.Abs(e) > math.Abs(off) {
				where, off = fmt.Sprintf("%s, %g hosts", s.Name, r.X), e
			}
		}
	}
	on := map[bool]string{true: "a medium that all hosts share", false: "a switch (n = 1, k_d = 1, C_n = 0)"}[medium]
	text := fmt.Sprintf("LoGPC, for %s, is %.1f%% from the %d remaps on average and %.1f%% at most (%s)",
		on, 100*mean, n, 100*worst, where)
	f := params.Notef("remaps-predicted", "%s", text)
	if worst > paperError {
		f = params.Warnf("remaps-predicted", "%s; in its paper it is within %.0f%%", text, 100*paperError)
	}
	d.fit.Add(f.With("mean", mean).With("worst", worst).With("remaps", float64(n)))
}

// loGPCPlots are the remaps of a kind and size, measured and as the model has them.
func loGPCPlots(f *params.Fit) []plot.Plot {
	var out []plot.Plot
	for _, same := range fit.Runs(f.Of(params.RemapTime), func(a, b params.Series) bool {
		return a.Factors["sync"] == b.Factors["sync"] && a.Factors["bytes"] == b.Factors["bytes"]
	}) {
		which, name, id := "asynchronous", "inflation_async", "async"
		if same[0].Factors["sync"] != 0 {
			which, name, id = "synchronous", "inflation_sync", "sync"
		}
		size := int64(same[0].Factors["bytes"])
		if _, ok := f.Parameters[name]; !ok || size != int64(f.Domain["bytes"][0]) {
			name += "_" + fit.SizeName(size)
		}
		says := []string{fit.ParameterWords(f, name)}
		line := ""
		if f.Quality != nil && f.Quality.MaxError > 0 {
			line = "LoGPC"
			says = append(says, fit.Misses("LoGPC, of the parameters of LogGP, is", same...))
		}
		out = append(out, plot.Plot{
			ID: fmt.Sprintf("logpc-%s-%d", id, size), Section: fit.SectionLoGPC, Says: fit.Sentences(says...),
			Title: "Time between injections of a " + which + " remap of " + fit.SizeWords(size), X: plot.Axis{Name: "hosts"},
			Y: fit.TimeAxis("time between injections", false), Series: fit.SeriesNames(same), Line: line, Below: line != "",
		})
	}
	return out
}
