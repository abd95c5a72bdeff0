package measuring

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"calib/internal/dataset"
	"calib/internal/doctor"
	"calib/internal/environ"
	"calib/internal/plane"
	"calib/internal/units"
	"calib/run/coord"
)

const (
	// quickCheck is how long the check before a run lasts, where every host works.
	quickCheck = time.Second
	// checkAllowance is what a pair may send in a check, and checkTickets how long its tickets hold.
	checkAllowance = units.MiB
	checkTickets   = time.Hour
)

// checkup leaves out of a new run the hosts that no other can reach. A run that is resumed has its hosts.
func (j *job) checkup(ctx context.Context, cl *cluster) error {
	if j.detail.Where.Sim != "" || j.c.String("resume") != "" || len(cl.agents) < 3 {
		return nil
	}
	j.show.Phase("check the hosts")
	begun := time.Now()
	defer func() { j.checked = units.Nanos(time.Since(begun)) }()
	pairs, err := j.check(ctx, cl, quickCheck)
	if err != nil {
		return err
	}
	f := doctor.Facts{Free: -1, Pairs: pairs}
	for _, h := range cl.infos {
		f.Hosts = append(f.Hosts, factsOf(h, h))
	}
	out := doctor.Out(len(f.Hosts), pairs)
	why := map[string]string{}
	report := doctor.Examine(f)
	for _, n := range report.Findings {
		if n.Code == doctor.NoName && report.Usable == 0 {
			return fmt.Errorf("no two hosts can be measured: %s: %s", n.What, n.Mend)
		}
		for _, h := range n.Hosts {
			if n.Code == doctor.NoName || n.Severity == doctor.Blocks && len(n.Hosts) == 1 {
				why[h] = n.What + " (" + n.Mend + ")"
			}
		}
	}
	for _, i := range slices.Backward(out) {
		cl.leave(i, why[cl.infos[i].Name])
	}
	if len(out) == 0 {
		return nil
	}
	return j.claim(ctx, cl) // the others have new numbers
}

// check tries the pairs of agents that are claimed: every one, or, where most is not 0, after that time no more than is needed to know
// which hosts work.
func (j *job) check(ctx context.Context, cl *cluster, most time.Duration) ([]doctor.Pair, error) {
	checked := coord.CheckPairs(ctx, cl.agents, j.runID(), most, nil)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	out := make([]doctor.Pair, len(checked))
	for i, k := range checked {
		out[i] = doctor.ReadPair(k.Pair, k.Samples, [2]map[int]string{nicsOf(cl.infos[k.Pair[0]]), nicsOf(cl.infos[k.Pair[1]])})
		out[i].Skipped = k.Skipped
		for rank, err := range k.Errs {
			if err != nil {
				out[i].Errors[rank] = err.Error()
			}
		}
	}
	return out, nil
}

// claim takes the agents for a run, and gives each the peers and tickets for so many bytes a pair, or as many as every agent allows. Those
// that refuse, as one that measures for somebody else, are left out, and the rest are told of each other anew: hosts have numbers. It fails
// where fewer than two are left.
func (c *cluster) claim(ctx context.Context, s plane.Session, allowance units.Bytes, life time.Duration) error {
	for {
		for _, h := range c.infos {
			if h.MostBytes > 0 {
				allowance = min(allowance, units.Bytes(h.MostBytes))
			}
		}
		s.Peers = c.peers()
		errs := coord.Prepare(ctx, c.agents, s, coord.NewIssuer(allowance, time.Now().Add(life)), callsAtOnce)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		switch left := c.leaveOut(errs); {
		case left == nil:
			return nil
		case len(c.agents) < 2:
			return fmt.Errorf("fewer than two hosts can be had:\n%w", left)
		}
	}
}

// leave takes the host of that index out of the cluster, and ends its agent. That it may end badly stops nobody else.
func (c *cluster) leave(i int, why string) {
	if err := c.agents[i].Close(); err != nil {
		why += "; " + err.Error()
	}
	c.lost = append(c.lost, dataset.Failure{Host: c.infos[i].Name, Error: why})
	c.agents, c.infos = slices.Delete(c.agents, i, i+1), slices.Delete(c.infos, i, i+1)
}

// nicsOf are the interfaces of a host by index.
func nicsOf(h dataset.Host) map[int]string {
	out := map[int]string{}
	for _, f := range strings.Fields(h.Now[environ.NowNICs]) {
		index, name, _ := strings.Cut(f, "=")
		if i, err := strconv.Atoi(index); err == nil {
			out[i] = name
		}
	}
	return out
}
