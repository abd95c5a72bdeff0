package coord

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"calib/internal/plane"
	"calib/internal/units"
)

// Issuer makes the tickets of one run. The key of a pair is derived from one secret that never leaves the coordinator,
// so that a thousand hosts do not need half a million stored keys; it is random, not part of what the seed repeats.
type Issuer struct {
	secret  [32]byte
	most    units.Bytes
	expires int64
}

// NewIssuer returns an issuer of tickets for at most that many bytes a pair, until a time.
func NewIssuer(most units.Bytes, expires time.Time) *Issuer {
	i := &Issuer{most: most, expires: expires.Unix()}
	rand.Read(i.secret[:]) // which never fails
	return i
}

// For returns the tickets of host self with each of the n hosts.
func (i *Issuer) For(self, n int) []plane.Ticket {
	out := make([]plane.Ticket, 0, n-1)
	mac := hmac.New(sha256.New, i.secret[:])
	var pair []byte
	for other := range n {
		if other == self {
			continue
		}
		t := plane.Ticket{A: min(self, other), B: max(self, other), MaxBytes: i.most, Expires: i.expires}
		pair = strconv.AppendInt(pair[:0], int64(t.A), 10)
		pair = strconv.AppendInt(append(pair, '-'), int64(t.B), 10)
		mac.Reset()
		mac.Write(pair) // a hash never fails
		mac.Sum(t.Key[:0])
		out = append(out, t)
	}
	return out
}

// Prepare takes every agent for the run, at most atOnce at a time, and gives each the peers and its own tickets. It
// returns one error for each agent that refused, by index, nil where it did not.
func Prepare(ctx context.Context, agents []Agent, s plane.Session, tickets *Issuer, atOnce int) []error {
	return Each(agents, atOnce, func(i int, a Agent) error {
		mine := s
		mine.Self, mine.Tickets = i, tickets.For(i, len(agents))
		if err := a.Prepare(ctx, mine); err != nil {
			return fmt.Errorf("prepare %s: %w", s.Peers[i].Name, err)
		}
		return nil
	})
}

// CloseAll releases every agent, at most atOnce at a time.
func CloseAll(agents []Agent, atOnce int) error {
	return errors.Join(Each(agents, atOnce, func(_ int, a Agent) error { return a.Close() })...)
}

// Each calls f for every one of all, at most atOnce at a time, or all at once where that is negative. It returns what
// each call gave, by index, when all have returned.
func Each[T, R any](all []T, atOnce int, f func(i int, one T) R) []R {
	out := make([]R, len(all))
	var calls errgroup.Group
	calls.SetLimit(atOnce)
	for i, one := range all {
		calls.Go(func() error {
			out[i] = f(i, one)
			return nil
		})
	}
	_ = calls.Wait() // which has no error
	return out
}
