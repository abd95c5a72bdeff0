package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"calib/internal/programs"
)

// side is where one end of a pair runs: a command prefix (ip netns exec NAME, or nothing), its address and its CPU.
type side struct {
	prefix []string
	addr   string
	cpu    int
}

// command is a program that is stopped when ctx ends.
func command(ctx context.Context, args ...string) *exec.Cmd {
	return programs.Command(ctx, 2*time.Second, args...)
}

// runPair runs two calib processes, the listener at to, and returns what each measured.
func runPair(ctx context.Context, from, to side, s setup) (sender, receiver result, err error) {
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
		return sender, receiver, errors.Join(fmt.Errorf("the listener printed no address: %w", err), listener.Wait())
	}
	s.Self, s.Listen, s.CPU = 0, from.addr+":0", from.cpu
	s.Peer, s.Consent, _ = strings.Cut(strings.TrimSpace(line), " ")
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
	c := command(ctx, slices.Concat(at.prefix, []string{exe, childArg})...)
	c.Stderr = os.Stderr
	c.Stdin = strings.NewReader(string(text))
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := c.Start(); err != nil {
		return nil, nil, fmt.Errorf("start a calib process: %w", err)
	}
	return c, bufio.NewReader(out), nil
}
