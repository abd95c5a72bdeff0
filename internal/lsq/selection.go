package lsq

import "slices"

// medianSorted is the median of ascending values: the mean of the two middle ones for an even number. s must not be
// empty.
func medianSorted(s []float64) float64 {
	m := len(s)
	if m%2 == 1 {
		return s[m/2]
	}
	return s[m/2-1] + (s[m/2]-s[m/2-1])/2
}

// medianAbove is medianSorted of the values without the p smallest, p below their number. It reorders them, in linear
// time on average.
func medianAbove(v []float64, p int) float64 {
	m := len(v) - p
	k := p + m/2
	high := nth(v, k)
	if m%2 == 1 {
		return high
	}
	low := slices.Max(v[:k])
	return low + (high-low)/2
}

// nth returns the value that would be v[k] if v were ascending, and moves what is smaller before it and what is larger
// behind it. v holds no NaN. Source: Hoare (1961), Algorithm 65: Find, Communications of the ACM 4, 321-322.
func nth(v []float64, k int) float64 {
	for lo, hi := 0, len(v)-1; lo < hi; {
		pivot := max(min(v[lo], v[hi]), min(max(v[lo], v[hi]), v[lo+(hi-lo)/2])) // the median of three
		i, j := lo, hi
		for i <= j {
			for v[i] < pivot {
				i++
			}
			for v[j] > pivot {
				j--
			}
			if i <= j {
				v[i], v[j] = v[j], v[i]
				i++
				j--
			}
		}
		switch {
		case k <= j:
			hi = j
		case k >= i:
			lo = i
		default:
			return v[k]
		}
	}
	return v[k]
}
