package transport

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"calib/internal/plane"
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
func dialHandshake(ctx context.Context, c *Conn, run [sha256.Size]byte, t *plane.Ticket) error {
	defer guard(ctx, c, handshakeTimeout)()
	if _, err := ticketLife(t, time.Now()); err != nil {
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
func answerHandshake(ctx context.Context, c *Conn, find func(*hello) (*plane.Ticket, error)) (hello, error) {
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
	if _, err := ticketLife(t, time.Now()); err != nil {
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

// magic opens every first frame of a side; its last character is the version of the protocol.
const magic = "calibd1\n"

const (
	nonceSize  = 16
	proofSize  = sha256.Size
	helloSize  = len(magic) + sha256.Size + 4 + 4 + nonceSize
	acceptSize = len(magic) + nonceSize + proofSize
)

// hello is what the dialer shows first. It holds no secret.
type hello struct {
	run      [sha256.Size]byte // SHA-256 of the run's name
	from, to uint32            // host indices
	nonce    [nonceSize]byte
}

func (h *hello) encode() []byte {
	b := make([]byte, 0, helloSize)
	b = append(b, magic...)
	b = append(b, h.run[:]...)
	b = binary.BigEndian.AppendUint32(b, h.from)
	b = binary.BigEndian.AppendUint32(b, h.to)
	return append(b, h.nonce[:]...)
}

// decodeHello reads a frame of helloSize bytes.
func decodeHello(b []byte) (h hello, err error) {
	rest, err := checkMagic(b, helloSize)
	if err != nil {
		return h, err
	}
	rest = rest[copy(h.run[:], rest):]
	h.from = binary.BigEndian.Uint32(rest)
	h.to = binary.BigEndian.Uint32(rest[4:])
	copy(h.nonce[:], rest[8:])
	if h.from > math.MaxInt32 || h.to > math.MaxInt32 || h.from >= h.to {
		return h, fmt.Errorf("%w: a connection from host %d to host %d (the lower index dials)", ErrTicket, h.from, h.to)
	}
	return h, nil
}

// accept is the receiver's answer: its nonce and its proof of the ticket.
type accept struct {
	nonce [nonceSize]byte
	proof [proofSize]byte
}

func (a *accept) encode() []byte {
	b := make([]byte, 0, acceptSize)
	b = append(b, magic...)
	b = append(b, a.nonce[:]...)
	return append(b, a.proof[:]...)
}

func decodeAccept(b []byte) (a accept, err error) {
	rest, err := checkMagic(b, acceptSize)
	if err != nil {
		return a, err
	}
	rest = rest[copy(a.nonce[:], rest):]
	copy(a.proof[:], rest)
	return a, nil
}

func checkMagic(b []byte, size int) (rest []byte, err error) {
	if len(b) != size || string(b[:len(magic)]) != magic {
		return nil, fmt.Errorf("%w: not calib's data protocol, or another version of it", ErrTicket)
	}
	return b[len(magic):], nil
}

// Roles keep one side's proof from serving as the other's. They have equal lengths.
const (
	roleAccept = "accept"
	roleDial   = "dialer"
)

// proof is HMAC-SHA256 under the ticket's key of
//
//	role | run | from | to | dialer's nonce | receiver's nonce | max bytes | expiry
//
// every field of fixed length, numbers big-endian.
func proof(role string, t *plane.Ticket, h *hello, nonce [nonceSize]byte) (p [proofSize]byte) {
	mac := hmac.New(sha256.New, t.Key[:])
	b := make([]byte, 0, 128)
	b = append(b, role...)
	b = append(b, h.run[:]...)
	b = binary.BigEndian.AppendUint32(b, h.from)
	b = binary.BigEndian.AppendUint32(b, h.to)
	b = append(b, h.nonce[:]...)
	b = append(b, nonce[:]...)
	b = binary.BigEndian.AppendUint64(b, uint64(t.MaxBytes))
	b = binary.BigEndian.AppendUint64(b, uint64(t.Expires))
	mac.Write(b)
	mac.Sum(p[:0])
	return p
}

func sameProof(a, b [proofSize]byte) bool { return hmac.Equal(a[:], b[:]) }
