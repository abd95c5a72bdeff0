package harness

import (
	"fmt"
	"strings"
	"testing"

	"calib/internal/netspec"
)

// kernelQueue is a second truth for B_L that is not calib's own: the kernel's token bucket filter on every port of a
// bridge (tbf), or a queue of packets below one that sets its rate (pfifo), with the limit that tc was given, in bytes
// or packets.
func kernelQueue(name, kind string, limit int) (*netspec.Spec, func(*testing.T, string) []string) {
	const (
		hosts = 4
		// frame is a datagram of the check, 1000 B, with its headers.
		frame = 1000 + 14 + 20 + 8
	)
	spec := &netspec.Spec{Name: name, Hosts: hosts, Mode: netspec.Switched, MSS: 1448, Buffer: limit}
	bucket, queue := "10000000", fmt.Sprintf("parent 1:1 pfifo limit %d", limit)
	if kind == "tbf" {
		spec.Buffer, bucket, queue = limit/frame, fmt.Sprint(limit), ""
	}
	var steps []string
	for port := range hosts {
		add := fmt.Sprintf("tc -n BRIDGE qdisc add dev p%d ", port)
		steps = append(steps, add+"root handle 1: tbf rate 200mbit burst 2000 limit "+bucket)
		if queue != "" {
			steps = append(steps, add+queue)
		}
	}
	return spec, func(t *testing.T, calib string) []string { return bridged(t, calib, hosts, steps...) }
}

// queued compares B_L with the limit that tc was given, and what the port was found to count with what it counts. That
// it is not known is not wrong.
func queued(_ *testing.T, r run) []line {
	const share = 0.03
	b := float64(r.network.spec.Buffer)
	out := []line{beside("B_L", b, estimateOf(r.p, "B_L"), share*b)}
	kind, limit, _ := strings.Cut(r.network.name, "-")
	counts := line{cells: []string{"what it counts", "packets", "not known", "", "", ""}, verdict: good}
	if kind == "tbf" {
		counts.cells[1] = "bytes"
	}
	switch q := r.p.Parameters["B_L_bytes"]; {
	case q.Value != nil:
		counts.cells[2] = "bytes"
	case strings.Contains(q.Why, "counts packets, not bytes"):
		counts.cells[2] = "packets"
	}
	if counts.cells[2] != "not known" && counts.cells[2] != counts.cells[1] {
		counts.verdict = outside
	}
	out = append(out, counts)
	var bytes float64
	if e := estimateOf(r.p, "B_L_bytes"); kind == "tbf" && e.has {
		if _, err := fmt.Sscan(limit, &bytes); err == nil {
			out = append(out, beside("B_L_bytes", bytes, e, share*bytes))
		}
	}
	return out
}
