package lsq

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
)

// CheckBreaks returns ErrBreaks unless breaks ascend, lie within the ascending distinct x, and leave enough of them for
// a line in every segment. An x on a break belongs to the segment below it.
func CheckBreaks(x, breaks []float64) error {
	_, err := boundsAt(x, breaks, minSizes)
	return err
}

// boundsAt lists the half-open ranges of the ascending distinct x that breaks leave.
func boundsAt(x, breaks []float64, least int) ([][2]int, error) {
	if len(x) == 0 {
		return nil, fmt.Errorf("no sizes to break: %w", ErrBreaks)
	}
	var out [][2]int
	from, below := 0, math.Inf(-1)
	for _, b := range append(slices.Clone(breaks), math.Inf(1)) {
		switch {
		case !(b > below):
			return nil, fmt.Errorf("a break at %s after one at %s, breaks ascend: %w", plain(b), plain(below), ErrBreaks)
		case !math.IsInf(b, 1) && (b < x[0] || b >= x[len(x)-1]):
			return nil, fmt.Errorf("a break at %s is outside the sizes measured, %s to %s: %w", plain(b), plain(x[0]), plain(x[len(x)-1]), ErrBreaks)
		}
		to := from + sort.Search(len(x)-from, func(i int) bool { return x[from+i] > b })
		if to-from < least {
			return nil, fmt.Errorf("%s %s, where a line needs %d: %w", counted(to-from), between(below, b), least, ErrBreaks)
		}
		out = append(out, [2]int{from, to})
		from, below = to, b
	}
	return out, nil
}

func counted(n int) string {
	if n == 1 {
		return "1 size was measured"
	}
	return strconv.Itoa(n) + " sizes were measured"
}

// between says where the x from lo to hi are.
func between(lo, hi float64) string {
	switch {
	case math.IsInf(lo, -1):
		return "up to the break at " + plain(hi)
	case math.IsInf(hi, 1):
		return "above the break at " + plain(lo)
	}
	return "between the breaks at " + plain(lo) + " and " + plain(hi)
}

// plain writes a number without an exponent.
func plain(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
