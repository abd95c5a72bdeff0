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

// The handshake, version 3. The lower host index of a pair dials.
//
//	dialer → receiver   hello    magic, run, from, to, epoch, line, dialer's nonce  (no secret, 72 B)
//	receiver → dialer   accept   magic, receiver's nonce, proof "accept"            (56 B)
//	dialer → receiver   proof    proof "dialer"                                     (32 B)
//
// A pair may have several connections at once, its lines. The receiver shows its ticket first, so an agent that is
// aimed at a third party sends it 72 bytes and no more. Fresh nonces from both sides make a recording useless, and the
// roles in the proofs a reflection. The proofs hold the receiver's consent, which it gave over control, so that they
// are worth nothing to another process at its address. A side that finds anything wrong closes without a word: a
// stranger learns nothing, and the other side reports a refused ticket. Both sides give up after handshakeTimeout as a
// whole, however slowly the bytes drip.
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
		return ErrTimeout // "context deadline exceeded" says no more
	}
	return cause
}

func newNonce() (n [nonceSize]byte) {
	rand.Read(n[:]) // never fails (crypto/rand)
	return n
}

// dialHandshake proves t to the receiver at the other end of c, after the receiver has.
func dialHandshake(ctx context.Context, c *Conn, run [sha256.Size]byte, t *plane.Ticket,
	consent string, line int) error {
	defer guard(ctx, c, handshakeTimeout)()
	if _, err := ticketLife(t, time.Now()); err != nil {
		return err
	}
	h := hello{Run: run, From: uint32(t.A), To: uint32(t.B), Epoch: c.epoch, Line: uint32(line), Nonce: newNonce()}
	if err := c.Send(encode(h)); err != nil {
		return err
	}
	frame := make([]byte, acceptSize)
	if err := c.Recv(frame); err != nil {
		if errors.Is(err, ErrPeerClosed) {
			return fmt.Errorf("%w by the other side: it has no such run or ticket, or the ticket has expired there (%w)",
				ErrTicket, err)
		}
		return err
	}
	var a accept
	if err := decode(frame, &a); err != nil {
		return err
	}
	if !sameProof(a.Proof, proof(roleAccept, t, consent, &h, a.Nonce)) {
		return fmt.Errorf("%w: the listener there does not have this run's ticket for the pair", ErrTicket)
	}
	p := proof(roleDial, t, consent, &h, a.Nonce)
	return c.Send(p[:])
}

// answerHandshake proves to the dialer at the other end of c the ticket that find returns for its hello, then checks
// the dialer's proof.
func answerHandshake(ctx context.Context, c *Conn, consent string, find func(*hello) (*plane.Ticket, error)) error {
	defer guard(ctx, c, handshakeTimeout)()
	frame := make([]byte, helloSize)
	if err := c.Recv(frame); err != nil {
		return err
	}
	h, err := decodeHello(frame)
	if err != nil {
		return err
	}
	t, err := find(&h)
	if err != nil {
		return err
	}
	if _, err := ticketLife(t, time.Now()); err != nil {
		return err
	}
	a := accept{Nonce: newNonce()}
	a.Proof = proof(roleAccept, t, consent, &h, a.Nonce)
	if err := c.Send(encode(a)); err != nil {
		return err
	}
	var p [proofSize]byte
	if err := c.Recv(p[:]); err != nil {
		return err
	}
	if !sameProof(p, proof(roleDial, t, consent, &h, a.Nonce)) {
		return fmt.Errorf("%w: host %d does not have this run's ticket for the pair", ErrTicket, h.From)
	}
	return nil
}

// magic opens every first frame of a side; its last character is the version of the protocol.
const magic = "calibd3\n"

const (
	nonceSize  = 16
	proofSize  = sha256.Size
	helloSize  = len(magic) + sha256.Size + 4 + 4 + 4 + 4 + nonceSize
	acceptSize = len(magic) + nonceSize + proofSize
)

// hello is what the dialer sends first. It holds no secret.
type hello struct {
	Run      [sha256.Size]byte // SHA-256 of the run's name
	From, To uint32            // host indices
	Epoch    uint32            // of the connection
	Line     uint32            // which of the pair's connections
	Nonce    [nonceSize]byte
}

// accept is the receiver's answer: its nonce and its proof of the ticket.
type accept struct {
	Nonce [nonceSize]byte
	Proof [proofSize]byte
}

// encode returns a frame: magic, then the fields of a hello or accept, numbers big-endian.
func encode(frame any) []byte {
	b, _ := binary.Append([]byte(magic), binary.BigEndian, frame) // fails for types of variable size only
	return b
}

// decode reads a frame of exactly frame's size into frame.
func decode(b []byte, frame any) error {
	if len(b) != len(magic)+binary.Size(frame) || string(b[:len(magic)]) != magic {
		return fmt.Errorf("%w: not calib's data protocol, or another version of it", ErrTicket)
	}
	_, err := binary.Decode(b[len(magic):], binary.BigEndian, frame)
	return err
}

func decodeHello(b []byte) (h hello, err error) {
	if err := decode(b, &h); err != nil {
		return h, err
	}
	if h.From > math.MaxInt32 || h.To > math.MaxInt32 || h.From >= h.To {
		return h, fmt.Errorf("%w: a connection from host %d to host %d (the lower index dials)", ErrTicket, h.From, h.To)
	}
	if h.Line >= plane.MaxLines {
		return h, fmt.Errorf("%w: line %d, want 0 to %d", ErrTicket, h.Line, plane.MaxLines-1)
	}
	return h, nil
}

// Roles keep one side's proof from serving as the other's. They have equal lengths.
const (
	roleAccept = "accept"
	roleDial   = "dialer"
)

// proof is HMAC-SHA256 under the ticket's key of
//
//	role | run | from | to | epoch | line | dialer's nonce | receiver's nonce | max bytes | expiry | receiver's consent
//
// every field but the last of fixed length, numbers big-endian.
func proof(role string, t *plane.Ticket, consent string, h *hello, nonce [nonceSize]byte) (p [proofSize]byte) {
	b := []byte(role)
	for _, field := range []any{h, nonce, uint64(t.MaxBytes), uint64(t.Expires)} {
		b, _ = binary.Append(b, binary.BigEndian, field) // fails for types of variable size only
	}
	mac := hmac.New(sha256.New, t.Key[:])
	mac.Write(append(b, consent...))
	mac.Sum(p[:0])
	return p
}

func sameProof(a, b [proofSize]byte) bool { return hmac.Equal(a[:], b[:]) }
