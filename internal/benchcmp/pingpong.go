package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"calib/internal/plane"
	"calib/internal/programs"
	"calib/internal/stats"
	"calib/internal/units"
)

// pingPongBar is the most that the half round trip may be of the same loop in C.
const pingPongBar = 1.05

// pingPong alternates C and calib, both ends of each pinned to CPU 0, then reads the other tools.
func pingPong(ctx context.Context, s settings) error {
	dir, err := os.MkdirTemp("", "benchcmp")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	yardstick := filepath.Join(dir, "pingpong")
	if err := programs.Run(ctx, "", "cc", "-O2", "-o", yardstick, s.source); err != nil {
		return err
	}
	var c, calib, np, sp []float64
	for i := range s.repeats {
		if err := inTurn(i, inC(ctx, yardstick, s, &c), inCalib(ctx, s, &calib)); err != nil {
			return err
		}
		if i%5 == 0 {
			if err := others(ctx, s, &np, &sp); err != nil {
				return err
			}
		}
	}
	r := ratios(calib, c)
	fmt.Printf("ping-pong, %d B, half round trip in ns, loopback, both ends on CPU 0, %s, median of %d:\n",
		s.size, congestion, s.rounds)
	row("C", c, "%.0f", "")
	row("calib", calib, "%.0f", "")
	row("calib / C", r, "%.3f", verdict(stats.Median(r) <= pingPongBar, fmt.Sprintf("≤ %.2f", pingPongBar)))
	row("NPtcp", np, "%.0f", "mean of its runs; the system's congestion control")
	row("sockperf", sp, "%.0f", "median; the system's congestion control")
	return nil
}

func inC(ctx context.Context, exe string, s settings, to *[]float64) func() error {
	return func() error {
		out, err := exec.CommandContext(ctx, exe, strconv.Itoa(s.size), strconv.Itoa(s.rounds), "0",
			strconv.Itoa(int(recvTimeout/units.Millisecond)), congestion).Output()
		if err != nil {
			return fmt.Errorf("the loop in C: %w", err)
		}
		return appendNumber(to, string(out), 1)
	}
}

func inCalib(ctx context.Context, s settings, to *[]float64) func() error {
	return func() error {
		ns, err := calibPingPong(ctx, s)
		*to = append(*to, ns)
		return err
	}
}

// calibPingPong returns the median half round trip in nanoseconds.
func calibPingPong(ctx context.Context, s settings) (float64, error) {
	lo := side{addr: "127.0.0.1"}
	r, _, err := runPair(ctx, lo, lo, setup{Measure: "pingpong", Size: s.size, Rounds: s.rounds, Profile: s.profile,
		Options: plane.Socket{Congestion: congestion}})
	return float64(r.NS), err
}

// profile runs the ping-pong for its CPU profile alone: 1,000,000 round trips give some hundred samples.
func profile(ctx context.Context, s settings) error {
	s.rounds = 1_000_000
	_, err := calibPingPong(ctx, s)
	return err
}

// others runs NPtcp and sockperf where they are installed.
func others(ctx context.Context, s settings, np, sp *[]float64) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	local, size := side{addr: "127.0.0.1"}, strconv.Itoa(s.size)
	if programs.Installed("NPtcp") {
		out := filepath.Join(os.TempDir(), fmt.Sprintf("benchcmp-%d.np", os.Getpid()))
		defer os.Remove(out)
		if err := runNPtcp(ctx, local, local, out, "-l", size, "-u", size, "-p", "0", "-n", strconv.Itoa(s.rounds)); err != nil {
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
		if err := appendNumber(np, f[2], 1e9); err != nil {
			return err
		}
	}
	if programs.Installed("sockperf") {
		out, err := runSockperf(ctx, local, local, size)
		if err != nil {
			return err
		}
		_, tail, _ := strings.Cut(out, "percentile 50.000 =")
		line, _, _ := strings.Cut(tail, "\n")
		return appendNumber(sp, line, 1e3)
	}
	return nil
}

// inTurn runs both, which of them first changing from round to round.
func inTurn(round int, a, b func() error) error {
	if round%2 == 1 {
		a, b = b, a
	}
	if err := a(); err != nil {
		return err
	}
	return b()
}

func appendNumber(to *[]float64, text string, scale float64) error {
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil {
		return err
	}
	*to = append(*to, v*scale)
	return nil
}
