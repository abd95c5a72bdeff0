package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"calib/internal/programs"
)

// steering is the file that sets which CPUs (a bit mask) receive a device's packets. Without it a veth hands each packet to
// the CPU that sent it: data and acknowledgements overtake each other, and both tools measure reordering.
const steering = "/sys/class/net/veth0/queues/rx-0/rps_cpus"

// wire makes two namespaces joined by a veth pair, the sender's received on CPU 0 and the receiver's on CPU 1; remove
// takes both away, and the pair with them.
func wire(ctx context.Context) (from, to side, remove func(), err error) {
	a, b := fmt.Sprintf("benchcmp-%d-a", os.Getpid()), fmt.Sprintf("benchcmp-%d-b", os.Getpid())
	remove = func() {
		// Not under ctx, so that an interrupt leaves nothing behind; a namespace may not have been made yet.
		_ = programs.Run(context.Background(), "", "ip", "netns", "del", a)
		_ = programs.Run(context.Background(), "", "ip", "netns", "del", b)
	}
	for _, step := range []struct{ args, input string }{
		{"netns add " + a, ""},
		{"netns add " + b, ""},
		{"link add veth0 netns " + a + " type veth peer name veth0 netns " + b, ""},
		{"-n " + a + " addr add " + fromAddr + "/24 dev veth0", ""},
		{"-n " + b + " addr add " + toAddr + "/24 dev veth0", ""},
		{"-n " + a + " link set veth0 up", ""},
		{"-n " + b + " link set veth0 up", ""},
		{"netns exec " + a + " tee " + steering, "1"},
		{"netns exec " + b + " tee " + steering, "2"},
	} {
		if err := programs.Run(ctx, step.input, append([]string{"ip"}, strings.Fields(step.args)...)...); err != nil {
			remove()
			return from, to, nil, fmt.Errorf("two namespaces (needs root): %w", err)
		}
	}
	from = side{prefix: []string{"ip", "netns", "exec", a}, addr: fromAddr, cpu: 0}
	to = side{prefix: []string{"ip", "netns", "exec", b}, addr: toAddr, cpu: 1}
	return from, to, remove, nil
}
