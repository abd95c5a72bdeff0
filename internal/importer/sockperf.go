package importer

import (
	"math"
	"regexp"
	"strings"
)

// sockperf ping-pong: its summary, or the file of --full-log with every packet. The summary's latency is half the round
// trip (the whole with --full-rtt, which it then names so); the log has the client's stamps before sending and after
// receiving, so that their difference is the round trip, which is halved here. The median stands for a summary.
// Source: client.cpp (dumpFullLog, client_stats_print: denominator full_rtt ? 1 : 2), sockperf(1).
var (
	sockperfVersion  = regexp.MustCompile(`version #?([0-9][^ =]*)`)
	sockperfBytes    = regexp.MustCompile(`--?msg-size=(\d+)`)
	sockperfSummary  = regexp.MustCompile(`Summary: (\S.*) is\s+([0-9.]+) usec`)
	sockperfMedian   = regexp.MustCompile(`percentile 50\.?0* =\s*([0-9.]+)`)
	sockperfObserved = regexp.MustCompile(`Total (\d+) observations`)
	sockperfHeading  = "packet, txTime(sec), rxTime(sec)"
)

func looksSockperf(t text) bool { return t.has("sockperf", sockperfHeading) }

// sockperfRun is what was found in one output.
type sockperfRun struct {
	bytes    int64
	full     bool   // the summary's times are round trips
	summary  string // latency [µs] of the summary, and of its median
	median   string
	observed float64
	line     int // of what was found last
	times    []int64
}

func readSockperf(t text, c *collector) error {
	run := sockperfRun{bytes: c.o.Bytes}
	inLog := false
	for i, line := range t.lines {
		switch {
		case strings.HasPrefix(line, sockperfHeading):
			if len(run.times) > 0 {
				return c.fail(i+1, "a second log, of another server: want one server")
			}
			inLog = true
		case inLog && startsWithDigit(line):
			ns, err := c.packet(i+1, line)
			if err != nil {
				return err
			}
			run.times = append(run.times, ns)
		default:
			inLog = false
			if err := c.sockperfLine(i+1, line, &run); err != nil {
				return err
			}
		}
	}
	return c.sockperfDone(&run)
}

// sockperfLine reads a line that is not of the log.
func (c *collector) sockperfLine(n int, line string, run *sockperfRun) error {
	if strings.Contains(line, "Message Rate is") {
		return c.fail(n, "a throughput test, want ping-pong: messages handed over say nothing of their delivery")
	}
	if m := sockperfVersion.FindStringSubmatch(line); m != nil && strings.Contains(line, "version") {
		c.tool = "sockperf " + m[1]
	}
	if m := sockperfBytes.FindStringSubmatch(line); m != nil {
		bytes, ok := size(m[1])
		switch {
		case !ok || bytes == 0:
			return c.fail(n, "--msg-size=%s, want bytes", m[1])
		case c.o.Bytes != 0 && bytes != c.o.Bytes:
			return c.fail(n, "messages of %d B, but %d were given", bytes, c.o.Bytes)
		}
		run.bytes = bytes
	}
	if m := sockperfSummary.FindStringSubmatch(line); m != nil {
		if run.summary != "" {
			return c.fail(n, "a second summary, of another server or run: want one a file")
		}
		run.summary, run.full, run.line = m[2], !strings.HasPrefix(m[1], "Latency"), n
	}
	if m := sockperfMedian.FindStringSubmatch(line); m != nil {
		run.median, run.line = m[1], n
	}
	if m := sockperfObserved.FindStringSubmatch(line); m != nil {
		run.observed, _ = positive(m[1])
	}
	return nil
}

// packet reads a line of the log: number, sent [s], received [s], latency [µs]. Half the round trip is returned [ns].
func (c *collector) packet(n int, line string) (int64, error) {
	f := strings.Split(line, ",")
	if len(f) < 3 {
		return 0, c.fail(n, "%d columns, want packet, txTime, rxTime", len(f))
	}
	tx, ok1 := positive(strings.TrimSpace(f[1]))
	rx, ok2 := positive(strings.TrimSpace(f[2]))
	if !ok1 || !ok2 || rx <= tx || rx-tx > maxSeconds {
		return 0, c.fail(n, "%q, want a time of sending and a later one of receiving, in s", line)
	}
	return max(1, int64(math.Round((rx-tx)*1e9/2))), nil
}

// sockperfDone adds the run's sample.
func (c *collector) sockperfDone(run *sockperfRun) error {
	if len(run.times) == 0 && run.summary == "" {
		return c.fail(0, "no summary (\"Summary: Latency is … usec\") and no log of packets in it")
	}
	if run.bytes == 0 {
		return c.fail(0, "it does not tell the size of its messages: give it (--bytes N)")
	}
	c.note("sockperf does not write its mode: the times are taken for those of ping-pong, one message under way")
	if len(run.times) > 0 {
		c.note("sockperf's log has a time of sending and of receiving for each packet, the whole round trip: halved")
		c.add(pingpongSample(run.bytes, 0, run.times...))
		return nil
	}
	value, what := run.summary, "mean"
	if run.median != "" {
		value, what = run.median, "median"
	}
	unit := 1e-6
	if run.full {
		unit /= 2
		c.note("sockperf's summary is of the whole round trip (--full-rtt): halved")
	} else {
		c.note("sockperf's summary is of half the round trip")
	}
	ns, ok := duration(value, unit)
	if !ok {
		return c.fail(run.line, "%q, want a latency in µs", value)
	}
	c.note("the %s of sockperf's summary is one value for each run; --full-log has every packet", what)
	c.add(pingpongSample(run.bytes, run.observed, ns))
	return nil
}
