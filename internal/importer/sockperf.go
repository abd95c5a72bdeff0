package importer

import (
	"cmp"
	"math"
	"regexp"
	"strings"
)

// sockperf ping-pong: its summary, or the file of --full-log with every packet. The summary's latency is half the round
// trip (the whole with --full-rtt, which it then names so); the log has the client's stamps before sending and after
// receiving, so that their difference is the round trip, which is halved here. The median stands for a summary. Source:
// client.cpp (dumpFullLog, client_stats_print: denominator full_rtt ? 1 : 2), sockperf(1).
var (
	sockperfVersion  = regexp.MustCompile(`version #?([0-9][^ =]*)`)
	sockperfBytes    = regexp.MustCompile(`--?msg-size=(\d+)`)
	sockperfSummary  = regexp.MustCompile(`Summary: (\S.*) is\s+([0-9.]+) usec`)
	sockperfMedian   = regexp.MustCompile(`percentile 50\.?0* =\s*([0-9.]+)`)
	sockperfObserved = regexp.MustCompile(`Total (\d+) observations`)
	sockperfHeading  = "packet, txTime(sec), rxTime(sec)"
)

func looksSockperf(t text) bool { return t.has("sockperf", sockperfHeading) }

type sockperfRun struct {
	bytes    int64
	full     bool   // the summary's times are round trips
	summary  string // latency [µs] of the summary, and of its median
	median   string
	observed float64
	line     int // of what was found last
	times    []int64
}

func readSockperf(t text, c *collector) {
	run := sockperfRun{bytes: c.o.Bytes}
	inLog := false
	c.each(t, func(line string) {
		switch {
		case strings.HasPrefix(line, sockperfHeading):
			c.want(len(run.times) == 0, "a second log, of another server: want one server")
			inLog = true
		case inLog && startsWithDigit(line):
			run.times = append(run.times, c.packet(line))
		default:
			inLog = false
			c.sockperfLine(line, &run)
		}
	})
	c.sockperfDone(&run)
}

func (c *collector) sockperfLine(line string, run *sockperfRun) {
	c.want(!strings.Contains(line, "Message Rate is"), "a throughput test, want ping-pong: messages handed over say "+
		"nothing of their delivery")
	if m := sockperfVersion.FindStringSubmatch(line); m != nil {
		c.tool = "sockperf " + m[1]
	}
	if m := sockperfBytes.FindStringSubmatch(line); m != nil {
		bytes, ok := size(m[1])
		c.want(ok && bytes > 0, "--msg-size=%s, want bytes", m[1])
		c.want(c.o.Bytes == 0 || bytes == c.o.Bytes, "messages of %d B, but %d were given", bytes, c.o.Bytes)
		run.bytes = bytes
	}
	if m := sockperfSummary.FindStringSubmatch(line); m != nil {
		c.want(run.summary == "", "a second summary, of another server or run: want one a file")
		run.summary, run.full, run.line = m[2], !strings.HasPrefix(m[1], "Latency"), c.line
	}
	if m := sockperfMedian.FindStringSubmatch(line); m != nil {
		run.median, run.line = m[1], c.line
	}
	if m := sockperfObserved.FindStringSubmatch(line); m != nil {
		run.observed, _ = positive(m[1])
	}
}

// packet reads a line of the log: number, sent [s], received [s], latency [µs]. Half the round trip is returned [ns].
func (c *collector) packet(line string) int64 {
	f := strings.Split(line, ",")
	if c.want(len(f) >= 3, "%d columns, want packet, txTime, rxTime", len(f)); len(f) < 3 {
		return 0
	}
	tx, ok1 := positive(strings.TrimSpace(f[1]))
	rx, ok2 := positive(strings.TrimSpace(f[2]))
	c.want(ok1 && ok2 && rx > tx && rx-tx <= maxSeconds, "%q, want a time of sending and a later one of receiving, in s",
		line)
	return max(1, int64(math.Round((rx-tx)*1e9/2)))
}

func (c *collector) sockperfDone(run *sockperfRun) {
	c.line = 0
	c.want(len(run.times) > 0 || run.summary != "", "no summary (\"Summary: Latency is … usec\") and no log of packets "+
		"in it")
	c.want(run.bytes > 0, "it does not tell the size of its messages: give it (--bytes N)")
	c.note("sockperf does not write its mode: the times are taken for those of ping-pong, one message under way")
	if len(run.times) > 0 {
		c.note("sockperf's log has a time of sending and of receiving for each packet, the whole round trip: halved")
		c.add(pingpongSample(run.bytes, 0, run.times...))
		return
	}
	value, what := cmp.Or(run.median, run.summary), "median"
	if run.median == "" {
		what = "mean"
	}
	unit := 1e-6
	if run.full {
		unit /= 2
		c.note("sockperf's summary is of the whole round trip (--full-rtt): halved")
	} else {
		c.note("sockperf's summary is of half the round trip")
	}
	ns, ok := duration(value, unit)
	c.line = run.line
	c.want(ok, "%q, want a latency in µs", value)
	c.note("the %s of sockperf's summary is one value for each run; --full-log has every packet", what)
	c.add(pingpongSample(run.bytes, run.observed, ns))
}
