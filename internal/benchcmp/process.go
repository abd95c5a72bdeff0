package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// side says where one end of a pair runs: a command prefix (ip netns exec NAME, or nothing), its address and its CPU.
type side struct {
	prefix []string
	addr   string
	cpu    int
}

// command is a process that ends with ctx, asked first and then killed.
func command(ctx context.Context, prefix []string, args ...string) *exec.Cmd {
	args = append(append([]string(nil), prefix...), args...)
	c := exec.CommandContext(ctx, args[0], args[1:]...)
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	c.WaitDelay = 2 * time.Second
	return c
}

// runPair runs two calib processes, the listener at to, and returns what each measured.
func runPair(ctx context.Context, from, to side, s setup) (sender, receiver reading, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if _, err := rand.Read(s.Key[:]); err != nil {
		return sender, receiver, err
	}
	s.Expires = time.Now().Add(time.Hour).Unix()
	s.Self, s.Listen, s.CPU = 1, to.addr+":0", to.cpu
	listener, out, err := startChild(ctx, to, s)
	if err != nil {
		return sender, receiver, err
	}
	line, err := out.ReadString('\n')
	if err != nil {
		cancel()
		return sender, receiver, errors.Join(fmt.Errorf("the listener gave no address: %w", err), listener.Wait())
	}
	s.Self, s.Listen, s.CPU, s.Peer = 0, from.addr+":0", from.cpu, strings.TrimSpace(line)
	dialer, dout, err := startChild(ctx, from, s)
	if err != nil {
		cancel()
		return sender, receiver, errors.Join(err, listener.Wait())
	}
	err = errors.Join(json.NewDecoder(dout).Decode(&sender), json.NewDecoder(out).Decode(&receiver))
	return sender, receiver, errors.Join(err, dialer.Wait(), listener.Wait())
}

func startChild(ctx context.Context, at side, s setup) (*exec.Cmd, *bufio.Reader, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	text, err := json.Marshal(s)
	if err != nil {
		return nil, nil, err
	}
	c := command(ctx, at.prefix, exe, childArg)
	c.Stderr = os.Stderr
	c.Stdin = strings.NewReader(string(text))
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := c.Start(); err != nil {
		return nil, nil, fmt.Errorf("start a calib process: %w", err)
	}
	return c, bufio.NewReader(io.Reader(out)), nil
}

const (
	clientTries = 5
	clientPause = 200 * time.Millisecond
)

// clientServer starts a server, waits until it has printed ready, runs the client to its end and returns what the
// client printed. The server is then stopped, if it does not end by itself.
func clientServer(ctx context.Context, sp, server []string, ready string, cp, client []string) (string, error) {
	sctx, stop := context.WithCancel(ctx)
	defer stop()
	s := command(sctx, sp, server...)
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
	out, err := command(ctx, cp, client...).Output()
	for try := 1; err != nil && try < clientTries && ctx.Err() == nil; try++ {
		time.Sleep(clientPause) // some servers say they are ready before they listen
		out, err = command(ctx, cp, client...).Output()
	}
	stop()
	// The server was told to stop: how it ended says nothing.
	_ = s.Wait()
	if err != nil {
		return "", fmt.Errorf("%s: %w", strings.Join(client, " "), err)
	}
	return string(out), nil
}

// waitFor reads until a line holds text, then lets the rest flow away.
func waitFor(r io.Reader, text string) error {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		if strings.Contains(lines.Text(), text) {
			go io.Copy(io.Discard, r)
			return nil
		}
	}
	return fmt.Errorf("it ended before it said %q", text)
}
