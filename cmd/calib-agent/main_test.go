package main

import (
	"context"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"calib/agent"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "agent" {
		main()
		return
	}
	os.Exit(m.Run())
}

// process is a calib-agent with its standard streams.
type process struct {
	io.Reader
	io.WriteCloser
}

// It takes what calib starts agents with, and serves a coordinator over its standard streams until they close.
func TestServes(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "agent", "--stdio", "--data", "127.0.0.1:0")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c := agent.NewClient("h1", process{out, in}, agent.ClientOptions{})
	h, err := c.Hello(t.Context(), true)
	if err != nil || !strings.HasPrefix(h.Addr, "127.0.0.1:") || len(h.Now.CPUs) == 0 || h.Now.Loopback == 0 {
		t.Errorf("the agent says %+v, %v", h, err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the agent ended with %v", err)
	}
}

func TestArguments(t *testing.T) {
	for args, say := range map[string]string{
		"":                                     "want agent",
		"run":                                  "want agent",
		"agent":                                "give --stdio",
		"agent --stdio --join x1":              "give --stdio",
		"agent --stdio more":                   "give --stdio",
		"agent --stdio --data 127.0.0.1:70000": "70000",
		"agent --stdio --cpu x":                "cpu",
	} {
		if err := run(context.Background(), strings.Fields(args)); err == nil || !strings.Contains(err.Error(), say) {
			t.Errorf("%q: got %v, want an error that says %q", args, err, say)
		}
	}
}
