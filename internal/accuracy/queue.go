package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"calib/fit/params"
	"calib/internal/netspec"
	"calib/internal/programs"
)

// The second truth for B_L is a queue that is not calib's own: the kernel's token bucket filter on the port of a bridge that
// joins namespaces, with rate and limit set by tc.
const (
	queueHosts = 8
	queueRate  = "20mbit"
	queueLimit = 300_000 // B of frames the queue holds
	queueBurst = 1_600   // B the bucket passes at once
	// queuePayload is the datagram of the check; with its headers it is a frame of 42 B more.
	queuePayload = 1000
	frameHeaders = 14 + 20 + 8
	// tolQueue is the share of B_L the datagram method may be off.
	tolQueue = 0.03
)

// resolve is netspec.Resolve, and knows the network of the kernel's queue.
func resolve(arg string) (*netspec.Spec, error) {
	if arg != "tbf" {
		return netspec.Resolve(arg)
	}
	const frame = queuePayload + frameHeaders
	return &netspec.Spec{Name: "tbf", Hosts: queueHosts, Mode: netspec.Switched, MSS: 1448,
		Buffer: queueLimit/frame + queueBurst/frame}, nil
}

// queueChecks compares B_L with the limit that tc was given.
func queueChecks(s *netspec.Spec, p *params.Params) []check {
	b := float64(s.Buffer)
	return []check{value(p, "B_L", b, "packets", tolQueue*b)}
}

// floodQueue builds the namespaces, floods the port of the first, and removes everything again.
func floodQueue(ctx context.Context, calib, _, seed, out string, flags []string) (p *params.Params, err error) {
	if err := os.RemoveAll(out); err != nil {
		return nil, err
	}
	q := queueNet{prefix: fmt.Sprintf("cq%d-", os.Getpid()%10000)}
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
type queueNet struct{ prefix string }

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
	steps = append(steps, fmt.Sprintf("tc -n %s qdisc add dev p0 root tbf rate %s burst %d limit %d",
		q.bridge(), queueRate, queueBurst, queueLimit))
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
