package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
)

// relay is a launcher of the tests of faults: it runs a command on a host of a lab, as "ip netns exec" does, and stands
// between the coordinator and it, as sshd would. Its process is in the file WORK/HOST.relay.
func relay() {
	host := os.Args[1]
	file := filepath.Join(os.Getenv("WORK"), host+".relay")
	if err := os.WriteFile(file, []byte(strconv.Itoa(os.Getpid())), 0o600); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	cmd := exec.Command("ip", append([]string{"netns", "exec", host}, os.Args[2:]...)...)
	cmd.Stdout, cmd.Stderr = struct{ io.Writer }{os.Stdout}, os.Stderr // not a file: this process copies it
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	go func() {
		_, _ = io.Copy(in, os.Stdin) // ends with the coordinator or the agent
		in.Close()
	}()
	_ = cmd.Wait()
	os.Exit(max(0, cmd.ProcessState.ExitCode()))
}
