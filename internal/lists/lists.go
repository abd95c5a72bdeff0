// Package lists makes lists of others. All packages may use it, as they use package slices.
package lists

import (
	"cmp"
	"iter"
	"maps"
	"slices"

	"github.com/xrash/smetrics"
)

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

// Where is a list of its own of the values that are wanted, in order; nil of nil.
func Where[T any](values []T, wanted func(T) bool) []T {
	out := values[:0:0]
	for _, v := range values {
		if wanted(v) {
			out = append(out, v)
		}
	}
	return out
}

// Count is how many of the values are wanted.
func Count[T any](values []T, wanted func(T) bool) (n int) {
	for _, v := range values {
		if wanted(v) {
			n++
		}
	}
	return n
}

// ByKey are the entries of a map in the order of their keys.
func ByKey[K cmp.Ordered, V any](of map[K]V) iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		for _, k := range slices.Sorted(maps.Keys(of)) {
			if !yield(k, of[k]) {
				return
			}
		}
	}
}

// Nearest is the name that is most like word (Jaro-Winkler) of those that at most two changes of a letter make of it,
// or changes of a third of its letters; "" where none is so near.
func Nearest(word string, names []string) (nearest string) {
	most := 0.0
	for _, name := range names {
		changes := smetrics.WagnerFischer(word, name, 1, 1, 1) // the Levenshtein distance
		like := smetrics.JaroWinkler(word, name, 0.7, 4)       // as is usual
		if changes <= max(2, len(word)/3) && changes < len(word) && like > most {
			nearest, most = name, like
		}
	}
	return nearest
}
