package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"calib/transport"
)

// streamBar is the least that the throughput must be of iperf3's.
const streamBar = 1.0

const (
	streamWarm = time.Second
	iperfPort  = "5201"
	fromAddr   = "10.199.77.1"
	toAddr     = "10.199.77.2"
)

// stream alternates iperf3 and calib over a veth pair between two namespaces: same direction, writes, congestion
// control and CPUs, messages not kept apart (iperf3's are not either).
func stream(ctx context.Context, s settings) error {
	from, to, remove, err := wire(ctx)
	if err != nil {
		return err
	}
	defer remove()
	var iperf, calib []float64
	for i := range max(1, (s.repeats+2)/3) {
		first, second := streamIperf(ctx, from, to, s, &iperf), streamCalib(ctx, from, to, s, &calib)
		if i%2 == 1 {
			first, second = second, first
		}
		if err := first(); err != nil {
			return err
		}
		if err := second(); err != nil {
			return err
		}
	}
	r := ratios(calib, iperf)
	fmt.Printf("stream in Gbit/s, unshaped veth between two namespaces, writes of %d B, %s, sender on CPU %d, receiver on CPU %d, %v:\n",
		s.write, congestion, from.cpu, to.cpu, s.streamFor)
	row("iperf3", iperf, "%.2f", "")
	row("calib", calib, "%.2f", "")
	row("calib / iperf3", r, "%.3f", verdict(median(r) >= streamBar, fmt.Sprintf("≥ %.1f", streamBar)))
	return nil
}

func streamCalib(ctx context.Context, from, to side, s settings, out *[]float64) func() error {
	return func() error {
		_, r, err := runPair(ctx, from, to, setup{Work: "stream", Size: s.write, Warm: streamWarm, For: s.streamFor,
			Options: transport.Options{Congestion: congestion, NoEOR: true}})
		if err != nil {
			return err
		}
		*out = append(*out, r.Rate*8e-9)
		return nil
	}
}

func streamIperf(ctx context.Context, from, to side, s settings, out *[]float64) func() error {
	return func() error {
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		text, err := clientServer(ctx,
			append(to.prefix, "taskset", "-c", strconv.Itoa(to.cpu)),
			[]string{"iperf3", "-s", "-1", "--forceflush", "-B", to.addr, "-p", iperfPort}, "Server listening",
			append(from.prefix, "taskset", "-c", strconv.Itoa(from.cpu)),
			[]string{"iperf3", "-J", "-c", to.addr, "-p", iperfPort, "-l", strconv.Itoa(s.write), "-C", congestion,
				"-O", fmt.Sprint(streamWarm.Seconds()), "-t", fmt.Sprint(s.streamFor.Seconds())})
		if err != nil {
			return err
		}
		var r struct {
			End struct {
				Received struct {
					BPS float64 `json:"bits_per_second"`
				} `json:"sum_received"`
			} `json:"end"`
		}
		if err := json.Unmarshal([]byte(text), &r); err != nil {
			return fmt.Errorf("iperf3's report: %w", err)
		}
		if r.End.Received.BPS <= 0 {
			return errors.New("iperf3 reports no throughput")
		}
		*out = append(*out, r.End.Received.BPS*1e-9)
		return nil
	}
}

// wire makes two namespaces joined by a veth pair; remove takes both away, and the pair with them.
func wire(ctx context.Context) (from, to side, remove func(), err error) {
	a, b := fmt.Sprintf("benchcmp-%d-a", os.Getpid()), fmt.Sprintf("benchcmp-%d-b", os.Getpid())
	remove = func() {
		// Also after an interrupt, so not under ctx; a namespace that was never made is no matter.
		_ = exec.Command("ip", "netns", "del", a).Run()
		_ = exec.Command("ip", "netns", "del", b).Run()
	}
	for _, line := range []string{
		"netns add " + a,
		"netns add " + b,
		"link add veth0 netns " + a + " type veth peer name veth0 netns " + b,
		"-n " + a + " addr add " + fromAddr + "/24 dev veth0",
		"-n " + b + " addr add " + toAddr + "/24 dev veth0",
		"-n " + a + " link set veth0 up",
		"-n " + b + " link set veth0 up",
	} {
		if out, err := exec.CommandContext(ctx, "ip", strings.Fields(line)...).CombinedOutput(); err != nil {
			remove()
			return from, to, nil, fmt.Errorf("ip %s (needs root): %w: %s", line, err, out)
		}
	}
	from = side{prefix: []string{"ip", "netns", "exec", a}, addr: fromAddr, cpu: 0}
	to = side{prefix: []string{"ip", "netns", "exec", b}, addr: toAddr, cpu: 1}
	return from, to, remove, nil
}
