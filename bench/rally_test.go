package bench

import "testing"

// slowing is an exchange that takes longer each time.
type slowing struct {
	took []int64
	over int // exchange after which no other is of use; 0 is none
	n    int
	last bool // what rank 1 was told in the end
}

func (x *slowing) lead(_ Group, last bool) (lap, error) {
	x.last = last
	l := lap{ns: 1, took: x.took[min(x.n, len(x.took)-1)]}
	x.n++
	l.over = x.n == x.over
	return l, nil
}

func (x *slowing) follow(Group) (bool, error) { return x.last, nil }

// A batch fills its buffer, unless its exchanges last longer than the limit in all, or are over. In each case rank 1 knows.
func TestLaps(t *testing.T) {
	for _, tc := range []struct {
		name        string
		x           slowing
		least, want int
		last        bool
	}{
		{"full", slowing{took: []int64{1}}, 3, 10, true},
		{"slow from the first", slowing{took: []int64{500}}, 3, 3, true},
		{"slow in the end", slowing{took: []int64{10, 10, 10, 10, 50, 50, 50}}, 3, 7, true},
		{"over", slowing{took: []int64{1}, over: 4}, 3, 4, false},
	} {
		y := rally{x: &tc.x, d: dose{least: tc.least}}
		n, over, err := y.laps(make([]int64, 10), 100)
		if err != nil || n != tc.want || tc.x.last != tc.last || over != (tc.x.over > 0) || tc.x.n != n {
			t.Errorf("%s: %d laps, over %t, last %t, %v; want %d", tc.name, n, over, tc.x.last, err, tc.want)
		}
	}
}

// Doses are bounded by bytes, by sends and by the effort.
func TestDose(t *testing.T) {
	r := NewRecorder(Task{})
	quick := NewRecorder(Task{Reps: 0.1})
	for _, tc := range []struct {
		d          dose
		reps, warm int
		quick      int
	}{
		{dose{bytes: 1, sends: 1, most: 200, least: 5}, 200, 10, 20},
		{dose{bytes: 1 << 20, sends: 1, most: 200, least: 5}, 16, 10, 5},
		{dose{bytes: 1 << 24, sends: 1, most: 200, least: 5}, 5, 2, 5},
		{dose{bytes: 1 << 20, sends: 4096, most: 200, least: 3}, 3, 2, 3},
		{dose{bytes: 1 << 10, sends: 1024, most: 200, least: 3}, 8, 8, 3},
	} {
		if a, b, c := tc.d.reps(r), tc.d.warm(), tc.d.reps(quick); a != tc.reps || b != tc.warm || c != tc.quick {
			t.Errorf("%+v: %d repetitions after %d, %d in a quick plan; want %d, %d, %d", tc.d, a, b, c, tc.reps, tc.warm, tc.quick)
		}
	}
}
