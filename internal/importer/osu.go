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

func readOSU(t text, c *collector) error {
	var table osuTable // whose rows may follow
	open := false
	var rates []osuRow
	flush := func() {
		c.windows(table.phase, rates)
		rates = nil
	}
	for i, line := range t.lines {
		line = strings.TrimSpace(line)
		if m := osuTitle.FindStringSubmatch(line); m != nil {
			flush()
			open = false
			if table = osuTables[m[1]]; table.phase == "" {
				return c.fail(i+1, "benchmark %q, want Latency, Bandwidth or Bi-Directional Bandwidth", m[1])
			}
			if m[2] != "" {
				c.tool = "OSU micro-benchmarks " + m[2]
			}
			continue
		}
		if m := osuHeading.FindStringSubmatch(line); m != nil {
			if err := c.osuHeading(i+1, table, m); err != nil {
				return err
			}
			open = true
			continue
		}
		if !open || !startsWithDigit(line) {
			continue
		}
		f := strings.Fields(line)
		bytes, ok := size(f[0])
		if !ok || len(f) < 2 {
			return c.fail(i+1, "%q, want bytes and a value", line)
		}
		if bytes == 0 {
			c.note("messages of 0 bytes are left out")
			continue
		}
		if table.phase == "osu_latency" {
			ns, ok := duration(f[1], 1e-6)
			if !ok {
				return c.fail(i+1, "%q, want a latency in µs", f[1])
			}
			c.add(pingpongSample(bytes, 0, ns))
			continue
		}
		mb, ok := positive(f[1])
		if !ok || float64(bytes)/(mb*1e6) > maxSeconds {
			return c.fail(i+1, "%q, want a rate in MB/s", f[1])
		}
		rates = append(rates, osuRow{bytes, mb * 1e6})
	}
	flush()
	return nil
}

// osuHeading checks that a table belongs to its title, and notes what its figures are.
func (c *collector) osuHeading(line int, table osuTable, m []string) error {
	if table.phase == "" {
		return c.fail(line, "a table without a title, want \"# OSU MPI Latency Test\" or the like before it")
	}
	if table.column != m[1] || table.unit != m[2] {
		return c.fail(line, "column %s (%s), want %s (%s) of %s", m[1], m[2], table.column, table.unit, table.phase)
	}
	if table.phase == "osu_latency" {
		c.note("osu_latency's time is half the round trip, a mean over its iterations: one value for each size")
	}
	return nil
}

// windows adds a table of rates. Only its largest messages are a stream, whose rate does not depend on the cost of a
// message.
func (c *collector) windows(phase string, rows []osuRow) {
	if len(rows) == 0 {
		return
	}
	top := slices.MaxFunc(rows, func(a, b osuRow) int { return cmp.Compare(a.bytes, b.bytes) })
	for _, r := range rows {
		c.add(importedSample(phase, r.bytes, 0, max(1, nanos(float64(r.bytes)/r.rate, 1))))
	}
	if phase != "osu_bw" {
		c.note("osu_bibw sends both ways at once: its times of a message are kept as %q, and nothing is fitted to them", Experiment)
		return
	}
	chunk := top.bytes
	for float64(chunk)/top.rate < 1e-3 && chunk < maxBytes/2 {
		chunk *= 2 // so that rounding to a nanosecond takes nothing from the rate
	}
	c.add(streamSample(top.bytes, chunk, float64(chunk)/top.rate))
	c.note("osu_bw's rate at %d B, its largest, is the rate of a stream; those of shorter messages include the cost of a "+
		"message and are kept as %q; the end of each window waits for an answer", top.bytes, Experiment)
}
