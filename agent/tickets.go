package agent

import (
	"fmt"

	"calib/internal/plane"
)

// maxUsedTickets bounds what is remembered of tickets: 64 sessions of a thousand hosts. Beyond it the oldest are
// forgotten; each of them has been shown to a coordinator that could have made new ones.
const maxUsedTickets = 1 << 16

// usedTickets remembers the keys of the tickets that have served, so that each serves in one session only.
type usedTickets struct {
	keys  map[[32]byte]bool
	order [][32]byte // oldest first
}

// take notes the tickets of a session, or refuses them all.
func (u *usedTickets) take(tickets []plane.Ticket) error {
	for _, t := range tickets {
		if u.keys[t.Key] {
			return fmt.Errorf("the ticket for hosts %d and %d has served already: a session needs tickets of its own", t.A, t.B)
		}
	}
	if u.keys == nil {
		u.keys = map[[32]byte]bool{}
	}
	for _, t := range tickets {
		u.keys[t.Key] = true
		u.order = append(u.order, t.Key)
	}
	for len(u.order) > maxUsedTickets {
		delete(u.keys, u.order[0])
		u.order = u.order[1:]
	}
	return nil
}
