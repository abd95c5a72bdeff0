package results

import (
	"io"
	"strconv"

	"github.com/urfave/cli/v2"

	"calib/bench/pattern"
	"calib/cmd/calib/internal/command"
	"calib/fit/loggp"
	"calib/internal/exit"
	"calib/params"
	"calib/predict"
)

const (
	remapOperation = "remap" // the --op of a remap, which no team runs as a pattern
	bestWindow     = "best"
)

// predictGather predicts gathers of which a number of senders send at once.
func predictGather(c *cli.Context, p *params.Params) error {
	window := 0 // the best
	if text := c.String("window"); text != bestWindow {
		n, err := strconv.Atoi(text)
		if window = n; err != nil || n < 1 {
			return exit.Usagef("--window %q: want a number of senders, or %s", text, bestWindow)
		}
	}
	var out predicted
	err := eachSize(c, p, func(hosts, bytes int) error {
		g, err := predict.Gather(p, hosts, bytes, window)
		out.Gathers = append(out.Gathers, g)
		return err
	})
	if err != nil {
		return err
	}
	return command.Answer(c, "predict", out, func(w io.Writer) error {
		t := command.NewTable(w, "hosts", "bytes", "at once", "G_al", "G_au", "time", "95% interval", "kept",
			"port full after")
		for _, g := range out.Gathers {
			full, least := "never", ""
			if g.Full != nil {
				full = seconds(*g.Full)
			}
			if g.AtLeast && (g.Full != nil || g.Most < g.Hosts-1) { // the port's room is a lower bound
				least = "≥ "
			}
			t.Row(g.Hosts, g.Bytes, g.Window, g.Least, least+strconv.Itoa(g.Most), seconds(g.Time.Value),
				ends(g.Time.CI95, seconds), least+percent(g.Kept), least+full)
		}
		return t.Flush()
	})
}

// predictRemap predicts all-to-all remaps by LoGPC.
func predictRemap(c *cli.Context, p *params.Params) error {
	cube, err := cubeOf(c)
	if err != nil {
		return err
	}
	var out predicted
	err = eachSize(c, p, func(hosts, bytes int) error {
		for _, sync := range []bool{true, false} {
			r, err := predict.Remap(p, cube, hosts, bytes, sync)
			if err != nil {
				return err
			}
			out.Remaps = append(out.Remaps, r)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return command.Answer(c, "predict", out, func(w io.Writer) error {
		t := command.NewTable(w, "hosts", "bytes", "messages", "between injections, T_c", "alone, T", "C_n", "C_r")
		queue := func(v *float64) string {
			if v == nil {
				return "grows"
			}
			return seconds(*v)
		}
		for _, r := range out.Remaps {
			kind := map[bool]string{true: "synchronous", false: "asynchronous"}[r.Sync]
			t.Row(r.Hosts, r.Bytes, kind, seconds(r.Interval), seconds(r.Alone), queue(r.Network), queue(r.Resource))
		}
		return t.Flush()
	})
}

// eachSize calls do for all numbers of hosts and sizes that are asked for.
func eachSize(c *cli.Context, p *params.Params, do func(hosts, bytes int) error) error {
	hosts, sizes, err := asked(c, max(len(p.Run.Hosts), pattern.Least))
	if err != nil {
		return err
	}
	for _, n := range hosts {
		for _, m := range sizes {
			if err := do(n, m); err != nil {
				return exit.Usagef("predict: %w", err)
			}
		}
	}
	return nil
}

// asked reads the numbers of hosts, least where none are given, and the sizes.
func asked(c *cli.Context, least int) (hosts, sizes []int, err error) {
	if hosts, err = numbers(c, "nodes", strconv.Itoa(least), pattern.Least, maxHosts); err == nil {
		sizes, err = numbers(c, "bytes", predictSizes, 1, 1<<30)
	}
	return hosts, sizes, err
}

// cubeOf reads the network that the hosts are nodes of.
func cubeOf(c *cli.Context) (loggp.Cube, error) {
	if c.IsSet("dimension") != c.IsSet("distance") {
		return loggp.Cube{}, exit.Usagef("--dimension and --distance describe a network together")
	}
	return loggp.Cube{Dimension: c.Float64("dimension"), Distance: c.Float64("distance")}, nil
}
