package hyperbolic

import (
	"maps"
	"slices"
	"strings"

	"calib/fit"
	"calib/fit/resample"
	"calib/internal/dataset/names"
	"calib/internal/lists"
	"calib/internal/lsq"
	"calib/internal/plot"
	"calib/internal/stats"
	"calib/internal/units"
	"calib/params"
)

// Segmented describes T(x) of pingpong by straight lines over ranges of the size, as a protocol that changes with the
// size makes them. Breaks are those of the settings; without, they are the best of all partitions, their number chosen
// by BIC, or the sizes measured and one packet, whichever misses sizes left out by least. No slope is negative.
//
// Its function "T" is of form.Pieces. Domain holds the sizes seen: "bytes", and "bytes_i" by segment. Beside it stands
// the parameter send_buffer, up to which a sender does not wait for T (addSendBuffer).
var Segmented = fit.Model{Name: "segmented", Needs: []string{names.Pingpong}, Fit: fitSegmented, Draw: segmentedPlots}

// fitSegmented returns fit.ErrNeeds for fewer than three sizes.
func fitSegmented(p *fit.Prepared) (*params.Fit, error) {
	q, err := p.Pingpong("segmented", 3)
	if err != nil {
		return nil, err
	}
	seg, err := lsq.FitCurve(q.Sizes, q.Times.Values, q.Breaks, q.Packet)
	if err != nil {
		return nil, err
	}
	source, by := "piecewise linear, BIC (Hall, Osborn, Sakkas 2013)", "by BIC"
	switch {
	case len(q.Breaks) > 0:
		at := lists.Map(q.Breaks, func(b float64) string { return units.Grouped(int64(b)) })
		source, by = "piecewise linear, breaks given", "by breaks given, "+strings.Join(at, "; ")+" B"
	case seg.Joined:
		source = "from size to size, isotonic (Barlow, Bartholomew, Bremner, Brunk 1972)"
		by = "from size to size, which miss sizes left out by less than those by BIC"
	}
	r := q.New(p, "segmented", source)
	fit.SegmentsFunction(r, "T", "time of a message by its size, idle network", q.Sizes, q.Times, seg)
	for _, g := range seg.Segments {
		if g.Flat {
			r.Note("flat-segment", "T does not grow between %g and %g B", g.Lo, g.Hi)
		}
	}
	addSendBuffer(r, p)
	r.Note("segments", "T has %s %s. Its intervals take the breaks as exact",
		units.Plural(len(seg.Segments), "segment"), by)
	q.Finish(r, 2*len(seg.Segments), seg.Cond, seg.At)
	r.LeaveOneOut(seg.LeftOut, fit.Finite(seg.LeftOut))
	return r.Fit, nil
}

// addSendBuffer records send_buffer [B], the send buffer that the kernel had granted a connection by the end of
// ping-pong: the largest of each pair and round, since it grows with the messages, and the median of these. A blocking
// send returns when all but this much has left. Without kernel counters there is none. Source: Linux tcp(7), tcp_wmem.
func addSendBuffer(r *fit.Result, p *fit.Prepared) {
	largest := map[[3]int]float64{} // by pair and round
	for _, l := range p.Samples(names.Pingpong, "") {
		if l.TCP != nil && l.TCP.SndBuf > 0 && len(l.Ranks) == 2 {
			k := [3]int{l.Ranks[0], l.Ranks[1], l.Round}
			largest[k] = max(largest[k], float64(l.TCP.SndBuf))
		}
	}
	if len(largest) == 0 {
		return
	}
	granted := slices.Sorted(maps.Values(largest))
	v := stats.SortedQuantile(granted, 0.5)
	ci, ok := resample.SortedQuantileCI(granted, 0.5, len(granted))
	if !ok {
		ci = [2]float64{v, v}
	}
	r.Found("send_buffer", "B", "room the kernel keeps for what is sent; a send of less returns at once", v, ci)
}

func segmentedPlots(f *params.Fit) []plot.Plot {
	fn, series := f.Functions["T"], f.Named("T(x)")
	says := fit.Misses("The segments, "+strings.TrimPrefix(fn.Words("T"), "T(x) = ")+", are", series)
	return timeBySize(f, "segments", says, fit.FunctionCurve("segments", fn, series, 0, true))
}
