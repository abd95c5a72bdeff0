package transport

import (
	"context"
	"fmt"
	"time"
)

// discreetTime is how long dialling a host that has not agreed takes, whatever becomes of it.
const discreetTime = 5 * time.Second

// Consent is what peers must have been told of this mesh, by who coordinates the run, to open a connection to it. It is
// another in every process.
func (m *Mesh) Consent() string { return m.consent }

// Discreet makes the mesh one whose caller is not to learn from it which ports are open elsewhere: until a host has
// proven its ticket, all that becomes of dialling it is one and the same error, at one and the same time. log is told
// what it was. Call it before the first session.
func (m *Mesh) Discreet(log func(error)) { m.discreet, m.patience = log, discreetTime }

// tells reports whether the caller may learn what becomes of dialling a peer.
func (m *Mesh) tells(s *session, l *link) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.discreet == nil || s.met[l.peer.Host]
}

// dialQuietly is dialAll with an error that says nothing, after a time that says nothing.
func (m *Mesh) dialQuietly(ctx context.Context, s *session, l *link) (*Conn, error) {
	limited, cancel := context.WithTimeout(ctx, m.patience)
	defer cancel()
	c, err := m.dialAll(limited, s, l)
	if err == nil {
		return c, nil
	}
	m.discreet(fmt.Errorf("connect to %s: %w", describe(l.peer), err))
	<-limited.Done()
	if ctx.Err() != nil {
		return nil, ctxErr(ctx)
	}
	return nil, fmt.Errorf("%w: it has not answered with the run's ticket within %v; why is in this agent's log", ErrConsent, m.patience)
}

// Foreign returns what has come since the last call.
func (m *Mesh) Foreign() Foreign {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := Foreign{Strays: m.strays.Swap(0), Refused: m.refused}
	if m.refused > 0 {
		f.Why = m.why.Error()
	}
	m.refused, m.why = 0, nil
	return f
}
