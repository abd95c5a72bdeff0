package lists

import (
	"slices"
	"testing"
)

func TestLists(t *testing.T) {
	half := func(v int) float64 { return float64(v) / 2 }
	if got := Map([]int{3, 1}, half); !slices.Equal(got, []float64{1.5, 0.5}) {
		t.Errorf("halves of 3 and 1: %v", got)
	}
	if got := Map(nil, half); got != nil {
		t.Errorf("of none: %v, want nil", got)
	}
	if got := Flat([]int{2, 0, 1}, Upto); !slices.Equal(got, []int{0, 1, 0}) {
		t.Errorf("up to 2, 0 and 1: %v", got)
	}
	odd := func(v int) bool { return v%2 == 1 }
	all := []int{3, 2, 1}
	if got := Where(all, odd); !slices.Equal(got, []int{3, 1}) || !slices.Equal(all, []int{3, 2, 1}) {
		t.Errorf("odd of 3, 2 and 1: %v, and there are still %v", got, all)
	}
	if got := Where(nil, odd); got != nil {
		t.Errorf("odd of none: %v, want nil", got)
	}
	if got := Where([]int{2}, odd); got == nil || len(got) > 0 {
		t.Errorf("odd of 2: %#v, want a list without values", got)
	}
	if got := Count(all, odd); got != 2 {
		t.Errorf("odd of 3, 2 and 1: %d", got)
	}
	var keys []string
	for k, v := range ByKey(map[string]int{"b": 2, "c": 3, "a": 1}) {
		if keys = append(keys, k); v == 2 {
			break
		}
	}
	if !slices.Equal(keys, []string{"a", "b"}) {
		t.Errorf("keys up to that of 2: %v", keys)
	}
	if got := Sum([]int{3, 1}, half); got != 2 {
		t.Errorf("sum of the halves of 3 and 1: %v", got)
	}
}

// What is near is proposed, the likest of several, and nothing else.
func TestNearest(t *testing.T) {
	names := []string{"run", "report", "explain", "lab", "hosts", "host", "no-validate", "v"}
	for word, want := range map[string]string{"rnu": "run", "reprot": "report", "explian": "explain", "hots": "host",
		"novalid8": "", "no-valdate": "no-validate", "zzzz": "", "x": "", "vv": "v", "": "", "nosuch": "", "exit": ""} {
		if got := Nearest(word, names); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
}
