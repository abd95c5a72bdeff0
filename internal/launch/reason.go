package launch

import (
	"bytes"
	"slices"
	"strings"
)

// crashes begin the line by which a Go program says why it dies. What follows it, stacks and registers, says nothing to
// a user.
var crashes = []string{"fatal error: ", "panic: ", "runtime: cannot allocate memory", "runtime: out of memory", "runtime: failed to create new OS thread"}

// crash keeps the first lines of that kind of what is written to it.
type crash struct {
	lines []string
	rest  []byte // of a line that has not ended
}

// maxOfLine bounds what is kept of a line, and maxCrashes the lines.
const (
	maxOfLine  = 300
	maxCrashes = 2
)

func (c *crash) write(b []byte) {
	for len(b) > 0 && len(c.lines) < maxCrashes {
		line, rest, ended := bytes.Cut(b, []byte("\n"))
		c.rest = append(c.rest, line[:min(len(line), max(0, maxOfLine-len(c.rest)))]...)
		if b = rest; !ended {
			return
		}
		text := strings.TrimSpace(string(c.rest))
		c.rest = c.rest[:0]
		if slices.ContainsFunc(crashes, func(start string) bool { return strings.HasPrefix(text, start) }) {
			c.lines = append(c.lines, text)
		}
	}
}

// why is what can be said of the way a process ended beyond its status, as a clause in parentheses, or "".
func why(status, said string) string {
	switch {
	case strings.Contains(said, "cannot allocate memory"), strings.Contains(said, "out of memory"):
		return " (the host gave it no more memory: raise the limit there, ulimit -v or the memory of its cgroup or job)"
	case status == "signal: killed" || status == "exit status 137":
		return " (somebody killed it, or the kernel did for want of memory: dmesg there tells)"
	}
	return ""
}
