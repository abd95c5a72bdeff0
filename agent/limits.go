package agent

import (
	"cmp"
	"slices"
	"time"

	"calib/bench"
	"calib/internal/plane"
	"calib/internal/units"
)

// Limits are what an agent allows any coordinator. A zero field means the default of DefaultLimits.
type Limits struct {
	Task   time.Duration // longest task
	Bytes  units.Bytes   // over all connections to one peer in one run
	Memory units.Bytes   // what one task makes the process hold
	Peers  int           // tickets of one run
	Life   time.Duration // from now to the expiry of a ticket
	// Rate bounds the sending [B/s] of each data connection, and of all datagrams together; 0, the default, is no limit
	// of connections, and transport.DatagramRate of datagrams. The data plane keeps it, whatever an experiment asks
	// for. Coordinators are not told: they see it in what they measure.
	Rate units.Bytes
}

// DefaultLimits suit a host that its user also works on.
func DefaultLimits() Limits {
	return Limits{Task: 10 * time.Minute, Bytes: 1 << 40, Memory: units.GiB, Peers: 4096, Life: 7 * 24 * time.Hour}
}

const (
	maxPoints = 1 << 14 // of one task
	maxReps   = 1000    // bench.Task.Reps: scales what recorders allocate
	// An experiment holds a message at most this often at once: one to send, one to receive, and a copy of each.
	copies = 4
)

func (l Limits) filled() Limits {
	d := DefaultLimits()
	l.Task, l.Bytes = cmp.Or(max(l.Task, 0), d.Task), cmp.Or(max(l.Bytes, 0), d.Bytes)
	l.Memory, l.Peers = cmp.Or(max(l.Memory, 0), d.Memory), cmp.Or(max(l.Peers, 0), d.Peers)
	l.Life = cmp.Or(max(l.Life, 0), d.Life)
	return l
}

// session checks a session before anything is kept of it.
func (l Limits) session(s plane.Session) error {
	if s.Run == "" {
		return fault(ErrInvalid, "a session without a run")
	}
	if len(s.Tickets) > l.Peers || len(s.Peers) > l.Peers+1 {
		return fault(ErrLimit, "%d peers and %d tickets, the limit is %d (calib agent --max-peers)",
			len(s.Peers), len(s.Tickets), l.Peers)
	}
	latest := time.Now().Add(l.Life)
	for _, t := range s.Tickets {
		switch {
		case t.A >= t.B || t.A != s.Self && t.B != s.Self:
			return fault(ErrInvalid, "ticket for hosts %d and %d given to host %d", t.A, t.B, s.Self)
		case t.MaxBytes < 0:
			return fault(ErrInvalid, "ticket for hosts %d and %d of %d bytes", t.A, t.B, int64(t.MaxBytes))
		case t.MaxBytes > l.Bytes:
			return fault(ErrLimit, "ticket for hosts %d and %d of %v, the limit is %v (calib agent --max-bytes)",
				t.A, t.B, t.MaxBytes, l.Bytes)
		case t.Expires > latest.Unix():
			return fault(ErrLimit, "ticket for hosts %d and %d that lasts longer than %v from now: give the run a smaller "+
				"budget, or check that the hosts' clocks agree", t.A, t.B, l.Life)
		}
	}
	if k := s.Socket; k.SndBuf < 0 || k.RcvBuf < 0 || k.SndBuf > l.Memory || k.RcvBuf > l.Memory {
		return fault(ErrLimit, "socket buffers of %d and %d bytes, the limit is %v (calib agent --max-memory)",
			int64(k.SndBuf), int64(k.RcvBuf), l.Memory)
	}
	return nil
}

// task checks a task of an experiment before memory is taken for it, and fills its deadlines and what memory it may
// take.
func (l Limits) task(t *bench.Task, e *bench.Experiment, self int) error {
	limit, hosts := units.Nanos(l.Task), slices.Sorted(slices.Values(t.Team))
	switch {
	case t.Rank < 0 || t.Rank >= len(t.Team):
		return fault(ErrInvalid, "slot %d: rank %d in a team of %d", t.Slot, t.Rank, len(t.Team))
	case t.Team[t.Rank] != self:
		return fault(ErrInvalid, "slot %d: rank %d is host %d, but this agent is host %d",
			t.Slot, t.Rank, t.Team[t.Rank], self)
	case len(slices.Compact(hosts)) != len(t.Team):
		return fault(ErrInvalid, "slot %d: a host twice in the team %v", t.Slot, t.Team)
	case t.Deadline < 0 || t.Recv < 0:
		return fault(ErrInvalid, "slot %d: negative deadline", t.Slot)
	case t.Deadline > limit:
		return fault(ErrLimit, "slot %d: may take %v, the limit is %v (calib agent --max-duration)",
			t.Slot, time.Duration(t.Deadline), l.Task)
	case len(t.Team) > l.Peers+1:
		return fault(ErrLimit, "slot %d: a team of %d, the limit is %d peers (calib agent --max-peers)",
			t.Slot, len(t.Team), l.Peers)
	case len(t.Points) == 0 || len(t.Points) > maxPoints:
		return fault(ErrInvalid, "slot %d: %d points, want 1 to %d", t.Slot, len(t.Points), maxPoints)
	case t.Reps < 0 || t.Reps > maxReps:
		return fault(ErrInvalid, "slot %d: effort %g, want 0 to %d", t.Slot, t.Reps, maxReps)
	}
	for _, p := range t.Points {
		if err := e.Ranges.Check(p); err != nil {
			return fault(ErrInvalid, "slot %d: %s: %w", t.Slot, t.Exp, err)
		}
		if b := p["bytes"]; b < 0 || units.Bytes(b) > l.Memory/copies {
			return fault(ErrLimit, "slot %d: messages of %v, the limit is %v (a quarter of calib agent --max-memory)",
				t.Slot, units.Bytes(b), l.Memory/copies)
		}
	}
	t.Memory = l.Memory
	t.Deadline = cmp.Or(t.Deadline, limit)
	t.Recv = min(cmp.Or(t.Recv, t.Deadline), t.Deadline)
	return nil
}
