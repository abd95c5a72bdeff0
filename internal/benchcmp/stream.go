package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"calib/fit/params"
	"calib/internal/dataset/names"
	"calib/internal/stats"
)

const (
	// streamBar is the most that calib's time per byte may be of iperf3's.
	streamBar = 1.05
	// slopeBar is the most that it may be of the slope of long ping-pongs of the same run.
	slopeBar = 1.10
	// slopeSizes are the ping-pongs of that slope. Below 4 MiB a further byte costs less: the receiver sleeps less often, and
	// caches hold the message.
	slopeSizes = "1,64,1024,4MiB,6MiB,8MiB"
	streamWarm = 300 * time.Millisecond
	// streamRetries is how often a run is made again that lost segments left without a number, seedStep between their seeds.
	streamRetries, seedStep = 2, 1000
	fromAddr                = "10.199.77.1"
	toAddr                  = "10.199.77.2"
)

// streamControls are the congestion controls of the comparison.
var streamControls = [...]string{"cubic", "bbr"}

// streams are the results on one path: times per byte [ns/B].
type streams struct{ calib, slope, iperf []float64 }

// stream compares the time per byte that calib run fits of two hosts (b_prime, the mean of both directions) with iperf3's, the
// mean of a run in each direction, in turn: on loopback and on a veth pair, both ends on one CPU and on two.
func stream(ctx context.Context, w *workshop) error {
	for _, control := range streamControls {
		if w.congestion != "" && w.congestion != control {
			continue
		}
		if err := w.eachPath(ctx, func(p path) error {
			var r streams
			for i := range max(1, (w.repeats+2)/3) {
				steps := []func(context.Context) error{
					func(ctx context.Context) error { return r.inCalib(ctx, w, p, control, i+1) },
					func(ctx context.Context) error { return r.inIperf3(ctx, w, p, control) },
				}
				if err := inTurn(ctx, i, steps); err != nil {
					return err
				}
			}
			r.print(w, p, control)
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

func (r *streams) inCalib(ctx context.Context, w *workshop, p path, control string, seed int) error {
	for try := 0; ; try++ {
		q, _, err := w.run(ctx, p, seed+seedStep*try, "--only", names.Paired+","+names.Pingpong, "--sizes", slopeSizes,
			"--congestion", control, "--budget", "12s")
		if err != nil {
			return err
		}
		b, errB := estimated(q, "b_prime")
		slope, errSlope := estimated(q, "b_prime_limits")
		if err := errors.Join(errB, errSlope); err == nil {
			r.calib, r.slope = append(r.calib, b*1e9), append(r.slope, slope*1e9)
			return nil
		} else if try == streamRetries {
			return err
		}
	}
}

// estimated is a parameter's estimate, whatever its status.
func estimated(q *params.Params, name string) (float64, error) {
	v, ok := q.Parameters[name].Raw()
	if !ok {
		return 0, fmt.Errorf("calib's run has no %s: %s", name, q.Parameters[name].Why)
	}
	return v, nil
}

func (r *streams) inIperf3(ctx context.Context, w *workshop, p path, control string) error {
	sum := 0.0
	for _, direction := range [][]string{nil, {"-R"}} {
		text, err := runIperf3(ctx, p.from, p.to, w.settings, strconv.Itoa(w.write), append([]string{"-C", control}, direction...)...)
		if err != nil {
			return err
		}
		var report struct {
			End struct {
				Received struct {
					BPS float64 `json:"bits_per_second"`
				} `json:"sum_received"`
			} `json:"end"`
		}
		if err := json.Unmarshal([]byte(text), &report); err != nil {
			return fmt.Errorf("iperf3's report: %w", err)
		}
		if report.End.Received.BPS <= 0 {
			return errors.New("iperf3 reports no throughput")
		}
		sum += 8e9 / report.End.Received.BPS
	}
	r.iperf = append(r.iperf, sum/2)
	return nil
}

func (r *streams) print(w *workshop, p path, control string) {
	fmt.Printf("stream, ns per byte, %s, %s, %s:\n", p.name, p.where(), control)
	row("iperf3", r.iperf, "%.3f", fmt.Sprintf("both directions, writes of %d B, %v each", w.write, w.streamFor))
	row("calib", r.calib, "%.3f", "b_prime of calib run --plan quick")
	v := ratios(r.calib, r.iperf)
	row("calib / iperf3", v, "%.3f", verdict(stats.Median(v) <= streamBar, fmt.Sprintf("≤ %.2f", streamBar)))
	v = ratios(r.calib, r.slope)
	row("calib / ping-pong slope", v, "%.3f", verdict(stats.Median(v) <= slopeBar, fmt.Sprintf("≤ %.2f", slopeBar)))
}
