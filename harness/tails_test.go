package harness

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"calib/fit"
	"calib/internal/importer"
	"calib/internal/stats"
	"calib/internal/units"
	"calib/params"
)

const sockperfLeast = 14 // bytes of a message: it has no smaller ones

// timesApart is how far times of two programs in a lab may be apart, as a share: what their hosts add differs.
const timesApart = 0.02

const tailsHeader = "quantile | sockperf before and after, half round trips | calib | 95% interval"

// besideSockperf runs sockperf between two hosts of the lab for half a minute before the run and after it. It logs the
// time of each round trip beside the run directory.
const besideSockperf = `set -e
hosts=$1
shift
host() { grep -v '^#' "$hosts" | sed -n "$1p" | sed 's/ .*//'; }
address=$(grep -v '^#' "$hosts" | sed -n '2s/.* addr=\([^ ]*\).*/\1/p')
ip netns exec "$(host 2)" sockperf server --tcp -i "$address" -p 11199 >/dev/null 2>&1 &
server=$!
trap 'kill $server 2>/dev/null || true' EXIT
sleep 1
trips() {
	ip netns exec "$(host 1)" sockperf ping-pong --tcp -i "$address" -p 11199 -m 14 -t 30 --full-log "$0-$1.csv" >/dev/null 2>&1
}
trips before
code=0
"$@" || code=$?
trips after
exit $code`

// tails holds p50, p99 and p999 of the smallest messages against sockperf's: they are of all messages, those that were
// sent again included.
func tails(t *testing.T, r run) (out []line) {
	var logs [][]float64 // before the run and after it
	for _, when := range []string{"before", "after"} {
		times := must(halfTrips(r.dir + "-" + when + ".csv"))
		slices.Sort(times)
		logs = append(logs, times)
	}
	p50 := params.Parameter{}
	if at := r.p.Times(); len(at) > 0 {
		p50 = params.Parameter{Value: &at[0].Measured, CI95: &[2]float64{at[0].Lo, at[0].Hi}}
	}
	for _, q := range []struct {
		name  string
		level float64
		says  params.Parameter
	}{{"p50", 0.5, p50}, {"p99", 0.99, r.p.Parameters["p99"]}, {"p999", 0.999, r.p.Parameters["p999"]}} {
		// sockperf's own messages are a sample too: its quantiles lie between these ranks in 95% of samples.
		from, to := math.Inf(1), 0.0
		var found []string
		for _, times := range logs {
			spread := 1.96 * math.Sqrt(q.level*(1-q.level)/float64(len(times)))
			from = min(from, stats.SortedQuantile(times, max(0, q.level-spread)))
			to = max(to, stats.SortedQuantile(times, min(1, q.level+spread)))
			found = append(found, fmt.Sprintf("%s of %d", units.Format(stats.SortedQuantile(times, q.level), "s"), len(times)))
		}
		l := line{cells: []string{q.name, strings.Join(found, ", "), "–", q.says.Why}, verdict: good}
		var lo, hi float64
		known := q.says.CI95 != nil
		if known {
			lo, hi = q.says.CI95[0], q.says.CI95[1]
			l.cells[3] = fmt.Sprintf("%s to %s", units.Format(lo, "s"), units.Format(hi, "s"))
		}
		if q.says.Value != nil {
			l.cells[2] = units.Format(*q.says.Value, "s")
		} else if b := q.says.Bound; b != nil {
			known, lo, hi = true, b[0], b[1]
			l.cells[3] = fmt.Sprintf("from %s on: %s", units.Format(lo, "s"), short(q.says.Why))
		}
		if known && q.says.Value == nil {
			l.verdict = "no value"
		}
		if !known || to*(1+timesApart) < lo || from > hi*(1+timesApart) {
			l.verdict = outside
		}
		out = append(out, l)
	}
	return out
}

// halfTrips are the half round trips [s] of sockperf's full log, as calib imports them.
func halfTrips(file string) ([]float64, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var log importer.Import
	if err := log.Read(f, importer.Options{Format: "sockperf", File: file, Bytes: sockperfLeast}); err != nil {
		return nil, err
	}
	return fit.Seconds(log.Dataset("", 0).Samples[0].NS), nil
}

// The log of sockperf has three columns, and four in newer versions, below a summary.
func TestHalfTrips(t *testing.T) {
	const text = "summary, of 2, messages\npacket, txTime(sec), rxTime(sec), latency(usec)\n0, 2.421, 2.423, 1000.0\n" +
		"1, 3.5, 3.504\n"
	got, err := halfTrips(put(t, t.TempDir(), "log.csv", text))
	if err != nil || len(got) != 2 || math.Abs(got[0]-1e-3) > 1e-9 || math.Abs(got[1]-2e-3) > 1e-9 {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := halfTrips(os.DevNull); err == nil {
		t.Error("no messages are an error")
	}
}
