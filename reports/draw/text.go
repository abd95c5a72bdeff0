package draw

import (
	"sort"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"calib/internal/units"
)

// maxText is the most letters that one text keeps.
const maxText = 4000

// clean makes s one line of letters that every format can carry.
func clean(s string) string {
	s = strings.Join(strings.Fields(units.OneLine(strings.ToValidUTF8(s, "\uFFFD"))), " ")
	if r := []rune(s); len(r) > maxText {
		s = string(r[:maxText]) + "…"
	}
	return s
}

// clip shortens s to width, with an ellipsis where it was longer.
func clip(s string, st draw.TextStyle, width vg.Length) string {
	s = clean(s)
	if st.Width(s) <= width {
		return s
	}
	r := []rune(s)
	return string(r[:fits(r, st, width-st.Width("…"))]) + "…"
}

// fits is how many of r are no wider than width.
func fits(r []rune, st draw.TextStyle, width vg.Length) int {
	return sort.Search(len(r), func(n int) bool { return st.Width(string(r[:n+1])) > width })
}

// wrap breaks s into lines no wider than width, at spaces where it can. What does not fit into the lines allowed ends
// in an ellipsis.
func wrap(s string, st draw.TextStyle, width vg.Length, lines int) []string {
	var out []string
	rest := []rune(clean(s))
	for len(rest) > 0 {
		if len(out) == lines-1 {
			return append(out, clip(string(rest), st, width))
		}
		n := max(fits(rest, st, width), 1)
		if n < len(rest) {
			for i := n; i > 0; i-- {
				if rest[i] == ' ' {
					n = i
					break
				}
			}
		}
		out = append(out, string(rest[:n]))
		rest = []rune(strings.TrimLeft(string(rest[n:]), " "))
	}
	return out
}
