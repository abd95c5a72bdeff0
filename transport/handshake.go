package transport

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"calib/internal/units"
)

// The handshake, version 1. The lower host index of a pair dials.
//
//	dialer → receiver   hello    magic, run, from, to, dialer's nonce         (no secret, 64 B)
//	receiver → dialer   accept   magic, receiver's nonce, proof "accept"      (56 B)
//	dialer → receiver   proof    proof "dialer"                               (32 B)
//
// The receiver shows its ticket first, so an agent that is aimed at a third party sends it 64 bytes and no more. Fresh
// nonces from both sides make a recording useless, and the roles in the proofs a reflection. A side that finds anything
// wrong closes without a word: a stranger learns nothing, and the other side reports a refused ticket. Both sides give up
// after handshakeTimeout as a whole, however slowly the bytes drip.
const handshakeTimeout = 5 * units.Second

// guard shuts c down when ctx or the handshake's time ends; release ends the guard.
func guard(ctx context.Context, c *Conn, limit units.Nanos) (release func()) {
	ctx, cancel := context.WithTimeoutCause(ctx, time.Duration(limit),
		fmt.Errorf("%w in the handshake", ErrTimeout))
	stop := context.AfterFunc(ctx, func() { c.stop(ctxErr(ctx)) })
	return func() {
		stop()
		cancel()
	}
}

// ctxErr is why ctx ended, of class ErrTimeout for a deadline.
func ctxErr(ctx context.Context) error {
	cause := context.Cause(ctx)
	if errors.Is(cause, context.DeadlineExceeded) {
		return fmt.Errorf("%w (%w)", ErrTimeout, cause)
	}
	return cause
}

func runHash(run string) [sha256.Size]byte { return sha256.Sum256([]byte(run)) }

func newNonce() (n [nonceSize]byte) {
	rand.Read(n[:]) // never fails (crypto/rand)
	return n
}

// dialHandshake proves t to the receiver at the other end of c, after the receiver has.
func dialHandshake(ctx context.Context, c *Conn, run [sha256.Size]byte, t *Ticket) error {
	defer guard(ctx, c, handshakeTimeout)()
	if _, err := t.left(time.Now()); err != nil {
		return err
	}
	h := hello{run: run, from: uint32(t.A), to: uint32(t.B), nonce: newNonce()}
	if err := c.Send(h.encode()); err != nil {
		return err
	}
	frame := make([]byte, acceptSize)
	if err := c.Recv(frame); err != nil {
		if errors.Is(err, ErrPeerClosed) {
			return fmt.Errorf("%w by the other side: it has no such run or ticket, or the ticket has expired there (%w)", ErrTicket, err)
		}
		return err
	}
	a, err := decodeAccept(frame)
	if err != nil {
		return err
	}
	if !sameProof(a.proof, proof(roleAccept, t, &h, a.nonce)) {
		return fmt.Errorf("%w: the listener there does not have this run's ticket for the pair", ErrTicket)
	}
	p := proof(roleDial, t, &h, a.nonce)
	return c.Send(p[:])
}

// answerHandshake proves to the dialer at the other end of c the ticket that find returns for its hello, then checks
// the dialer's proof.
func answerHandshake(ctx context.Context, c *Conn, find func(*hello) (*Ticket, error)) (hello, error) {
	defer guard(ctx, c, handshakeTimeout)()
	frame := make([]byte, helloSize)
	if err := c.Recv(frame); err != nil {
		return hello{}, err
	}
	h, err := decodeHello(frame)
	if err != nil {
		return h, err
	}
	t, err := find(&h)
	if err != nil {
		return h, err
	}
	if _, err := t.left(time.Now()); err != nil {
		return h, err
	}
	a := accept{nonce: newNonce()}
	a.proof = proof(roleAccept, t, &h, a.nonce)
	if err := c.Send(a.encode()); err != nil {
		return h, err
	}
	var p [proofSize]byte
	if err := c.Recv(p[:]); err != nil {
		return h, err
	}
	if !sameProof(p, proof(roleDial, t, &h, a.nonce)) {
		return h, fmt.Errorf("%w: host %d does not have this run's ticket for the pair", ErrTicket, h.from)
	}
	return h, nil
}
