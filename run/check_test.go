package run

import (
	"context"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"calib/agent/simagent"
	"calib/bench"
	"calib/fit/fault"
	"calib/internal/dataset"
	"calib/internal/netspec"
	"calib/internal/plane"
	"calib/internal/progress"
	"calib/run/coord"
	"calib/transport/sim"
)

// taken is an agent that another run may hold. It remembers the last session, and whether it was ended.
type taken struct {
	busy    error
	session plane.Session
	closed  bool
}

func (*taken) Hello(context.Context, bool) (dataset.Host, error)         { return dataset.Host{}, nil }
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

// A rate is compared with what TCP can send over the link of its own pair: of the line rate, without headers.
func TestShareOfLink(t *testing.T) {
	host := func(mbps, mtu, segment, driver string) dataset.Host {
		return dataset.Host{Env: map[string]string{"nic.speed_mbps": mbps, "nic.mtu": mtu, dataset.FactSegment: segment,
			"nic.driver": driver}}
	}
	fast, slow := host("25000", "1500", "1448", "mlx5_core"), host("1000", "1500", "1448", "igb")
	const full = 1448. / 1538 // of a frame, with preamble and gap
	for _, c := range []struct {
		name        string
		first       dataset.Host
		other       dataset.Host // fifteen of them
		slow, usual float64      // rates of pairs with and without the first [bit/s]
		rate, share float64
	}{
		{"one slow link", slow, fast, 0.98 * full * 1e9, 0.98 * full * 25e9, 25e9, 0.98},
		{"jumbo frames", fast, host("25000", "9000", "8948", "mlx5_core"), 23e9, 23e9, 25e9, 23e9 / 25e9 * 9038 / 8948},
		{"no MTU", slow, host("1000", "", "", ""), 0.9e9, 0.9e9, 0, 0},
		{"no speed", fast, host("", "1500", "1448", ""), 1e9, 1e9, 0, 0},
		{"a speed in name only", fast, host("10000", "1500", "1448", "veth"), 1e9, 1e9, 0, 0},
	} {
		hosts, seen := []dataset.Host{c.first}, []fault.Seen{}
		for to := 1; to < 16; to++ {
			hosts = append(hosts, c.other)
			for from := range to {
				rate := c.usual
				if from == 0 {
					rate = c.slow
				}
				seen = append(seen, fault.Seen{From: from, To: to, PerByte: 8 / rate})
			}
		}
		if rate, share := shareOf(hosts, seen); rate != c.rate || math.Abs(share-c.share) > 1e-9 {
			t.Errorf("%s: %g of %g bit/s, want %g of %g", c.name, share, rate, c.share, c.rate)
		}
	}
}

// The trial of pairs before a check also says in what the hosts differ.
func TestCheckupFindsDifferences(t *testing.T) {
	spec, err := netspec.Preset("switch", 4)
	if err != nil {
		t.Fatal(err)
	}
	f := &fleet{starter: nobody}
	for i, a := range simagent.New(*spec, sim.Options{Seed: 1}) {
		h, err := a.Hello(t.Context(), false)
		if err != nil {
			t.Fatal(err)
		}
		h.Env = map[string]string{"nic.name": "eth0", "nic.mtu": "9000", dataset.FactSegment: "1448"}
		if i == 3 {
			h.Env["nic.mtu"] = "1500"
		}
		f.agents, f.hosts = append(f.agents, coord.Agent(a)), append(f.hosts, h)
	}
	r := newRun(Config{Show: progress.New(io.Discard, progress.Quiet, time.Now)}, "check-")
	if err := r.checkup(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	got := r.findings
	if len(got) != 1 || got[0].Code != "differs-nic.mtu" || !slices.Equal(got[0].Hosts, namesOf(f.hosts)[3:]) {
		t.Errorf("%+v", got)
	}
}

// deaf is an agent whose host no other reaches.
type deaf struct{ coord.Agent }

func (deaf) Run(context.Context, bench.Task) ([]dataset.Sample, error) {
	return nil, errors.New("no way")
}

// TestCheckupLeavesOut: a host that is left out has no say in the sizes of packets, and nothing is noted of it.
func TestCheckupLeavesOut(t *testing.T) {
	f, err := simulated(t.Context(), "sparc1994:4")
	if err != nil {
		t.Fatal(err)
	}
	for i := range f.hosts {
		h := &f.hosts[i]
		h.Env = map[string]string{"nic.name": "eth0", "nic.mtu": "9000", dataset.FactSegment: "8948"}
		h.Boot, h.Now.CPUs = "one machine", []string{strconv.Itoa(i % 3)}
	}
	f.agents[3], f.hosts[3].Env = deaf{f.agents[3]}, map[string]string{}
	r := newRun(Config{Show: progress.New(io.Discard, progress.Quiet, time.Now)}, "check-")
	if err := r.checkup(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	if len(f.lost) != 1 || r.Plan.Limits.Segment != 8948 || r.notes != nil {
		t.Errorf("lost %+v, segment %d, notes %q; want host 3, 8948, none", f.lost, r.Plan.Limits.Segment, r.notes)
	}
}
