package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"calib/fit/params"
	"calib/internal/netspec"
	"calib/internal/programs"
)

// The second truth for B_L is a queue that is not calib's own: the kernel's token bucket filter on the port of a bridge that
// joins namespaces, with rate and limit set by tc.
const (
	queueHosts = 4
	queueRate  = "200mbit"
	queueBurst = 2_000 // B the bucket passes at once
	// queuePayload is the datagram of the check; with its headers it is a frame of 42 B more.
	queuePayload = 1000
	frameHeaders = 14 + 20 + 8
	// tolQueue is the share of B_L the datagram method may be off.
	tolQueue = 0.03
)

// queue is a port of the kernel: tbf:BYTES, or pfifo:PACKETS below a tbf that sets its rate.
type queue struct {
	name    string
	packets bool
	limit   int
}

// queueOf reads the name of a port; ok is false for another network.
func queueOf(arg string) (q queue, ok bool, err error) {
	kind, limit, ok := strings.Cut(arg, ":")
	if !ok || kind != "tbf" && kind != "pfifo" {
		return q, false, nil
	}
	n, err := strconv.Atoi(limit)
	if err != nil || n < 1 {
		return q, true, fmt.Errorf("%s: want %s:LIMIT", arg, kind)
	}
	return queue{name: kind + "-" + limit, packets: kind == "pfifo", limit: n}, true, nil
}

// held is how many packets of queuePayload bytes the port holds.
func (q queue) held() int {
	if q.packets {
		return q.limit
	}
	return q.limit / (queuePayload + frameHeaders)
}

// resolve is netspec.Resolve, and knows the ports of the kernel.
func resolve(arg string) (*netspec.Spec, error) {
	q, ok, err := queueOf(arg)
	if err != nil || !ok {
		if err != nil {
			return nil, err
		}
		return netspec.Resolve(arg)
	}
	return &netspec.Spec{Name: q.name, Hosts: queueHosts, Mode: netspec.Switched, MSS: 1448, Buffer: q.held()}, nil
}

// queueChecks compares B_L with the limit that tc was given, and what the port was found to count with what it counts. That it
// is not known is not wrong.
func queueChecks(s *netspec.Spec, p *params.Params) []check {
	b := float64(s.Buffer)
	checks := []check{value(p, "B_L", b, "packets", tolQueue*b)}
	kind, limit, _ := strings.Cut(s.Name, "-")
	bytes := p.Parameters["B_L_bytes"]
	const unknown, packets = "not known", "packets"
	c := check{name: "what it counts", want: packets, measured: unknown, ok: true}
	switch {
	case bytes.Value != nil:
		c.measured = "bytes"
	case strings.Contains(bytes.Why, "counts packets, not bytes"):
		c.measured = packets
	}
	if kind == "tbf" {
		c.want = "bytes"
	}
	c.ok = c.measured == unknown || c.measured == c.want
	checks = append(checks, c)
	if n, err := strconv.ParseFloat(limit, 64); err == nil && kind == "tbf" && bytes.Value != nil {
		checks = append(checks, value(p, "B_L_bytes", n, "B", tolQueue*n))
	}
	return checks
}

// floodQueue builds the namespaces, floods the port of the first, and removes everything again.
func floodQueue(ctx context.Context, calib, network, seed, out string, flags []string) (p *params.Params, err error) {
	if err := os.RemoveAll(out); err != nil {
		return nil, err
	}
	port, _, err := queueOf(network)
	if err != nil {
		return nil, err
	}
	q := queueNet{prefix: fmt.Sprintf("cq%d-", os.Getpid()%10000), port: port}
	defer func() { err = errors.Join(err, q.down()) }()
	if err := q.up(ctx); err != nil {
		return nil, err
	}
	hosts := out + ".hosts"
	if err := os.WriteFile(hosts, []byte(q.hosts()), 0o600); err != nil {
		return nil, err
	}
	defer os.Remove(hosts)
	args := []string{calib, "run", "--hosts", hosts, "--launch", "ip netns exec {host}", "--seed", seed, "--out", out, "--quiet", "--yes", "--json"}
	if err := programs.Run(ctx, "", append(args, flags...)...); err != nil {
		return nil, err
	}
	return readParams(filepath.Join(out, "params.json"))
}

// queueNet is a bridge in a namespace of its own, joined to one namespace for each host.
type queueNet struct {
	prefix string
	port   queue
}

func (q queueNet) name(i int) string { return fmt.Sprintf("%sh%d", q.prefix, i) }
func (q queueNet) bridge() string    { return q.prefix + "sw" }

func (q queueNet) hosts() string {
	var b strings.Builder
	for i := range queueHosts {
		fmt.Fprintf(&b, "%s addr=10.79.0.%d\n", q.name(i), i+1)
	}
	return b.String()
}

func (q queueNet) up(ctx context.Context) error {
	steps := []string{
		"ip netns add " + q.bridge(),
		"ip -n " + q.bridge() + " link add br0 type bridge",
		"ip -n " + q.bridge() + " link set br0 up",
	}
	for i := range queueHosts {
		h, port := q.name(i), fmt.Sprintf("p%d", i)
		steps = append(steps,
			"ip netns add "+h,
			"ip -n "+h+" link set lo up",
			fmt.Sprintf("ip -n %s link add e0 type veth peer name %s netns %s", h, port, q.bridge()),
			fmt.Sprintf("ip -n %s addr add 10.79.0.%d/24 dev e0", h, i+1),
			"ip -n "+h+" link set e0 up",
			fmt.Sprintf("ip -n %s link set %s master br0 up", q.bridge(), port))
	}
	tc := "tc -n " + q.bridge() + " qdisc add dev p0 "
	if q.port.packets {
		steps = append(steps, fmt.Sprintf("%sroot handle 1: tbf rate %s burst %d limit 10000000", tc, queueRate, queueBurst),
			fmt.Sprintf("%sparent 1:1 pfifo limit %d", tc, q.port.limit))
	} else {
		steps = append(steps, fmt.Sprintf("%sroot tbf rate %s burst %d limit %d", tc, queueRate, queueBurst, q.port.limit))
	}
	for _, s := range steps {
		if err := programs.Run(ctx, "", strings.Fields(s)...); err != nil {
			return err
		}
	}
	return nil
}

// down deletes every namespace there is; their devices go with them.
func (q queueNet) down() error {
	remove := func(namespace string) error {
		return programs.Run(context.Background(), "", "ip", "netns", "del", namespace) // also after an interrupt
	}
	err := remove(q.bridge())
	for i := range queueHosts {
		err = errors.Join(err, remove(q.name(i)))
	}
	return err
}
