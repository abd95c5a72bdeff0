package importer

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// OSU micro-benchmarks: the tables of osu_latency, osu_bw and osu_bibw. osu_latency prints half the mean round trip in
// µs; osu_bw and osu_bibw print 10⁶ bytes/s of windows of messages sent without waiting, osu_bibw of both directions
// together. Source: osu_latency.c ((t_end − t_start)·1e6/(2·iterations)), osu_bw.c and osu_bibw.c
// (size/1e6·iterations·window/t, times 2 in osu_bibw) of OMB 5 and 7, and the column headings of osu_util.
var (
	osuTitle   = regexp.MustCompile(`^#\s*OSU MPI(?:-\S+)?\s+(.*?)\s*(?:Test)?\s*v?([0-9][0-9.]*)?$`)
	osuHeading = regexp.MustCompile(`^#\s*Size\s+(?:Avg |Bi-)?(Latency|Bandwidth)\s*\((\S+)\)`)
)

// osuTable is a benchmark and the column that its table must have.
type osuTable struct{ phase, column, unit string }

// osuTables are the benchmarks that are read, by the name in their title.
var osuTables = map[string]osuTable{
	"Latency":                  {"osu_latency", "Latency", "us"},
	"Bandwidth":                {"osu_bw", "Bandwidth", "MB/s"},
	"Bi-Directional Bandwidth": {"osu_bibw", "Bandwidth", "MB/s"},
}

func looksOSU(t text) bool { return t.has("# OSU") }

// osuRow is a row of a table of rates.
type osuRow struct {
	bytes int64
	rate  float64 // B/s
}

func readOSU(t text, c *collector) {
	var table osuTable // whose rows may follow
	open := false
	var rates []osuRow
	c.each(t, func(line string) {
		line = strings.TrimSpace(line)
		if m := osuTitle.FindStringSubmatch(line); m != nil {
			c.windows(table.phase, rates)
			rates, open, table = nil, false, osuTables[m[1]]
			c.want(table.phase != "", "benchmark %q, want Latency, Bandwidth or Bi-Directional Bandwidth", m[1])
			if m[2] != "" {
				c.tool = "OSU micro-benchmarks " + m[2]
			}
			return
		}
		if m := osuHeading.FindStringSubmatch(line); m != nil {
			open = true
			c.want(table.phase != "", "a table without a title, want \"# OSU MPI Latency Test\" or the like before it")
			c.want(table.column == m[1] && table.unit == m[2], "column %s (%s), want %s (%s) of %s", m[1], m[2], table.column,
				table.unit, table.phase)
			if table.phase == "osu_latency" {
				c.note("osu_latency's time is half the round trip, a mean over its iterations: one value for each size")
			}
			return
		}
		if !open || !startsWithDigit(line) {
			return
		}
		f := append(strings.Fields(line), "")
		value := f[1]
		bytes, ok := size(f[0])
		c.want(ok && value != "", "%q, want bytes and a value", line)
		switch {
		case bytes == 0:
			c.note(noBytes)
		case table.phase == "osu_latency":
			ns, ok := duration(value, 1e-6)
			c.want(ok, "%q, want a latency in µs", value)
			c.add(pingpongSample(bytes, 0, ns))
		default:
			mb, ok := positive(value)
			c.want(ok && float64(bytes)/(mb*1e6) <= maxSeconds, "%q, want a rate in MB/s", value)
			rates = append(rates, osuRow{bytes, mb * 1e6})
		}
	})
	if c.err == nil {
		c.windows(table.phase, rates)
	}
}

// windows adds a table of rates. Only its largest messages are a stream, whose rate does not depend on the cost of a
// message.
func (c *collector) windows(phase string, rows []osuRow) {
	if len(rows) == 0 {
		return
	}
	for _, r := range rows {
		c.add(importedSample(phase, r.bytes, 0, max(1, nanos(float64(r.bytes)/r.rate, 1))))
	}
	if phase != "osu_bw" {
		c.note("osu_bibw sends both ways at once: its times of a message are kept as %q, and nothing is fitted to them", Experiment)
		return
	}
	top := slices.MaxFunc(rows, func(a, b osuRow) int { return cmp.Compare(a.bytes, b.bytes) })
	chunk := top.bytes
	for float64(chunk)/top.rate < 1e-3 && chunk < maxBytes/2 {
		chunk *= 2 // so that rounding to a nanosecond takes nothing from the rate
	}
	c.add(streamSample(top.bytes, chunk, float64(chunk)/top.rate))
	c.note("osu_bw's rate at %d B, its largest, is the rate of a stream; those of shorter messages include the cost of a "+
		"message and are kept as %q; the end of each window waits for an answer", top.bytes, Experiment)
}
