package coord

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// mesh is every pair of n hosts, failed where bad says so.
func mesh(n int, bad func(a, b int) bool) []tried {
	var out []tried
	for a := range n {
		for b := a + 1; b < n; b++ {
			out = append(out, tried{Link: Link{a, b}})
			if bad(a, b) {
				out[len(out)-1].err = errCut
			}
		}
	}
	return out
}

var errCut = errors.New("cut")

// again are exchanges of which those that did not fail sent much again.
func again(all []tried) []tried {
	for i := range all {
		all[i].again = all[i].err == nil
	}
	return all
}

func TestBlame(t *testing.T) {
	for name, c := range map[string]struct {
		all  []tried
		want named
	}{
		"nothing":  {nil, named{}},
		"all well": {mesh(5, func(_, _ int) bool { return false }), named{}},
		"one link": {mesh(5, func(a, b int) bool { return a == 1 && b == 3 }), named{links: []Link{{1, 3}}}},
		"one host": {mesh(5, func(a, b int) bool { return a == 2 || b == 2 }), named{hosts: []int{2}}},
		"two hosts": {mesh(6, func(a, b int) bool { return a == 2 || b == 2 || b == 5 }),
			named{hosts: []int{2, 5}}},
		"host and link": {mesh(7, func(a, b int) bool { return b == 6 || a == 0 && b == 1 }),
			named{hosts: []int{6}, links: []Link{{0, 1}}}},
		"two links": {mesh(6, func(a, b int) bool { return a == 0 && b == 1 || a == 2 && b == 3 }),
			named{links: []Link{{0, 1}, {2, 3}}}},
		"the smaller part": {mesh(5, func(a, b int) bool { return a < 2 && b >= 2 }), named{hosts: []int{0, 1}}},
		"everywhere":       {mesh(4, func(_, _ int) bool { return true }), named{most: true}},
		"two hosts alone":  {mesh(2, func(_, _ int) bool { return true }), named{links: []Link{{0, 1}}}},
		"the same link twice": {[]tried{{Link{0, 1}, errCut, false}, {Link{0, 1}, errCut, false}},
			named{links: []Link{{0, 1}}}},
		"few tries, cut host": {[]tried{{Link{0, 1}, errCut, false}, {Link{0, 2}, errCut, false}, {Link{1, 3}, nil, false},
			{Link{2, 4}, nil, false}}, named{hosts: []int{0}}},
		"with a third to blame": {[]tried{{Link{0, 1}, errCut, false}, {Link{0, 2}, nil, false}, {Link{1, 3}, nil, false}},
			named{links: []Link{{0, 1}}}},
		"packets are lost":    {again(mesh(4, func(a, b int) bool { return a == 2 || b == 2 })), named{most: true}},
		"all well, some lost": {again(mesh(4, func(_, _ int) bool { return false })), named{}},
		"one host, one loss": {append(mesh(4, func(a, b int) bool { return a == 2 || b == 2 }),
			tried{Link{0, 1}, nil, true}), named{hosts: []int{2}}},
	} {
		if d := cmp.Diff(c.want, blame(c.all), cmp.AllowUnexported(named{})); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}
