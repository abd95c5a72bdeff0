package cost

import (
	"sync"

	"calib/bench/pattern"
)

// list is a schedule whose messages have numbers: the k-th message from i to j is the one that j receives k-th from i.
type list struct {
	messages []message
	ranks    [][]step
}

type message struct{ from, to, bytes int }

// step is a pattern.Step with the numbers of its messages.
type step struct{ out, in []int }

// number gives the messages of s their numbers, in the order of their senders. Of a pattern every message is received,
// and every rank comes to its end (the tests of bench/pattern).
func number(s pattern.Schedule) *list {
	l := &list{ranks: make([][]step, len(s))}
	type way struct{ from, to int }
	under := map[way][]int{} // messages sent and not yet received
	for rank, steps := range s {
		l.ranks[rank] = make([]step, len(steps))
		for i, st := range steps {
			for _, p := range st.Out {
				w := way{rank, p.Peer}
				under[w] = append(under[w], len(l.messages))
				l.ranks[rank][i].out = append(l.ranks[rank][i].out, len(l.messages))
				l.messages = append(l.messages, message{rank, p.Peer, p.Bytes})
			}
		}
	}
	for rank, steps := range s {
		for i, st := range steps {
			for _, p := range st.In {
				w := way{p.Peer, rank}
				l.ranks[rank][i].in = append(l.ranks[rank][i].in, under[w][0])
				under[w] = under[w][1:]
			}
		}
	}
	return l
}

// progress is where a rank is: the steps that it has done, and the messages of the present one.
type progress struct{ step, sent, received int }

func (l *list) done(rank int, p progress) bool { return p.step == len(l.ranks[rank]) }

// Traffic is a pattern with a size in a team. It is written down once, when it is first needed, for all models that
// predict it. It is safe for concurrent use.
type Traffic struct {
	Pattern      pattern.Pattern
	Hosts, Bytes int
	Teams        [][]int // hosts by rank, each time that it was measured; none where any hosts are meant
	list         func() (*list, error)
	Extent       func() (pattern.Extent, error) // how much it moves
}

// TrafficOf returns a pattern with size bytes [B] in a team of hosts, which was measured on these teams.
func TrafficOf(p pattern.Pattern, hosts, bytes int, teams ...[]int) *Traffic {
	return &Traffic{p, hosts, bytes, teams,
		sync.OnceValues(func() (*list, error) {
			s, err := pattern.Of(p, hosts, bytes)
			if err != nil {
				return nil, err
			}
			return number(s), nil
		}),
		sync.OnceValues(func() (pattern.Extent, error) { return pattern.ExtentOf(p, hosts, bytes) })}
}
