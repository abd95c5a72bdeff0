package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"calib/internal/programs"
)

// network is a kind of network, of any number of hosts up to most on one machine.
type network struct {
	name, words string
	most        int
	// start gives the command line of calib run on it, to which flags are added, and what removes it again.
	start func(ctx context.Context, calib string, hosts int) (args []string, remove func(), err error)
}

// networks are those that a budget is to be kept on, the slowest first. The lab's process and its agents share the machine's CPUs.
func networks() []network {
	return []network{
		{"256kbit", "lab, switch, 256 kbit/s and 100 ms", 8, lab("examples/lab-modem.yaml")},
		{"sparc1994", "lab, shared medium of 10 Mbit/s", 16, lab("sparc1994")},
		{"fast", "lab, `examples/lab-cluster-fast.yaml`", 8, lab("examples/lab-cluster-fast.yaml")},
		{"veth", "bare veth on a bridge", 8, veth},
		{"loopback", "loopback", 64, loopback},
	}
}

func networkNames() []string {
	var out []string
	for _, n := range networks() {
		out = append(out, n.name)
	}
	return out
}

func lookup(name string) (network, error) {
	for _, n := range networks() {
		if n.name == name {
			return n, nil
		}
	}
	return network{}, fmt.Errorf("no network %q: want some of %s", name, strings.Join(networkNames(), ", "))
}

// lab is a network of the lab.
func lab(network string) func(context.Context, string, int) ([]string, func(), error) {
	return func(_ context.Context, calib string, hosts int) ([]string, func(), error) {
		return programs.InLab(calib, network, "--name", "budgets", "--hosts", strconv.Itoa(hosts)), func() {}, nil
	}
}

// loopback: all hosts are processes of this machine.
func loopback(_ context.Context, calib string, hosts int) ([]string, func(), error) {
	return []string{calib, "run", "--local", strconv.Itoa(hosts)}, func() {}, nil
}

// veth: each host is a namespace, joined by a bridge in one more.
func veth(ctx context.Context, calib string, hosts int) ([]string, func(), error) {
	name := fmt.Sprintf("budgets-%d", os.Getpid())
	namespaces := []string{name}
	var list strings.Builder
	steps := []string{"netns add " + name, "-n " + name + " link add br0 type bridge", "-n " + name + " link set br0 up"}
	for i := range hosts {
		host, port := fmt.Sprintf("%s-h%d", name, i), fmt.Sprintf("p%d", i)
		namespaces = append(namespaces, host)
		steps = append(steps, "netns add "+host, "-n "+host+" link set lo up",
			"-n "+name+" link add "+port+" type veth peer name eth0 netns "+host,
			"-n "+name+" link set "+port+" master br0 up",
			fmt.Sprintf("-n %s addr add 10.56.0.%d/24 dev eth0", host, i+1), "-n "+host+" link set eth0 up")
		fmt.Fprintf(&list, "%s addr=10.56.0.%d\n", host, i+1)
	}
	dir, err := os.MkdirTemp("", "calib-budgets-veth-")
	if err != nil {
		return nil, nil, err
	}
	remove := func() {
		for _, n := range namespaces { // not under ctx, so that an interrupt leaves nothing behind; one may not have been made yet
			_ = programs.Run(context.Background(), "", "ip", "netns", "del", n)
		}
		_ = os.RemoveAll(dir)
	}
	for _, step := range steps {
		if err := programs.Run(ctx, "", append([]string{"ip"}, strings.Fields(step)...)...); err != nil {
			remove()
			return nil, nil, fmt.Errorf("namespaces (needs root): %w", err)
		}
	}
	file := filepath.Join(dir, "hosts.txt")
	if err := os.WriteFile(file, []byte(list.String()), 0o600); err != nil {
		remove()
		return nil, nil, err
	}
	return []string{calib, "run", "--hosts", file, "--launch", "ip netns exec {host}"}, remove, nil
}
