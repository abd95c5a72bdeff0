package importer

import (
	"regexp"
	"strings"

	"calib/internal/dataset"
)

// OSU micro-benchmarks: the tables of osu_latency, osu_bw and osu_bibw. osu_latency prints half the mean round trip in
// µs; osu_bw and osu_bibw print 10⁶ bytes/s of windows of messages sent without waiting, osu_bibw of both directions
// together. Source: osu_latency.c ((t_end − t_start)·1e6/(2·iterations)), osu_bw.c and osu_bibw.c
// (size/1e6·iterations·window/t, times 2 in osu_bibw) of OMB 5 and 7, and the column headings of osu_util.
var (
	osuTitle   = regexp.MustCompile(`^#\s*OSU MPI(?:-\S+)?\s+(.*?)\s*(?:Test)?\s*v?([0-9][0-9.]*)?$`)
	osuHeading = regexp.MustCompile(`^#\s*Size\s+(?:Avg |Bi-)?(Latency|Bandwidth)\s*\((\S+)\)`)
)

// osuTables are the benchmarks that are read, by the name in their title.
var osuTables = map[string]struct{ phase, column, unit string }{
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

func readOSU(t text, k *book) error {
	phase, open := "", false
	var rates []osuRow
	flush := func() {
		k.windows(phase, rates)
		rates = nil
	}
	for i, line := range t.lines {
		line = strings.TrimSpace(line)
		if m := osuTitle.FindStringSubmatch(line); m != nil {
			flush()
			table, known := osuTables[m[1]]
			if !known {
				return k.fail(i+1, "benchmark %q, want Latency, Bandwidth or Bi-Directional Bandwidth", m[1])
			}
			phase, open = table.phase, false
			if m[2] != "" {
				k.tool = "OSU micro-benchmarks " + m[2]
			}
			continue
		}
		if m := osuHeading.FindStringSubmatch(line); m != nil {
			if err := k.osuHeading(i+1, t, phase, m); err != nil {
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
			return k.fail(i+1, "%q, want bytes and a value", line)
		}
		if bytes == 0 {
			k.note("messages of 0 bytes are left out")
			continue
		}
		if phase == "osu_latency" {
			ns, ok := duration(f[1], 1e-6)
			if !ok {
				return k.fail(i+1, "%q, want a latency in µs", f[1])
			}
			k.add(half(bytes, 0, ns))
			continue
		}
		mb, ok := positive(f[1])
		if !ok || float64(bytes)/(mb*1e6) > maxSeconds {
			return k.fail(i+1, "%q, want a rate in MB/s", f[1])
		}
		rates = append(rates, osuRow{bytes, mb * 1e6})
	}
	flush()
	return nil
}

// osuHeading checks that a table is of its title, and says what its figures are.
func (k *book) osuHeading(line int, t text, phase string, m []string) error {
	if phase == "" {
		return k.fail(line, "a table without a title, want \"# OSU MPI Latency Test\" or alike before it")
	}
	for _, table := range osuTables {
		if table.phase == phase && (table.column != m[1] || table.unit != m[2]) {
			return k.fail(line, "column %s (%s), want %s (%s) of %s", m[1], m[2], table.column, table.unit, phase)
		}
	}
	if phase == "osu_latency" {
		k.note("osu_latency's time is half the round trip, a mean over its iterations: one value for each size")
	}
	return nil
}

// windows keeps a table of rates. Only its largest messages are a stream, in which the start of a message is lost.
func (k *book) windows(phase string, rows []osuRow) {
	if len(rows) == 0 {
		return
	}
	top := rows[0]
	for _, r := range rows {
		if r.bytes > top.bytes {
			top = r
		}
	}
	for _, r := range rows {
		k.add(other(phase, r.bytes, 0, max(1, nanos(float64(r.bytes)/r.rate, 1))))
	}
	if phase != "osu_bw" {
		k.note("osu_bibw sends both ways at once: its times of a message are kept as %q, and nothing is fitted to them", Experiment)
		return
	}
	var s dataset.Sample
	chunk := top.bytes
	for float64(chunk)/top.rate < 1e-3 && chunk < maxBytes/2 {
		chunk *= 2 // so that rounding to a nanosecond takes nothing from the rate
	}
	s = stream(top.bytes, chunk, float64(chunk)/top.rate)
	k.add(s)
	k.note("osu_bw's rate at %d bytes, its largest, is the rate of a stream; those of shorter messages hold the cost of a "+
		"message and are kept as %q; the end of each window waits for an answer", top.bytes, Experiment)
}
