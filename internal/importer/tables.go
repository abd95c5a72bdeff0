package importer

import (
	"cmp"
	"regexp"
	"strings"
)

// suite is a set of benchmarks each of which prints a table: a title, a heading, a row for each message size.
type suite struct {
	tool  string // its version follows
	title string // such as it prints
	// line matches its lines: a title (1), a version (2), how many pairs or processes there are (3), a heading without
	// the size, which is the first column (4).
	line        *regexp.Regexp
	count, want string         // what is counted, and the count where two processes measure
	time, rate  *regexp.Regexp // columns that are read
	benchmarks  []benchmark    // that are read
}

type benchmark struct {
	title, name string
	rates       bool // of windows of messages, one way; else it has times of half a round trip
}

// OSU micro-benchmarks. osu_latency prints half the mean round trip in µs; osu_bw and osu_mbw_mr print 10⁶ bytes/s of
// windows of messages sent without waiting, osu_mbw_mr of all pairs together. Source: osu_latency.c
// ((t_end − t_start)·1e6/(2·iterations)), osu_bw.c and osu_mbw_mr.c (size/1e6·iterations·window/t, times pairs in
// osu_mbw_mr) of OMB 5 and 7, and the column headings of osu_util.
var osu = suite{
	tool: "OSU micro-benchmarks ", title: "# OSU MPI Latency Test",
	line: regexp.MustCompile(`^#\s*(?:OSU (?:MPI(?:-\S+)?\s+)?(.*?)\s*(?:Test)?\s*v?([0-9][0-9.]*)?|` +
		`\[ pairs: (\d+) \].*|Size\s+(.*))$`),
	count: "pairs", want: "1",
	time: regexp.MustCompile(`^(Avg )?Latency\s*\(us\)`),
	rate: regexp.MustCompile(`^(Bandwidth\s*\()?MB/s`),
	benchmarks: []benchmark{{"Latency", "osu_latency", false}, {"Bandwidth", "osu_bw", true},
		{"Multiple Bandwidth / Message Rate", "osu_mbw_mr", true}},
}

// Intel MPI Benchmarks, suite MPI1. Times of PingPong are means over the repetitions of half the round trip, in µs.
// Rates of Uniband are 10⁶ bytes/s of windows of 64 messages. Source: IMB_parse_name_mpi1.c (scale_time 0.5 of
// PingPong), IMB_bandwidth.c, IMB_output.c (headings; scaled time; throughput).
var imb = suite{
	tool: "Intel MPI Benchmarks ", title: "# Benchmarking PingPong",
	line: regexp.MustCompile(`^#\s*(?:Benchmarking\s+(\S+).*|Intel\s*\(R\) MPI Benchmarks\s+(.*?)\s*(?:,.*)?|` +
		`#processes\s*=\s*(\d+).*|bytes\s+(.*))$`),
	count: "processes", want: "2",
	time: regexp.MustCompile(`\bt(_avg)?\[usec\]`), rate: regexp.MustCompile(`Mbytes/sec`),
	benchmarks: []benchmark{{"PingPong", "PingPong", false}, {"Uniband", "Uniband", true}},
}

type table struct {
	*input
	suite         suite
	title, count  string // as printed
	at            *benchmark
	column, width int     // of what is read; columns of a row. 0 outside a table
	largest       int64   // message
	rate          float64 // of the largest [B/s]
}

func (s suite) read(text string, in *input) {
	t, notes := table{input: in, suite: s}, len(in.Notes)
	in.each(text, func(line string) {
		line = strings.TrimSpace(line)
		if m := s.line.FindStringSubmatch(line); m != nil {
			t.heading(m[1], m[2], m[3], m[4])
		} else if t.column > 0 && startsWithDigit(line) {
			t.row(strings.Fields(line))
		}
	})
	t.end()
	in.line = 0
	leftOut := strings.Join(in.Notes[notes:], "; ")
	in.want(len(in.samples) > 0 || leftOut == "", "%s", leftOut)
}

func (t *table) heading(title, version, count, columns string) {
	if version != "" {
		t.tool = t.suite.tool + version
	}
	if title != "" {
		t.end()
		*t = table{input: t.input, suite: t.suite, title: title}
		var read []string
		for i, b := range t.suite.benchmarks {
			if read = append(read, b.title); b.title == title {
				t.at = &t.suite.benchmarks[i]
			}
		}
		if t.at == nil {
			t.note("benchmark %s is left out: only %s are read, which use one way at a time between two processes", title,
				strings.Join(read, ", "))
		}
	}
	t.count = cmp.Or(count, t.count)
	if columns == "" {
		return
	}
	t.want(t.title != "", "a table without a title, want %q or the like before it", t.suite.title)
	if t.at == nil {
		return
	}
	if t.count != "" && t.count != t.suite.want {
		t.note("%s with %s %s is left out: want %s", t.title, t.count, t.suite.count, t.suite.want)
		return
	}
	want, what := t.suite.time, "times in µs"
	if t.at.rates {
		want, what = t.suite.rate, "rates in MB/s"
	}
	found := want.FindStringIndex(columns)
	if t.want(found != nil, "heading %q of %s, want a column of %s", columns, t.at.name, what); found != nil {
		t.column = 1 + len(strings.Fields(columns[:found[0]]))
		t.width = t.column + 1 + strings.Count(columns[found[1]:], "/s")
	}
}

func (t *table) row(f []string) {
	if t.column > 1 && len(f) > 1 && !startsWithDigit(f[1]) { // IMB's time-out, out-of-mem. and int-overflow.
		t.note("%s, line %d is left out: %s", t.File, t.line, strings.Join(f, " "))
		return
	}
	if t.want(len(f) >= t.width, "%d columns, the heading has %d", len(f), t.width); len(f) < t.width {
		return
	}
	bytes, averaged := t.size(f[0], 0, "%q, want bytes"), 0.0
	if t.column > 1 {
		averaged = t.positive(f[1], "%q, want repetitions")
	}
	if bytes == 0 {
		t.note("messages of 0 bytes are left out")
		return
	}
	value, rate := f[t.column], 0.0
	if t.at.rates {
		rate = 1e6 * t.positive(value, "%q, want a rate in MB/s")
		t.want(float64(bytes)/rate <= maxSeconds, "%q, want a rate in MB/s", value)
	} else {
		t.add(pingpongSample(bytes, averaged, t.duration(value, 1e-6, "%q, want a latency in µs")))
	}
	if bytes > t.largest {
		t.largest, t.rate = bytes, rate
	}
}

// end ends a table. Of rates only that of the largest messages is one of a stream, which does not depend on the cost of
// a message.
func (t *table) end() {
	switch {
	case t.largest == 0 || t.err != nil:
	case !t.at.rates:
		t.note("%s's time is half the round trip, a mean: one value for each size", t.at.name)
	default:
		chunk := t.largest
		for float64(chunk)/t.rate < 1e-3 && chunk < maxBytes/2 {
			chunk *= 2 // so that rounding to a nanosecond takes nothing from the rate
		}
		t.add(streamSample(t.largest, chunk, float64(chunk)/t.rate))
		t.note("%s's rate at %d B, its largest, is the rate of a stream; those of shorter messages include the cost of "+
			"a message, and are left out; the end of each window waits for an answer", t.at.name, t.largest)
	}
}
