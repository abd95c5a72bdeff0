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
		{"256kbit", "lab, switch, 256 kbit/s and 100 ms", 8, slowLab},
		{"sparc1994", "lab, shared medium of 10 Mbit/s", 16, lab("sparc1994:%d")},
		{"fast", "lab, `examples/lab-cluster-fast.yaml`", 8, fastLab},
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

const launch = "ip netns exec {host}"

func labArgs(calib, network string) []string {
	return []string{calib, "lab", "run", "--name", "budgets", network, "--", calib, "run", "--hosts", "{hosts}", "--launch", launch}
}

// lab is a network of the lab; format makes its argument of the number of hosts.
func lab(format string) func(context.Context, string, int) ([]string, func(), error) {
	return func(_ context.Context, calib string, hosts int) ([]string, func(), error) {
		return labArgs(calib, fmt.Sprintf(format, hosts)), func() {}, nil
	}
}

// labOf is the network of a lab file's text, its number of hosts at the end.
func labOf(calib, text string, hosts int) ([]string, func(), error) {
	dir, err := os.MkdirTemp("", "calib-budgets-lab-")
	if err != nil {
		return nil, nil, err
	}
	remove := func() { _ = os.RemoveAll(dir) }
	path := filepath.Join(dir, "lab.yaml")
	if err := os.WriteFile(path, fmt.Appendf(nil, "%shosts: %d\n", text, hosts), 0o600); err != nil {
		remove()
		return nil, nil, err
	}
	return labArgs(calib, path), remove, nil
}

// slowLab: a port takes 31.25 µs/B, which is 256 kbit/s, and 100 ms pass behind it.
func slowLab(_ context.Context, calib string, hosts int) ([]string, func(), error) {
	return labOf(calib, "name: slow\nmode: switched\nmss: 1448\nhost: {a: 20e-6, b: 1e-6}\nmedium: {a: 0, b: 31.25e-6}\nl: 0.1\n", hosts)
}

// fastLab is the example with another number of hosts.
func fastLab(_ context.Context, calib string, hosts int) ([]string, func(), error) {
	text, err := os.ReadFile("examples/lab-cluster-fast.yaml")
	if err != nil {
		return nil, nil, err
	}
	var kept []string
	for _, line := range strings.SplitAfter(string(text), "\n") {
		if !strings.HasPrefix(line, "hosts:") {
			kept = append(kept, line)
		}
	}
	return labOf(calib, strings.Join(kept, ""), hosts)
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
	return []string{calib, "run", "--hosts", file, "--launch", launch}, remove, nil
}
