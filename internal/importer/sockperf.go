package importer

import (
	"cmp"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// sockperf ping-pong: its summary, or the file of --full-log with every packet. The summary's latency is half the round
// trip (the whole with --full-rtt, which it then names so); the log has the client's stamps before sending and after
// receiving, so that their difference is the round trip, which is halved here. The median stands for a summary. Source:
// client.cpp (dumpFullLog, client_stats_print: denominator full_rtt ? 1 : 2), sockperf(1).
var sockperfFacts = map[string]*regexp.Regexp{
	"version":  regexp.MustCompile(`version #?([0-9][^ =]*)`),
	"bytes":    regexp.MustCompile(`--?msg-size=(\d+)`),
	"summary":  regexp.MustCompile(`Summary: (?:Latency.*|(\S.*)) is\s+([0-9.]+) usec`),
	"median":   regexp.MustCompile(`percentile 50\.?0* =\s*([0-9.]+)`),
	"burst":    regexp.MustCompile(`--burst=(\d+)`),
	"observed": regexp.MustCompile(`Total (\d+) observations`),
}

const sockperfHeading = "packet, txTime(sec), rxTime(sec)"

func readSockperf(text string, in *input) {
	facts := map[string][]string{}
	var times []int64
	inLog := false
	in.each(text, func(line string) {
		if strings.HasPrefix(line, sockperfHeading) {
			in.want(times == nil, "a second log, of another server: want one server")
			inLog = true
			return
		}
		if inLog = inLog && startsWithDigit(line); inLog {
			times = append(times, in.packet(line))
			return
		}
		in.want(!strings.Contains(line, "Message Rate is"), "a throughput test, want ping-pong: messages handed over "+
			"say nothing of their delivery")
		in.want(!strings.Contains(line, " of burst of "), "bursts of messages (-b), want one message under way")
		for name, is := range sockperfFacts {
			if m := is.FindStringSubmatch(line); m != nil {
				in.want(name != "summary" || facts[name] == nil, "a second summary, of another server or run: want one "+
					"a file")
				facts[name] = m
			}
		}
	})
	in.line = 0
	fact := func(name string, group int) (text string) {
		if m := facts[name]; m != nil {
			text = m[group]
		}
		return text
	}
	if v := fact("version", 1); v != "" {
		in.tool = "sockperf " + v
	}
	bytes := in.Bytes
	if given := fact("bytes", 1); given != "" {
		bytes = in.size(given, 1, "--msg-size=%s, want bytes")
		in.want(in.Bytes == 0 || bytes == in.Bytes, "messages of %d B, but %d were given", bytes, in.Bytes)
	}
	in.want(times != nil || facts["summary"] != nil, "no summary (\"Summary: Latency is … usec\") and no log of packets "+
		"in it")
	burst := cmp.Or(fact("burst", 1), "1")
	in.want(burst == "1", "bursts of %s messages (--burst), want one message under way", burst)
	in.want(bytes > 0, "it does not tell the size of its messages: give it (--bytes N)")
	in.note("sockperf does not write its mode: the times are taken for those of ping-pong, one message under way")
	if times != nil {
		in.note("sockperf's log has a time of sending and of receiving for each packet, the whole round trip: halved")
		in.add(pingpongSample(bytes, 1, times...))
		return
	}
	unit := 1e-6
	if fact("summary", 1) == "" {
		in.note("sockperf's summary is of half the round trip")
	} else {
		unit /= 2
		in.note("sockperf's summary is of the whole round trip (--full-rtt): halved")
	}
	what, value := "median", fact("median", 1)
	if value == "" {
		what, value = "mean", fact("summary", 2)
	}
	ns := in.duration(value, unit, "%q, want a latency in µs")
	in.note("the %s of sockperf's summary is one value for each run; --full-log has every packet", what)
	observed, _ := strconv.ParseFloat(fact("observed", 1), 64)
	in.add(pingpongSample(bytes, observed, ns))
}

// packet reads a line of the log: number, sent [s], received [s], latency [µs]. Half the round trip is returned [ns].
func (in *input) packet(line string) int64 {
	f := append(strings.Split(line, ","), "", "")
	tx, err1 := strconv.ParseFloat(strings.TrimSpace(f[1]), 64)
	rx, err2 := strconv.ParseFloat(strings.TrimSpace(f[2]), 64)
	in.want(err1 == nil && err2 == nil && tx > 0 && rx > tx && rx <= 1e15 && rx-tx <= maxSeconds,
		"%q, want a time of sending and a later one of receiving, in s", line)
	return max(1, int64(math.Round((rx-tx)*1e9/2)))
}
