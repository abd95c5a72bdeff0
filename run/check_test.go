package run

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"calib/bench"
	"calib/internal/dataset"
	"calib/internal/plane"
	"calib/run/coord"
)

// taken is an agent that another run may hold. It remembers the last session, and whether it was ended.
type taken struct {
	busy    error
	session plane.Session
	closed  bool
}

func (*taken) Hello(context.Context) (dataset.Host, error)               { return dataset.Host{}, nil }
func (*taken) Run(context.Context, bench.Task) ([]dataset.Sample, error) { return nil, nil }
func (a *taken) Close() error                                            { a.closed = true; return nil }
func (a *taken) Prepare(_ context.Context, s plane.Session) error        { a.session = s; return a.busy }

// A host that measures for somebody else is left out and named, and the others are prepared anew, with the indices that
// they now have. Where fewer than two are left, the reasons are the error.
func TestBusyHostsAreLeftOut(t *testing.T) {
	busy := errors.New("busy: another run holds the agent")
	for _, c := range []struct {
		name string
		busy []int
		left string
	}{
		{"none", nil, "a b c d"}, {"one", []int{1}, "a c d"}, {"two", []int{0, 3}, "b c"}, {"three", []int{0, 1, 3}, ""},
	} {
		cl := &fleet{}
		var agents []*taken
		for i, name := range []string{"a", "b", "c", "d"} {
			a, most := &taken{}, int64(1000)
			if slices.Contains(c.busy, i) {
				a.busy, most = busy, 10 // of a host that is left out its limit is none
			}
			agents = append(agents, a)
			cl.agents, cl.hosts = append(cl.agents, coord.Agent(a)), append(cl.hosts, dataset.Host{Name: name, MostBytes: most})
		}
		err := cl.claim(t.Context(), plane.Session{Run: "run"}, checkAllowance, checkTickets)
		if c.left == "" {
			if !errors.Is(err, busy) {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		if left := strings.Join(namesOf(cl.hosts), " "); err != nil || left != c.left || len(cl.lost) != len(c.busy) {
			t.Errorf("%s: left are %s, lost %v, %v", c.name, left, cl.lost, err)
		}
		for _, l := range cl.lost {
			if !strings.Contains(l.Error, "busy") {
				t.Errorf("%s: host %s is left out because of %q", c.name, l.Host, l.Error)
			}
		}
		for i, a := range cl.agents {
			s := a.(*taken).session
			if s.Self != i || len(s.Peers) != len(cl.agents) || len(s.Tickets) != len(cl.agents)-1 ||
				s.Tickets[0].MaxBytes != 1000 {
				t.Errorf("%s: %s has the session %+v", c.name, cl.hosts[i].Name, s)
			}
		}
		for i, a := range agents {
			if a.closed != slices.Contains(c.busy, i) {
				t.Errorf("%s: agent %d ended: %v", c.name, i, a.closed)
			}
		}
	}
}
