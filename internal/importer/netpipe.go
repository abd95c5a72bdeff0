package importer

import (
	"math"
	"regexp"
	"strconv"
	"strings"
)

// NetPIPE 3, its file np.out (bytes, rate, seconds) or what it prints. The time is one way, half the round trip, of the
// fastest of its trials, each the mean of many; a Mbps of it is 2^20 bit/s. Source: netpipe.c of NetPIPE 3.7 (variables
// t and bps of bwdata: the minimum over TRIALS of elapsed/(2·repetitions), bits/(t·1024·1024)).
var netpipeLine = regexp.MustCompile(
	`(?m)^\s*\d+:\s+(\d+) bytes\s+(\d+) times -->\s+([0-9.]+) Mbps in\s+([0-9.]+) usec`)

const (
	mebibit = 1 << 20
	// netpipeAgree is by how much bytes, time and rate of a row may disagree: they are rounded where they are printed.
	netpipeAgree = 0.02
)

func readNetpipe(text string, in *input) {
	printed := netpipeLine.MatchString(text)
	in.each(text, func(line string) {
		f, unit, averaged := strings.Fields(line), 1.0, 0.0
		if m := netpipeLine.FindStringSubmatch(line); m != nil {
			f, unit = []string{m[1], m[3], m[4]}, 1e-6
			averaged, _ = strconv.ParseFloat(m[2], 64)
		} else if printed || len(f) == 0 {
			if strings.Contains(line, "error encountered") {
				in.note("%s, line %d: NetPIPE ended early: %s", in.File, in.line, strings.TrimSpace(line))
			}
			return
		}
		in.want(len(f) == 3, "%d columns, want the three of NetPIPE 3: bytes, Mbps, seconds", len(f))
		if in.err == nil {
			in.netpipe(f, unit, averaged)
		}
	})
	in.note("NetPIPE's time is half the round trip, the fastest of its trials, each a mean: lower than a median, and " +
		"one value for each size")
	in.note("it is taken to be a ping-pong: NetPIPE does not write whether it streamed (-s)")
}

func (in *input) netpipe(f []string, unit, averaged float64) {
	bytes := in.size(f[0], 1, "%q, want bytes")
	rate, err := strconv.ParseFloat(f[1], 64)
	in.want(err == nil && rate >= 0 && rate <= 1e15, "%q, want a rate in Mbps", f[1])
	ns := in.duration(f[2], unit, "%q, want a time above 0")
	// The rate is bytes over time, or twice that where both ends send at once. It is printed to 0.01, the time to 10 ns:
	// of a slow path the rate does not tell.
	own := 8 * float64(bytes) / (mebibit * float64(ns) * 1e-9)
	is := func(times float64) bool {
		return math.Abs(rate-times*own) < 0.005+1e-9+times*own*(netpipeAgree+5/float64(ns))
	}
	in.want(is(1) || !is(2), "both ways at once (-2), want NPtcp without -2")
	in.want(is(1), "%s bytes in %d ns are not %s Mbps (of 2^20 bit/s)", f[0], ns, f[1])
	in.add(pingpongSample(bytes, averaged, ns))
}
