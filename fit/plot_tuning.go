package fit

import (
	"fmt"
	"slices"
	"strings"

	"calib/internal/units"
)

// rateWords is a time per byte as a rate.
func rateWords(perByte float64) string {
	if !(perByte > 0) {
		return "without a time per byte"
	}
	return units.Format(1/perByte, "B/s")
}

// messageOf reads the size off a series "T(64 KiB, f)", as sizeWords wrote it.
func messageOf(series string) (words string, bytes int64, ok bool) {
	words, _, ok = strings.Cut(strings.TrimPrefix(series, "T("), ",")
	b, err := units.ParseBytes(words)
	return words, int64(b), ok && err == nil
}

// sizeID is a size as a part of an ID: "64kib".
func sizeID(bytes int64) string { return strings.ToLower(sizeName(bytes)) }

// Plots implements Plotter.
func (Fragment) Plots(f *Fit) []Plot {
	var out []Plot
	for _, s := range f.seriesNamed("T(") {
		words, bytes, ok := messageOf(s)
		if !ok {
			continue
		}
		best, gain := "best_fragment_"+sizeName(bytes), "fragment_gain_"+sizeName(bytes)
		says := "A message of " + words + " is fastest in fragments of " + f.format(best)
		if v, _, _, ok := f.ends(gain); ok {
			says += ", " + share(v) + " faster than in one piece"
		}
		if v, _, _, ok := f.ends(best); ok && v == float64(bytes) {
			says = "A message of " + words + " is fastest in one piece"
		}
		out = append(out, Plot{
			ID: "fragment-" + sizeID(bytes), Section: sectionTuning, Title: "A message of " + words + " sent in fragments",
			Says: sentences(says), X: Axis{Name: "fragment", Unit: "B", Log: true}, Y: timeAxis("half round trip", true),
			Series: []string{s}, Line: "T(f)", Marks: f.chosenMark(best, "best fragment"),
			Raw: &Raw{Experiment: "fragment", Factor: "fragment", Fixed: map[string]int64{"bytes": bytes}},
		})
	}
	return out
}

// chosenMark marks a chosen size.
func (f *Fit) chosenMark(name, label string) []Mark {
	m := f.mark(name, label)
	for i := range m {
		m[i].Label = label + " " + sizeWords(int64(m[i].X))
	}
	return m
}

// Plots implements Plotter.
func (Buffer) Plots(f *Fit) []Plot {
	var out []Plot
	for _, s := range f.seriesNamed("T(") {
		words, bytes, ok := messageOf(s)
		id := "buffer-" + sizeID(bytes)
		if !ok || slices.ContainsFunc(out, func(p Plot) bool { return p.ID == id }) {
			continue
		}
		oneway, both := "smallest_buffer_"+sizeName(bytes), "smallest_buffer_interleaved_"+sizeName(bytes)
		out = append(out, Plot{
			ID: id, Section: sectionTuning, Title: "A message of " + words + " by the socket buffer",
			Says: sentences("The smallest buffer within 5% of the best is "+f.bufferWords(oneway)+" one way, and "+
				f.bufferWords(both)+" with both sides sending", "The kernel's own choice stands at the send buffer that it granted"),
			X: Axis{Name: "socket buffer asked for", Unit: "B", Log: true}, Y: timeAxis("time", true),
			Series: f.seriesNamed("T(" + words + ","),
			Marks:  slices.Concat(f.chosenMark(oneway, "smallest good buffer, one way:"), f.chosenMark(both, "both ways:")),
		})
	}
	return out
}

// bufferWords prints a smallest buffer, or its bound.
func (f *Fit) bufferWords(name string) string {
	p, ok := f.Parameters[name]
	switch {
	case !ok:
		return "not known"
	case p.Value != nil:
		return sizeWords(int64(*p.Value))
	case p.Bound != nil:
		return "above " + sizeWords(int64(p.Bound[0]))
	}
	return "not known"
}

// Plots implements Plotter.
func (Nodelay) Plots(f *Fit) []Plot {
	var out []Plot
	for _, s := range f.seriesNamed("T(x), ") {
		writes, ok := strings.CutSuffix(strings.TrimPrefix(s, "T(x), "), ", Nagle")
		var n int64
		if _, err := fmt.Sscan(writes, &n); !ok || err != nil {
			continue
		}
		marks := f.nagleMarks(n)
		says := "Nagle's algorithm costs more than 20% at none of these sizes"
		if len(marks) > 0 {
			var at []string
			for _, m := range marks {
				at = append(at, m.Label)
			}
			says = "Nagle's algorithm costs more than 20% at " + strings.Join(at, ", ")
		}
		out = append(out, Plot{
			ID: fmt.Sprintf("nagle-%d", n), Section: sectionTuning, Title: "Nagle's algorithm on and off, messages of " + writes,
			Says: sentences(says), X: sizeAxis(true), Y: timeAxis("half round trip", true),
			Series: f.seriesNamed("T(x), " + writes + ","), Marks: marks,
		})
	}
	return out
}

// nagleMarks are the sizes at which Nagle's algorithm costs messages of n writes much, ascending.
func (f *Fit) nagleMarks(n int64) []Mark {
	var out []Mark
	for _, r := range f.Residuals {
		if r.Series != "T(x), "+units.Plural(n, "write")+", Nagle" || !finite(r.X) {
			continue
		}
		size := int64(r.X)
		if v, _, _, ok := f.ends(fmt.Sprintf("nagle_cost_%s_%dw", sizeName(size), n)); ok {
			out = append(out, Mark{X: r.X, Label: fmt.Sprintf("%s: +%s", sizeWords(size), share(v))})
		}
	}
	return out
}
