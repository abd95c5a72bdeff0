package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	sockperfPort = "11199"
	iperfPort    = "5201"
	clientTries  = 5
	clientPause  = 200 * time.Millisecond
)

// onCPU is the command prefix for one end, bound to its CPU.
func (e side) onCPU() []string {
	return slices.Concat(e.prefix, []string{"taskset", "-c", strconv.Itoa(e.cpu)})
}

// runNPtcp runs NetPIPE's ping-pong and lets it write its table to a file.
func runNPtcp(ctx context.Context, from, to side, file string, args ...string) error {
	server := append([]string{"NPtcp"}, args...)
	_, err := clientServer(ctx, to, server, "Send and receive buffers", from, append(server, "-h", to.addr, "-o", file))
	return err
}

// runSockperf runs sockperf's ping-pong for a second and returns what it printed.
func runSockperf(ctx context.Context, from, to side, size string, args ...string) (string, error) {
	at := []string{"--tcp", "-i", to.addr, "-p", sockperfPort}
	return clientServer(ctx, to, append([]string{"sockperf", "server"}, at...), "using recvfrom",
		from, slices.Concat([]string{"sockperf", "ping-pong"}, at, []string{"-m", size, "-t", "1"}, args))
}

// runIperf3 runs a stream of iperf3 and returns its report in JSON.
func runIperf3(ctx context.Context, from, to side, s settings, write string, args ...string) (string, error) {
	return clientServer(ctx, to, []string{"iperf3", "-s", "-1", "--forceflush", "-B", to.addr, "-p", iperfPort}, "Server listening",
		from, append([]string{"iperf3", "-J", "-c", to.addr, "-p", iperfPort, "-l", write, "-O", fmt.Sprint(streamWarm.Seconds()),
			"-t", fmt.Sprint(s.streamFor.Seconds())}, args...))
}

// clientServer starts a server at to, waits until it has printed ready, runs the client at from to its end and returns what
// the client printed. The server is then stopped, if it does not end by itself.
func clientServer(ctx context.Context, to side, server []string, ready string, from side, client []string) (string, error) {
	sctx, stop := context.WithCancel(ctx)
	defer stop()
	s := command(sctx, append(to.onCPU(), server...)...)
	r, w, err := os.Pipe()
	if err != nil {
		return "", err
	}
	defer r.Close()
	s.Stdout, s.Stderr = w, w
	err = s.Start()
	w.Close()
	if err != nil {
		return "", err
	}
	if err := waitFor(r, ready); err != nil {
		stop()
		return "", errors.Join(fmt.Errorf("%s: %w", server[0], err), s.Wait())
	}
	args := append(from.onCPU(), client...)
	out, err := command(ctx, args...).Output()
	for try := 1; err != nil && try < clientTries && ctx.Err() == nil; try++ {
		time.Sleep(clientPause) // some servers print that they are ready before they listen
		out, err = command(ctx, args...).Output()
	}
	stop()
	_ = s.Wait() // it was stopped: its exit code means nothing
	if err != nil {
		return "", fmt.Errorf("%s: %w", strings.Join(client, " "), err)
	}
	return string(out), nil
}

// waitFor reads until a line holds text; what follows is read and thrown away, so that the writer does not block.
func waitFor(r io.Reader, text string) error {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		if strings.Contains(lines.Text(), text) {
			go io.Copy(io.Discard, r)
			return nil
		}
	}
	return fmt.Errorf("it ended before it printed %q", text)
}
