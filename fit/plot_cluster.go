package fit

import (
	"fmt"
	"slices"
	"strings"
)

// costCurves draws each series "name(m)" by the function of that name, where it is there.
func (f *Fit) costCurves(log bool, series ...string) []Curve {
	var out []Curve
	for _, s := range series {
		name, _, _ := strings.Cut(s, "(")
		fn, ok := f.Functions[name]
		if lo, hi, some := f.seriesSpan(s); ok && some {
			out = append(out, fn.drawn(s, lo, hi, 0, log)...)
		}
	}
	return out
}

// among keeps the series that have points, in the order given.
func (f *Fit) among(series ...string) []string {
	have := f.seriesNamed("")
	return slices.DeleteFunc(series, func(s string) bool { return !slices.Contains(have, s) })
}

// Plots implements Plotter.
func (HKUOverhead) Plots(f *Fit) []Plot {
	series := f.among("O_s(m)", "U_r(m)", "O_r(m)")
	if len(series) == 0 {
		return nil
	}
	return []Plot{{
		ID: "host-costs", Section: sectionCluster, Title: "What a packet costs the hosts",
		Says: sentences("O_s is the time to hand a packet over, U_r to take over one that has arrived, O_r what its arrival takes "+
			"from other work", f.functionsWords("O_s", "U_r", "O_r")),
		X: sizeAxis(false), Y: timeAxis("time of a host", false), Series: series, Curves: f.costCurves(false, series...),
	}}
}

// gapPlot is the plot that the gaps of senders and receivers share.
func (f *Fit) gapPlot(name string) []Plot {
	series := f.among(name + "(m)")
	if len(series) == 0 {
		return nil
	}
	return []Plot{{
		ID: "gaps", Section: sectionCluster, Title: "Smallest interval between packets of one host, sending and receiving",
		Says: sentences(f.functionsWords(name), f.misses(name+" is", series...)),
		X:    sizeAxis(false), Y: timeAxis("interval", false), Series: series, Line: name,
		Curves: f.costCurves(false, series...), Below: true,
	}}
}

// Plots implements Plotter.
func (HKUGap) Plots(f *Fit) []Plot {
	out := f.gapPlot("g_s")
	merged := f.among("g_s_merged(m)")
	if len(merged) == 0 {
		return out
	}
	return append(out, Plot{
		ID: "g-s-merged", Section: sectionCluster, Title: "Interval between messages that the kernel may merge",
		Says: sentences(f.functionsWords("g_s_merged"), "Programs that send small messages in a row pay this rather than g_s"),
		X:    sizeAxis(true), Y: timeAxis("interval", true), Series: merged, Line: "g_s_merged",
		Curves: f.costCurves(true, merged...), Below: true,
	})
}

// Plots implements Plotter.
func (HKUGather) Plots(f *Fit) []Plot { return f.gapPlot("g_r") }

// Plots implements Plotter.
func (HKU) Plots(f *Fit) []Plot {
	var out []Plot
	if series := f.seriesNamed("L(m,"); len(series) > 0 {
		out = append(out, Plot{
			ID: "l-m-p", Section: sectionCluster, Title: "Time of a packet in the network while p hosts communicate",
			Says: sentences(f.functionsWords("L"), f.misses("L is", series...)),
			X:    sizeAxis(false), Y: timeAxis("L(m, p)", false), Series: series, Curves: f.loadCurves(series), Below: true,
		})
	}
	if series := f.among(seriesRTT); len(series) > 0 {
		out = append(out, Plot{
			ID: "round-trip", Section: sectionCluster, Title: "Round trip of ping-pong beside 2(O_s + L + O_r + U_r)",
			Says: sentences("Nothing was fitted to these round trips", f.misses("2(O_s + L + O_r + U_r) is", series...)),
			X:    sizeAxis(false), Y: timeAxis("round trip", false), Series: series, Line: "2(O_s + L + O_r + U_r)", Below: true,
		})
	}
	var together, windows []string
	for _, s := range f.seriesNamed("T_gather(M)") {
		if strings.Contains(s, "w=") {
			windows = append(windows, s)
		} else {
			together = append(together, s)
		}
	}
	out = append(out, f.gatherPlot("gather", "Gather: p' senders at once", together)...)
	return append(out, f.gatherPlot("gather-window", "Gather: p' senders, w at once", windows)...)
}

// loadCurves draws L(m, p) of every p measured, without bands: they would lie over one another.
func (f *Fit) loadCurves(series []string) []Curve {
	var out []Curve
	fn := f.Functions["L"]
	fn.CI95 = nil
	for _, s := range series {
		var p float64
		if _, err := fmt.Sscanf(s, "L(m,%g)", &p); err != nil {
			continue
		}
		if lo, hi, ok := f.seriesSpan(s); ok {
			out = append(out, fn.drawn(s, lo, hi, p, false)...)
		}
	}
	return out
}

func (f *Fit) gatherPlot(id, title string, series []string) []Plot {
	if len(series) == 0 {
		return nil
	}
	return []Plot{{
		ID: id, Section: sectionCluster, Title: title,
		Says: sentences("Measured gathers of M bytes from each sender beside eq. 8, which nothing here was fitted to",
			f.misses("Eq. 8 is", series...)),
		X: Axis{Name: "bytes from each sender, M", Unit: "B", Log: true}, Y: timeAxis("time of the gather", true), Series: series,
		Below: true,
	}}
}

// Plots implements Plotter.
func (HKUCopy) Plots(f *Fit) []Plot {
	series := f.seriesNamed("M_")
	if len(series) == 0 {
		return nil
	}
	var parts []string
	for _, s := range series {
		name, _, _ := strings.Cut(s, "(")
		if fn, ok := f.Functions[name]; ok {
			parts = append(parts, name+" "+rateWords(fn.Coeff["c1"]))
		}
	}
	return []Plot{{
		ID: "copies", Section: sectionCopies, Title: "Copying m bytes within a host",
		Says: sentences("Large copies run at: "+strings.Join(parts, ", "), "c is cache, m is memory, and loop is byte by byte"),
		X:    sizeAxis(true), Y: timeAxis("time of a copy", true), Series: series, Curves: f.costCurves(true, series...),
	}}
}
