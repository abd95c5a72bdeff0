package fit

import (
	"calib/internal/units"
)

// plots drops the points of curves and the marks that are not finite, and bands that do not fit their curve: a plot is a
// picture of numbers that stand elsewhere, and is left out of rather than filled with null.
func (c *cleaner) plots(in []Plot, where string) []Plot {
	var out []Plot
	for _, p := range in {
		dropped := 0
		p.Curves, dropped = cleanCurves(p.Curves)
		var marks []Mark
		for _, m := range p.Marks {
			switch {
			case !holdable(m.X):
				dropped++
				continue
			case !holdable(m.Lo) || !holdable(m.Hi):
				dropped++
				m.Lo, m.Hi = 0, 0
			}
			marks = append(marks, m)
		}
		p.Marks = marks
		if dropped > 0 {
			c.say("%splot %s: %s not finite: left out", where, p.ID, units.Plural(int64(dropped), "number"))
		}
		out = append(out, p)
	}
	return out
}

// cleanCurves returns the finite points of curves, and how many others there were.
func cleanCurves(in []Curve) (out []Curve, dropped int) {
	for _, q := range in {
		n := min(len(q.X), len(q.Y))
		banded := n > 0 && len(q.Lo) == n && len(q.Hi) == n
		clean := Curve{Name: q.Name}
		for i := range n {
			whole := holdable(q.X[i]) && holdable(q.Y[i])
			if !whole || banded && !(holdable(q.Lo[i]) && holdable(q.Hi[i])) {
				dropped++
				continue
			}
			clean.X, clean.Y = append(clean.X, q.X[i]), append(clean.Y, q.Y[i])
			if banded {
				clean.Lo, clean.Hi = append(clean.Lo, q.Lo[i]), append(clean.Hi, q.Hi[i])
			}
		}
		if len(clean.X) > 0 {
			out = append(out, clean)
		}
	}
	return out, dropped
}
