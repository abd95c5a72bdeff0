package netspec

import (
	"fmt"
	"slices"
)

// Link is what packets between two groups of hosts pass in addition, one server for each direction, between the sending
// host's block and the medium. It stores a packet before it forwards it.
type Link struct {
	// Between are the two groups, as indices of hosts from 0. A pair of hosts has one link at most.
	Between [][]int `yaml:"between" json:"between"`
	Block   `yaml:",inline"`
	// Buffer is the room of each direction's queue, the packet in service included [packets]; 0 is unlimited.
	Buffer int `yaml:"buffer" json:"buffer,omitempty"`
}

// Directions is how many servers the links have. Servers 2i and 2i+1 are those of link i, from its first group to its
// second and back.
func (s *Spec) Directions() int { return 2 * len(s.Links) }

// Routes returns a function that says which of the links' servers a packet passes on its way, −1 for none.
func (s *Spec) Routes() func(src, dst int) int {
	sides := s.sides()
	return func(src, dst int) int {
		for i, side := range sides {
			switch {
			case side[src] == 1 && side[dst] == 2:
				return 2 * i
			case side[src] == 2 && side[dst] == 1:
				return 2*i + 1
			}
		}
		return -1
	}
}

// sides says for every link and host in which of the link's groups the host is: 1, 2, or 0 for neither.
func (s *Spec) sides() [][]uint8 {
	out := make([][]uint8, len(s.Links))
	for i, l := range s.Links {
		out[i] = make([]uint8, s.Hosts)
		for g, hosts := range l.Between {
			for _, h := range hosts {
				out[i][h] = uint8(g + 1)
			}
		}
	}
	return out
}

func (s *Spec) checkLinks() error {
	for i, l := range s.Links {
		name := fmt.Sprintf("links[%d]", i)
		if len(l.Between) != 2 || len(l.Between[0]) == 0 || len(l.Between[1]) == 0 {
			return fmt.Errorf("%s: between: want two lists of hosts, such as [[0, 1], [2, 3]]", name)
		}
		all := slices.Sorted(slices.Values(slices.Concat(l.Between...)))
		for _, h := range all {
			if h < 0 || h >= s.Hosts {
				return fmt.Errorf("%s: between: host %d, but there are %d hosts (from 0)", name, h, s.Hosts)
			}
		}
		if n := len(all); len(slices.Compact(all)) < n {
			return fmt.Errorf("%s: between: a host is named twice", name)
		}
		if err := s.checkBlock(name, l.Block); err != nil {
			return err
		}
		if l.Buffer < 0 {
			return fmt.Errorf("%s: buffer: %d packets, want 0 (unlimited) or more", name, l.Buffer)
		}
	}
	sides := s.sides()
	for i := range sides {
		for j := range i {
			if joinsSame(sides[i], sides[j]) {
				return fmt.Errorf("links[%d] and links[%d] join the same pair of hosts: want one link a pair", j, i)
			}
		}
	}
	return nil
}

func joinsSame(a, b []uint8) bool {
	var seen [3][3]bool
	for h := range a {
		seen[a[h]][b[h]] = true
	}
	return seen[1][1] && seen[2][2] || seen[1][2] && seen[2][1]
}
