package transport

import (
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"calib/internal/kernel"
	"calib/internal/units"
)

// Before a datagram leaves for a rank, both ends show each other that the rank's datagram port is theirs. Each end
// sends a nonce over the connection, and puts the nonce of the other end into a datagram, with a second nonce that the
// other end sends back over the connection:
//
//	connection   A → B   nonce 1 of A                        (16 B)
//	datagram     B → A   magic, nonce 1 of A, nonce 2 of B   (40 B, again and again until it is answered)
//	connection   A → B   nonce 2 of B                        (16 B)
//
// and the same the other way round. A rank sends the last line to all others once it has heard them all, and reads no
// datagram after that, since whoever has it may send those of an experiment. So who takes the datagrams is who has the
// ticket, at the address of its connection: nothing that a coordinator says of a host aims a datagram elsewhere.
const (
	proofMagic = "calibdg\n"
	proofBytes = len(proofMagic) + 2*nonceSize
	proofAgain = 20 * units.Millisecond // until an unanswered datagram is sent again
	proofLook  = units.Millisecond      // between two looks at the connections
)

// confirmation is how far a rank and this one have come.
type confirmation struct {
	over, by       [nonceSize]byte // own nonces: sent over the connection, and by datagrams
	theirs, answer [nonceSize]byte // came over the connection, and by datagram
	heard, allowed bool            // the rank has sent back over by datagram, and by over the connection
}

// OpenDatagrams implements bench.Group: until it has returned no datagram can be sent or received.
func (g *Group) OpenDatagrams(within units.Nanos) error {
	if m := g.datagrams; m != nil && m.open {
		return nil
	}
	m, err := g.newDatagrams()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(g.life, time.Duration(within))
	defer cancel()
	with, err := g.swapNonces()
	if err == nil {
		err = g.prove(ctx, m, with)
	}
	if m.open = err == nil; !m.open {
		g.Abort() // an answer may be on its way: the mesh must not keep the connections for the next group
	}
	return err
}

func (g *Group) swapNonces() ([]confirmation, error) {
	with := make([]confirmation, len(g.team))
	with[g.rank].heard, with[g.rank].allowed = true, true
	for _, rank := range g.others {
		with[rank].over, with[rank].by = newNonce(), newNonce()
		if err := g.Send(rank, with[rank].over[:]); err != nil {
			return nil, err
		}
	}
	for _, rank := range g.others {
		if err := g.Recv(rank, with[rank].theirs[:]); err != nil {
			return nil, err
		}
	}
	return with, nil
}

// prove sends and answers proofs until every rank has heard this one and was heard.
func (g *Group) prove(ctx context.Context, m *datagrams, with []confirmation) error {
	again := kernel.Now()
	for {
		missing, err := g.confirmed(with)
		if err != nil || missing < 0 {
			return err
		}
		if ctx.Err() != nil {
			return fmt.Errorf("datagrams to %s: %w: none passes between the two data ports, or between that host's and "+
				"another's; a firewall must let UDP pass to the port of the data connection", g.conns[missing].peer, ctxErr(ctx))
		}
		if kernel.Now() >= again {
			if err := g.sendProofs(m, with); err != nil {
				return err
			}
			again = kernel.Now() + proofAgain
		}
		if err := g.takeProofs(m, with); err != nil {
			return err
		}
	}
}

// confirmed takes the nonces that have come back over connections. It returns a rank with which the exchange is not
// complete, −1 if there is none.
func (g *Group) confirmed(with []confirmation) (missing int, err error) {
	missing = -1
	for _, rank := range g.others {
		x := &with[rank]
		if x.heard && x.allowed {
			continue
		}
		n, err := g.Pending(rank)
		if err != nil {
			return rank, err
		}
		if !x.allowed && n >= nonceSize {
			var back [nonceSize]byte
			if err := g.Recv(rank, back[:]); err != nil {
				return rank, err
			}
			if back != x.by {
				return rank, fmt.Errorf("datagrams to %s: %w: it sent back another nonce than it was given",
					g.conns[rank].peer, ErrTicket)
			}
			x.allowed = true
		}
		if !x.heard || !x.allowed {
			missing = rank
		}
	}
	return missing, nil
}

// sendProofs sends a proof to every rank that has not answered one. The network may lose it, and a host may have no
// room.
func (g *Group) sendProofs(m *datagrams, with []confirmation) error {
	for _, rank := range g.others {
		x := &with[rank]
		if x.allowed {
			continue
		}
		b := slices.Concat([]byte(proofMagic), x.theirs[:], x.by[:])
		if err := g.sendWhenRoom(&m.out[rank], b); err != nil {
			return fmt.Errorf("datagrams to %s: %w", g.conns[rank].peer, err)
		}
	}
	return nil
}

func heard(with []confirmation) bool {
	return !slices.ContainsFunc(with, func(x confirmation) bool { return !x.heard })
}

// takeProofs waits for proofs until every rank has shown its port, and then answers all over their connections. After
// that it only waits.
func (g *Group) takeProofs(m *datagrams, with []confirmation) error {
	if heard(with) {
		return kernel.WaitFor(g.mesh.udp.fd, 0, proofLook)
	}
	if err := kernel.WaitFor(g.mesh.udp.fd, unix.POLLIN, proofLook); err != nil {
		return fmt.Errorf("wait for datagrams: %w", err)
	}
	b := make([]byte, proofBytes)
	for !heard(with) {
		n, _, errno := m.in.Recv(g.mesh.udp.fd, b, unix.MSG_DONTWAIT|unix.MSG_TRUNC)
		if errno != 0 {
			return nil // none waits; an error of the network shows in what does not come
		}
		rank, ok := m.ranks[m.in.Source()]
		if !ok || !isProof(b, n) || [nonceSize]byte(b[len(proofMagic):]) != with[rank].over {
			g.mesh.stray(m.in.Source())
			continue
		}
		with[rank].heard, with[rank].answer = true, [nonceSize]byte(b[len(proofMagic)+nonceSize:])
	}
	for _, rank := range g.others {
		if err := g.Send(rank, with[rank].answer[:]); err != nil {
			return err
		}
	}
	return nil
}

// isProof reports whether a datagram of n bytes, of which b are the first, is a proof: one that came late is nothing
// that an experiment sent.
func isProof(b []byte, n int) bool {
	k := min(len(b), len(proofMagic))
	return n == proofBytes && string(b[:k]) == proofMagic[:k]
}
