// Package lists makes lists of others. All packages may use it, as they use package slices.
package lists

import "slices"

// Map is what of makes of each value, in order; nil of none.
func Map[T, U any](values []T, of func(T) U) []U {
	out := slices.Grow([]U(nil), len(values))
	for _, v := range values {
		out = append(out, of(v))
	}
	return out
}

// Upto are the numbers from 0 to n−1.
func Upto(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// Flat joins the lists that of makes of each value.
func Flat[T, U any](values []T, of func(T) []U) []U { return slices.Concat(Map(values, of)...) }

// Sum adds up, in order, what of makes of each value.
func Sum[T any, N int | float64](values []T, of func(T) N) (sum N) {
	for _, v := range values {
		sum += of(v)
	}
	return sum
}
