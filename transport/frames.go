package transport

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
)

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
func proof(role string, t *Ticket, h *hello, nonce [nonceSize]byte) (p [proofSize]byte) {
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
