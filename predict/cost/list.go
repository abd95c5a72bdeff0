package cost

import (
	"fmt"
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

// number gives the messages of s their numbers, in the order of their senders. It returns ErrSchedule for a message to
// nobody, one that is sent and not received, or received and not sent, or of another length; ErrNotPredicted where
// there is none.
func number(s pattern.Schedule) (*list, error) {
	l := &list{ranks: make([][]step, len(s))}
	type way struct{ from, to int }
	under := map[way][]int{} // messages sent and not yet received
	for rank, steps := range s {
		l.ranks[rank] = make([]step, len(steps))
		for i, st := range steps {
			for _, p := range st.Out {
				if p.Peer < 0 || p.Peer >= len(s) || p.Peer == rank || p.Bytes < 1 {
					return nil, fmt.Errorf("rank %d sends %d B to rank %d of %d: %w", rank, p.Bytes, p.Peer, len(s), ErrSchedule)
				}
				w := way{rank, p.Peer}
				under[w] = append(under[w], len(l.messages))
				l.ranks[rank][i].out = append(l.ranks[rank][i].out, len(l.messages))
				l.messages = append(l.messages, message{rank, p.Peer, p.Bytes})
			}
		}
	}
	received := 0
	for rank, steps := range s {
		for i, st := range steps {
			for _, p := range st.In {
				w := way{p.Peer, rank}
				k := under[w]
				if len(k) == 0 || l.messages[k[0]].bytes != p.Bytes {
					return nil, fmt.Errorf("rank %d receives %d B from rank %d, which does not send them: %w",
						rank, p.Bytes, p.Peer, ErrSchedule)
				}
				under[w] = k[1:]
				l.ranks[rank][i].in = append(l.ranks[rank][i].in, k[0])
				received++
			}
		}
	}
	switch n := len(l.messages); {
	case received < n:
		return nil, fmt.Errorf("%d of %d messages are never received: %w", n-received, n, ErrSchedule)
	case received == 0:
		return nil, fmt.Errorf("nobody sends anything: %w", ErrNotPredicted)
	}
	return l, nil
}

// progress is where a rank is: the steps that it has done, and the messages of the present one.
type progress struct{ step, sent, received int }

func (l *list) done(rank int, p progress) bool { return p.step == len(l.ranks[rank]) }

// ended returns ErrSchedule where a rank never comes to its end.
func (l *list) ended(at func(rank int) progress) error {
	for rank := range l.ranks {
		if !l.done(rank, at(rank)) {
			return fmt.Errorf("rank %d waits for ever for a rank that waits for it, directly or through others: %w",
				rank, ErrSchedule)
		}
	}
	return nil
}

// Traffic is a pattern with a size in a team. It is written down once, when it is first needed, for all models that
// predict it. It is safe for concurrent use.
type Traffic struct {
	Pattern      pattern.Pattern
	Hosts, Bytes int
	Teams        [][]int // hosts by rank, each time that it was measured; none where any hosts are meant
	list         func() (*list, error)
	Extent       func() (pattern.Extent, error) // how much it moves
}

// TrafficOf returns a pattern with size bytes [B] in a team of hosts.
func TrafficOf(p pattern.Pattern, hosts, bytes int) *Traffic {
	return &Traffic{p, hosts, bytes, nil,
		sync.OnceValues(func() (*list, error) {
			s, err := pattern.Of(p, hosts, bytes)
			if err != nil {
				return nil, err
			}
			l, err := number(s)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", p.Name(), err)
			}
			return l, nil
		}),
		sync.OnceValues(func() (pattern.Extent, error) { return pattern.ExtentOf(p, hosts, bytes) })}
}
