package loggp

import (
	"cmp"
	"maps"
	"slices"

	"calib/fit"
	"calib/fit/resample"
	"calib/internal/dataset/names"
	"calib/internal/stats"
)

// setting is a point of experiment remap.
type setting struct {
	sync, bytes, hosts, injecting, destinations, span int64
}

func (s setting) together() bool { return s.injecting == s.hosts }

// among is how many hosts a rank draws its destinations from; 1 where they go through a permutation.
func (s setting) among() int {
	switch {
	case s.destinations != names.DestinationsDrawn:
		return 1
	case s.span > 0:
		return int(min(2*s.span, s.hosts-1))
	}
	return int(s.hosts - 1)
}

// remaps is what remap measured: T_c [s] by setting.
type remaps struct {
	fit   *fit.Result
	table resample.Table[setting]
	times *resample.Estimates
	ahead map[setting]int // messages that a rank had under way
}

// loadRemaps reads the remaps of which every injecting rank's line is there.
func loadRemaps(p *fit.Prepared) (*remaps, error) {
	d := &remaps{fit: p.New("logpc", names.Remap, sourceLoGPC), ahead: map[setting]int{}}
	all := d.fit.Usable(p.Batches(names.Remap, names.PhaseRemap))
	all = d.fit.Without(all, fit.WhyIncomplete, func(b *fit.Batch) bool { return interval(b) <= 0 })
	all = d.fit.Without(all, "unknown kind of destinations", func(b *fit.Batch) bool {
		k := b.Point[names.FactorDestinations]
		return k < 0 || k >= int64(len(destinations))
	})
	for _, b := range all {
		q := b.Point
		s := setting{q[names.FactorSync], q[names.FactorBytes], q[names.FactorHosts], q[names.FactorInjecting],
			q[names.FactorDestinations], q[names.FactorSpan]}
		d.table.AddTeam(d.table.Duration(s), b.Team(), 0, b.Round, b.Timings(), interval(b))
		d.ahead[s] = int(b.Lines[0].Aux[names.AuxAhead])
		d.fit.WidenDomain("bytes", float64(s.bytes))
		d.fit.WidenDomain("hosts", float64(s.hosts))
	}
	d.fit.Account(all)
	var err error
	d.times, err = fit.Resample(d.fit, &d.table, "no remap without loss")
	return d, err
}

// interval is the mean interval between two injections of a host [s], all ranks together: their rates are added. It is
// 0 where a rank's line is missing.
func interval(b *fit.Batch) float64 {
	if n := b.Point[names.FactorInjecting]; n < 1 || int64(len(b.Lines)) != n {
		return 0
	}
	rate := 0.0
	for _, l := range b.Lines {
		mean := stats.Mean(fit.Seconds(l.NS))
		if !(mean > 0) {
			return 0
		}
		rate += 1 / mean
	}
	return float64(len(b.Lines)) / rate
}

func (d *remaps) settings() []setting {
	return slices.SortedFunc(maps.Keys(d.table.Index), func(a, b setting) int {
		return cmp.Or(cmp.Compare(b.sync, a.sync), cmp.Compare(a.bytes, b.bytes), cmp.Compare(a.destinations, b.destinations),
			cmp.Compare(a.span, b.span), cmp.Compare(a.hosts, b.hosts), cmp.Compare(a.injecting, b.injecting))
	})
}

// largest is the setting of the most hosts that all inject, to drawn destinations without locality, and the same with
// one host injecting; without hosts where there is none.
func (d *remaps) largest(sync, bytes int64) (all, alone setting) {
	for s := range d.table.Index {
		if s.sync == sync && s.bytes == bytes && s.destinations == names.DestinationsDrawn && s.span == 0 && s.together() &&
			s.hosts > all.hosts {
			all = s
		}
	}
	alone = all
	alone.injecting = 1
	return all, alone
}

func (d *remaps) sizes() []int64 {
	return resample.Distinct(&d.table, func(s setting) (int64, bool) { return s.bytes, true })
}

// suffix is what follows the names of parameters of a size: nothing for the smallest.
func (d *remaps) suffix(bytes int64) string {
	if bytes == d.sizes()[0] {
		return ""
	}
	return "_" + fit.SizeName(bytes)
}

// remapOf is the setting as the model takes it.
func (d *remaps) remapOf(s setting) Remap {
	return Remap{Hosts: int(s.hosts), Bytes: float64(s.bytes), Sync: s.sync != 0, UnderWay: float64(d.ahead[s]),
		Among: s.among()}
}
