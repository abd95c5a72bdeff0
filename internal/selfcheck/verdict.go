package selfcheck

import (
	"fmt"
	"slices"
	"strings"
)

// Count is how many rows have each verdict.
type Count struct {
	Back, Missed, Undetermined, Agrees, Differs, NotPlayed int
}

// CountOf counts rows by verdict.
func CountOf(rows []Row) (c Count) {
	for _, r := range rows {
		switch r.Verdict {
		case Back:
			c.Back++
		case Missed:
			c.Missed++
		case Undetermined:
			c.Undetermined++
		case Agrees:
			c.Agrees++
		case Differs:
			c.Differs++
		case NotPlayed:
			c.NotPlayed++
		}
	}
	return c
}

// Confirm returns the first measurement's rows, in which those count as missed that the second measurement misses, too.
// What the second does not determine stays missed.
func Confirm(first, second []Row) []Row {
	out := slices.Clone(first)
	for i, r := range out {
		if r.Verdict != Missed {
			continue
		}
		k := slices.IndexFunc(second, func(o Row) bool { return o.Name == r.Name })
		switch {
		case k < 0 && r.Truth == nil || k >= 0 && second[k].Verdict == Back: // a host that was named, and is not named again
			if k >= 0 {
				out[i] = second[k]
			}
			out[i].Verdict, out[i].Again = Back, true
		case k >= 0 && second[k].Verdict == Missed:
			out[i] = second[k]
		}
	}
	return out
}

// Sentence says what rows mean, for people.
func Sentence(rows []Row, slowdown float64) string {
	c := CountOf(rows)
	names := func(v Verdict) string {
		var list []string
		for _, r := range rows {
			if r.Verdict == v {
				list = append(list, r.Name)
			}
		}
		return strings.Join(list, ", ")
	}
	judged, where := c.Back+c.Missed, "the copy"
	if slowdown > 1 {
		where = fmt.Sprintf("the copy, %g times slower,", slowdown)
	}
	var b strings.Builder
	switch {
	case judged == 0:
		b.WriteString("Inconclusive: nothing could be judged.")
	case c.Missed > 0:
		fmt.Fprintf(&b, "Of %d results of %s %d did not come back: %s.", judged, where, c.Missed, names(Missed))
	case c.Undetermined > 0:
		fmt.Fprintf(&b, "Inconclusive: %d of %d results of %s came back, the others were not determined.", c.Back, judged+c.Undetermined, where)
	default:
		fmt.Fprintf(&b, "All %d results of %s came back: on a network with these parameters calib finds these parameters.", c.Back, where)
	}
	if c.Undetermined > 0 {
		fmt.Fprintf(&b, " Not determined: %s.", names(Undetermined))
	}
	if c.Agrees+c.Differs > 0 {
		fmt.Fprintf(&b, " Of %d values that are given to no network %d agree with the run", c.Agrees+c.Differs, c.Agrees)
		if c.Differs > 0 {
			fmt.Fprintf(&b, "; not %s", names(Differs))
		}
		b.WriteString(".")
	}
	var other, again []string
	for _, r := range rows {
		if r.Otherwise {
			other = append(other, r.Name)
		}
		if r.Again {
			again = append(again, r.Name)
		}
	}
	if len(again) > 0 {
		fmt.Fprintf(&b, " Outside once and back the second time: %s.", strings.Join(again, ", "))
	}
	if len(other) > 0 {
		fmt.Fprintf(&b, " The lab file says otherwise than the run of: %s.", strings.Join(other, ", "))
	}
	return b.String()
}
