package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"calib/fit/params"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/plane"
	"calib/internal/programs"
	"calib/internal/stats"
	"calib/internal/units"
)

const (
	// pingPongBar is the most that the half round trip may be of the same loop in C, where both ends share a CPU.
	pingPongBar = 1.05
	// runSizes are what calib run measures: those compared, and enough others for its fits.
	runSizes = "1,64,1024,16384"
	// longRounds are the round trips of the loop in C with large messages.
	longRounds = 8000
)

// comparedSizes are the message sizes of the comparison [B].
var comparedSizes = [...]int64{64, 16384}

// pingPong compares the half round trip that calib run fits with the same loop in C, and with NPtcp and sockperf where they
// are installed, in turn: on loopback and on a veth pair, both ends on one CPU and on two.
func pingPong(ctx context.Context, w *workshop) error {
	yardstick := filepath.Join(w.dir, "pingpong")
	if err := programs.Run(ctx, "", "cc", "-O2", "-o", yardstick, w.source); err != nil {
		return err
	}
	return w.eachPath(ctx, func(p path) error {
		c := contest{workshop: w, path: p, yardstick: yardstick, ns: map[string][]float64{}}
		if err := c.run(ctx); err != nil {
			return err
		}
		c.print()
		return nil
	})
}

// contest is one path and what each program measured on it: half round trips [ns] by program and size.
type contest struct {
	*workshop
	path
	yardstick string
	ns        map[string][]float64
}

func (c *contest) add(program string, size int64, ns float64) {
	key := fmt.Sprintf("%s %d", program, size)
	c.ns[key] = append(c.ns[key], ns)
}

func (c *contest) of(program string, size int64) []float64 {
	return c.ns[fmt.Sprintf("%s %d", program, size)]
}

func (c *contest) run(ctx context.Context) error {
	for i := range max(1, (c.repeats+2)/3) {
		steps := []func(context.Context) error{c.inC, func(ctx context.Context) error { return c.inCalib(ctx, i) }}
		if i%3 == 0 {
			steps = append(steps, c.inNPtcp, c.inSockperf)
		}
		if err := inTurn(ctx, i, steps); err != nil {
			return err
		}
	}
	return nil
}

// inC runs the loop in C with calib's receive timeout and, for the small message, without: the other tools have none.
func (c *contest) inC(ctx context.Context) error {
	for _, size := range comparedSizes {
		for _, timeout := range []units.Nanos{recvTimeout, 0} {
			rounds, program := c.rounds, "C"
			if size > comparedSizes[0] {
				rounds = min(rounds, longRounds)
			}
			if timeout == 0 {
				program = "C without timeout"
			}
			args := append(slices.Clone(c.from.prefix), c.yardstick, fmt.Sprint(size), strconv.Itoa(rounds), strconv.Itoa(c.from.cpu),
				strconv.Itoa(int(timeout/units.Millisecond)), congestion, strconv.Itoa(c.to.cpu))
			if c.netns != "" {
				args = append(args, c.netns, c.to.addr)
			}
			out, err := exec.CommandContext(ctx, args[0], args[1:]...).Output()
			if err != nil {
				return fmt.Errorf("the loop in C: %w", err)
			}
			v, err := strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
			if err != nil {
				return err
			}
			c.add(program, size, v)
		}
	}
	return nil
}

// inCalib runs calib as a user does and takes the times of its fit; the fastest of its rounds stand beside, because NPtcp
// prints its fastest trial.
func (c *contest) inCalib(ctx context.Context, i int) error {
	p, d, err := c.workshop.run(ctx, c.path, i+1, "--only", names.Pingpong, "--sizes", runSizes, "--congestion", congestion)
	if err != nil {
		return err
	}
	for _, size := range comparedSizes {
		v, err := timeOf(p, size)
		if err != nil {
			return err
		}
		c.add("calib", size, v*1e9)
		c.add("calib, fastest round", size, fastestRound(d, size))
	}
	return nil
}

// timeOf is the half round trip of a size, as Hockney's model lists it [s].
func timeOf(p *params.Params, size int64) (float64, error) {
	for _, f := range p.Fits {
		if f.Model != "hockney" {
			continue
		}
		for _, r := range f.Named("T(x)").Points {
			if math.Abs(r.X-float64(size)) < 0.5 {
				return r.Measured, nil
			}
		}
	}
	return 0, fmt.Errorf("calib's run has no time of %d bytes", size)
}

// fastestRound is the least median of a round [ns].
func fastestRound(d *dataset.Dataset, size int64) float64 {
	least := math.Inf(1)
	for _, s := range d.Samples {
		if s.Exp == names.Pingpong && s.Phase == "" && s.Point[names.FactorBytes] == size && len(s.NS) > 0 {
			least = min(least, stats.Median(stats.Floats(s.NS)))
		}
	}
	return least
}

func (c *contest) inNPtcp(ctx context.Context) error {
	if !programs.Installed("NPtcp") {
		return nil
	}
	for _, size := range comparedSizes {
		n := fmt.Sprint(size)
		out := filepath.Join(c.dir, "np.out")
		if err := runNPtcp(ctx, c.from, c.to, out, "-l", n, "-u", n, "-p", "0", "-n", strconv.Itoa(min(c.rounds, longRounds))); err != nil {
			return err
		}
		text, err := os.ReadFile(out)
		if err != nil {
			return err
		}
		f := strings.Fields(string(text)) // bytes, Mbit/s, seconds
		if len(f) != 3 {
			return fmt.Errorf("NPtcp wrote %q", text)
		}
		v, err := strconv.ParseFloat(f[2], 64)
		if err != nil {
			return err
		}
		c.add("NPtcp", size, v*1e9)
	}
	return nil
}

func (c *contest) inSockperf(ctx context.Context) error {
	if !programs.Installed("sockperf") {
		return nil
	}
	for _, size := range comparedSizes {
		out, err := runSockperf(ctx, c.from, c.to, fmt.Sprint(size))
		if err != nil {
			return err
		}
		_, tail, _ := strings.Cut(out, "percentile 50.000 =")
		line, _, _ := strings.Cut(tail, "\n")
		v, err := strconv.ParseFloat(strings.TrimSpace(line), 64)
		if err != nil {
			return err
		}
		c.add("sockperf", size, v*1e3)
	}
	return nil
}

func (c *contest) print() {
	for _, size := range comparedSizes {
		fmt.Printf("ping-pong, %d B, half round trip in ns, %s, %s, %s:\n", size, c.name, c.where(), congestion)
		for _, r := range []struct{ program, note string }{
			{"C", "median of a loop"}, {"C without timeout", "as the other tools have it"}, {"calib", "T(x) of calib run --plan quick"},
			{"calib, fastest round", "median of a round"}, {"NPtcp", "its fastest trial; the system's congestion control"},
			{"sockperf", "median; the system's congestion control"},
		} {
			row(r.program, c.of(r.program, size), "%.0f", r.note)
		}
		note := ""
		v := ratios(c.of("calib", size), c.of("C", size))
		if c.from.cpu == c.to.cpu {
			note = verdict(stats.Median(v) <= pingPongBar, fmt.Sprintf("≤ %.2f", pingPongBar))
		}
		row("calib / C", v, "%.3f", note)
	}
}

// profile runs the ping-pong of calib's transport alone for its CPU profile: 1,000,000 round trips give some hundred
// samples.
func profile(ctx context.Context, s settings) error {
	lo := side{addr: "127.0.0.1"}
	_, _, err := runPair(ctx, lo, lo, setup{Measure: "pingpong", Size: s.size, Rounds: 1_000_000, Profile: s.profile,
		Options: plane.Socket{Congestion: congestion}})
	return err
}

// steer moves the CPU that receives a side's packets to its own.
func steer(ctx context.Context, at side) error {
	return programs.Run(ctx, strconv.FormatUint(1<<at.cpu, 16), slices.Concat(at.prefix, []string{"tee", steering})...)
}
