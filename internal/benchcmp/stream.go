package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"calib/internal/plane"
	"calib/internal/stats"
)

// streamBar is the least that the throughput must be of iperf3's.
const streamBar = 1.0

const (
	streamWarm = time.Second
	fromAddr   = "10.199.77.1"
	toAddr     = "10.199.77.2"
)

// streams are the results of one tool: rates in Gbit/s and retransmitted segments.
type streams struct{ rate, retrans []float64 }

func (s *streams) add(rate float64, retrans int64) {
	s.rate = append(s.rate, rate)
	s.retrans = append(s.retrans, float64(retrans))
}

// stream alternates iperf3 and calib over a veth pair between two namespaces: same direction, writes, congestion
// control and CPUs, messages not kept apart (iperf3's are not either).
func stream(ctx context.Context, s settings) error {
	from, to, remove, err := wire(ctx)
	if err != nil {
		return err
	}
	defer remove()
	var iperf, calib streams
	for i := range max(1, (s.repeats+2)/3) {
		if err := inTurn(i, streamIperf(ctx, from, to, s, &iperf), streamCalib(ctx, from, to, s, &calib)); err != nil {
			return err
		}
	}
	r := ratios(calib.rate, iperf.rate)
	fmt.Printf("stream in Gbit/s, unshaped veth between two namespaces, writes of %d B, %s, sender on CPU %d, receiver on CPU %d, %v:\n",
		s.write, congestion, from.cpu, to.cpu, s.streamFor)
	row("iperf3", iperf.rate, "%.2f", "")
	row("calib", calib.rate, "%.2f", "")
	row("calib / iperf3", r, "%.3f", verdict(stats.Median(r) >= streamBar, fmt.Sprintf("≥ %.1f", streamBar)))
	row("iperf3 retransmitted", iperf.retrans, "%.0f", "segments")
	row("calib retransmitted", calib.retrans, "%.0f", "segments, its start included")
	return nil
}

func streamCalib(ctx context.Context, from, to side, s settings, out *streams) func() error {
	return func() error {
		sent, r, err := runPair(ctx, from, to, setup{Measure: "stream", Size: s.write, Warm: streamWarm, For: s.streamFor,
			Options: plane.Socket{Congestion: congestion, NoEOR: true}})
		if err != nil {
			return err
		}
		out.add(r.Rate*8e-9, sent.Retrans)
		return nil
	}
}

func streamIperf(ctx context.Context, from, to side, s settings, out *streams) func() error {
	return func() error {
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		text, err := runIperf3(ctx, from, to, s, strconv.Itoa(s.write), "-C", congestion)
		if err != nil {
			return err
		}
		var r struct {
			End struct {
				Received struct {
					BPS float64 `json:"bits_per_second"`
				} `json:"sum_received"`
				Sent struct {
					Retrans int64 `json:"retransmits"`
				} `json:"sum_sent"`
			} `json:"end"`
		}
		if err := json.Unmarshal([]byte(text), &r); err != nil {
			return fmt.Errorf("iperf3's report: %w", err)
		}
		if r.End.Received.BPS <= 0 {
			return errors.New("iperf3 reports no throughput")
		}
		out.add(r.End.Received.BPS*1e-9, r.End.Sent.Retrans)
		return nil
	}
}
