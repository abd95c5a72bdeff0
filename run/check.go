package run

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"calib/internal/dataset"
	"calib/internal/exit"
	"calib/internal/stats"
	"calib/internal/units"
	"calib/run/coord"
	"calib/run/fault"
)

// Checking says how hosts and pairs are checked.
type Checking struct {
	Budget time.Duration // of all rounds
	Rate   float64       // of false alarms
	Margin float64       // by how much slower does not matter
}

const (
	leastChecked = 3 // hosts: of two, nobody can say which is slow
	// leastCheck is how long hosts are observed at least: what comes and goes is seen twice if it does so in ten seconds.
	leastCheck = 20 * time.Second
	// leastBudget is that of a run whose look at the network is long enough.
	leastBudget = 30 * units.Second
)

// Checked is what a check has found.
type Checked struct {
	Hosts   []string // as indices of Judgement
	Missing []dataset.Failure
	fault.Judgement
	Groups           [][]int // such as racks; none where the hosts are one
	Apart            float64 // times as long as within a group a byte takes between them
	Latency, PerByte float64 // medians of all pairs [s, s/B]
	Link             float64 // rate of the slowest link [bit/s]; 0 where it is not known
	Decided          bool    // more rounds would not change what is known
	Took             time.Duration
	Virtual          bool // Took is simulated time
}

// Check starts the agents, and looks for slow hosts and pairs until all is decided or the time is over.
func Check(ctx context.Context, c Config, o Checking) (out Checked, err error) {
	defer c.Show.Done()
	c.Plan.Budget = units.Nanos(o.Budget)
	r := newRun(c, "check-")
	err = r.with(ctx, func(f *fleet) error {
		if err := r.checkup(ctx, f); err != nil {
			return err
		}
		if len(f.agents) < leastChecked {
			return exit.Usagef("%s: a check compares hosts with each other and needs three",
				units.Plural(int64(len(f.agents)), "host"))
		}
		r.sayLost(f)
		r.Show.Phase("look at the network")
		probed, err := coord.Probe(ctx, f.agents, r.id, r.Plan.Seed, max(r.Plan.Budget, leastBudget), time.Now)
		if err != nil {
			return err
		}
		r.Show.Note(probeText(probed))
		r.Show.Phase("observe pairs")
		screen := fault.New(len(f.agents), o.Rate, o.Margin)
		rng := rand.New(rand.NewPCG(r.Plan.Seed, uint64(len(f.agents))))
		begun := time.Now()
		var latencies, perByte []float64
		for round := 0; out.Took < o.Budget && !(out.Took >= leastCheck && screen.Decided()); round++ {
			seen, took := coord.Observe(ctx, f.agents, r.id, round, screen.Next(rng), probed.Together)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			screen.Add(seen)
			for _, s := range seen {
				if !s.Failed {
					latencies, perByte = append(latencies, s.Latency), append(perByte, s.PerByte)
				}
			}
			if out.Virtual = r.Where.Sim != ""; out.Virtual {
				out.Took += time.Duration(took)
			} else {
				out.Took = time.Since(begun)
			}
			r.Show.Update(out.Took.Seconds(), o.Budget.Seconds(), 0, units.Plural(int64(round+1), "round"))
		}
		out.Judgement, out.Missing, out.Decided = screen.Judge(), f.lost, screen.Decided()
		out.Groups, out.Apart = screen.Groups()
		out.Latency, out.PerByte = stats.Median(latencies), stats.Median(perByte)
		for _, h := range f.hosts {
			out.Hosts = append(out.Hosts, h.Name)
			if driver := h.Env["nic.driver"]; driver == "tun" || driver == "veth" {
				continue // they name a speed that they do not have
			}
			if mbps, err := strconv.ParseFloat(h.Env["nic.speed_mbps"], 64); err == nil && mbps > 0 {
				if rate := mbps * 1e6; out.Link == 0 || rate < out.Link {
					out.Link = rate
				}
			}
		}
		return nil
	})
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("check: %w", err)
	}
	return out, err
}
