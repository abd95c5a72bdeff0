// Benchcmp compares what a user of calib gets with other programs on one machine, on loopback and over a veth pair, with both
// ends on one CPU and on two: the half round trip with the same loop in C, and with NPtcp and sockperf where they are installed;
// the time per byte of streams with iperf3.
//
// A machine that does other work is faster at one time than at another. So the programs run in turn, each pair of runs gives
// one ratio, and the result is the median of the ratios.
//
// default.pgo is a CPU profile of its ping-pong (-profile), which the compiler uses to optimise the timed code; the calib
// command is built with the same one.
//
// It needs Linux, a C compiler, iproute2 and iperf3, and root for the two namespaces of the stream, which it removes.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"
)

// childArg makes this program one end of a measurement.
const childArg = "child"

// congestion is set on both sides of every comparison.
const congestion = "cubic"

type settings struct {
	repeats, rounds int
	size            int
	source          string
	streamFor       time.Duration
	write           int
	only            string
	congestion      string
	way             string
	profile         string
	imports         bool
	calib           string
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == childArg {
		exit(child())
	}
	var s settings
	flag.IntVar(&s.repeats, "repeats", 21, "a third as many pairs of alternating runs are made on each path")
	flag.IntVar(&s.rounds, "rounds", 20000, "round trips of the loop in C")
	flag.IntVar(&s.size, "size", 64, "bytes of a message of -profile")
	flag.StringVar(&s.source, "c", "transport/testdata/pingpong.c", "the ping-pong in C")
	flag.DurationVar(&s.streamFor, "stream", time.Second, "how long iperf3 measures a stream")
	flag.IntVar(&s.write, "write", 128<<10, "bytes of one write of iperf3")
	flag.StringVar(&s.only, "only", "", "pingpong or stream (empty is both)")
	flag.StringVar(&s.way, "path", "", "loopback or veth (empty is both)")
	flag.StringVar(&s.congestion, "congestion", "", "cubic or bbr, of streams (empty is both)")
	flag.StringVar(&s.profile, "profile", "", "only run the ping-pong once and write its CPU profile here (see default.pgo)")
	flag.BoolVar(&s.imports, "imports", false, "compare calib's own run with the imported outputs of NPtcp, sockperf and iperf3 (a third as many runs)")
	flag.StringVar(&s.calib, "calib", "", "the calib binary; built from ./cmd/calib if empty")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, s)
	stop()
	exit(err)
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "benchcmp:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func run(ctx context.Context, s settings) error {
	if s.repeats < 1 || s.rounds < 1 || s.size < 1 || s.write < 1 {
		return fmt.Errorf("-repeats, -rounds, -size and -write must be positive")
	}
	if s.profile != "" {
		return profile(ctx, s)
	}
	if s.imports {
		return imports(ctx, s)
	}
	if builtWithCgo() {
		fmt.Println("built with cgo, which costs about 0.1 µs for each change of process: build with CGO_ENABLED=0, as releases are")
	}
	w, err := open(ctx, s)
	if err != nil {
		return err
	}
	defer w.remove()
	if s.only != "stream" {
		if err := pingPong(ctx, w); err != nil {
			return fmt.Errorf("ping-pong: %w", err)
		}
	}
	if s.only != "pingpong" {
		if err := stream(ctx, w); err != nil {
			return fmt.Errorf("stream: %w", err)
		}
	}
	return nil
}

// builtWithCgo reports whether package net brought the C library in.
func builtWithCgo() bool {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return false
	}
	for _, b := range info.Settings {
		if b.Key == "CGO_ENABLED" {
			return b.Value == "1"
		}
	}
	return false
}
