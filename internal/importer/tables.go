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
	trip        string         // a note on the time of half a round trip
	prefix      string         // of the phases of samples
	benchmarks  []benchmark
}

type benchmark struct {
	title, name string
	kind        kind
}

// kind is what a benchmark measures: half a round trip; times or rates of windows of messages, of both ways at once or
// of one.
type kind int

const (
	halfTrip kind = iota
	bothTimes
	bothRates
	oneRate
)

// OSU micro-benchmarks. osu_latency prints half the mean round trip in µs; osu_bw, osu_bibw and osu_mbw_mr print 10⁶
// bytes/s of windows of messages sent without waiting, osu_bibw of both directions and osu_mbw_mr of all pairs
// together. Source: osu_latency.c ((t_end − t_start)·1e6/(2·iterations)), osu_bw.c, osu_bibw.c and osu_mbw_mr.c
// (size/1e6·iterations·window/t, times 2 in osu_bibw, times pairs in osu_mbw_mr) of OMB 5 and 7, and the column
// headings of osu_util.
var osu = suite{
	tool: "OSU micro-benchmarks ", title: "# OSU MPI Latency Test",
	line: regexp.MustCompile(`^#\s*(?:OSU MPI(?:-\S+)?\s+(.*?)\s*(?:Test)?\s*v?([0-9][0-9.]*)?|` +
		`\[ pairs: (\d+) \].*|Size\s+(.*))$`),
	count: "pairs", want: "1",
	time: regexp.MustCompile(`^(Avg )?Latency\s*\(us\)`),
	rate: regexp.MustCompile(`^((Bi-)?Bandwidth\s*\()?MB/s`),
	trip: "osu_latency's time is half the round trip, a mean over its iterations: one value for each size",
	benchmarks: []benchmark{{"Latency", "osu_latency", halfTrip}, {"Bandwidth", "osu_bw", oneRate},
		{"Bi-Directional Bandwidth", "osu_bibw", bothRates}, {"Multiple Bandwidth / Message Rate", "osu_mbw_mr", oneRate}},
}

// Intel MPI Benchmarks, suite MPI1. Times are means over the repetitions, in µs: half the round trip for PingPong; for
// PingPing and Sendrecv the whole time of a message while the other way is busy too. Rates of Uniband and Biband are
// 10⁶ bytes/s of windows of 64 messages, of Biband in both directions together. Source: IMB_parse_name_mpi1.c
// (scale_time 0.5 of PingPong, 1 of the others; scale_bw 2 of Biband), IMB_bandwidth.c, IMB_output.c (headings; scaled
// time; throughput).
var imb = suite{
	tool: "Intel MPI Benchmarks ", title: "# Benchmarking PingPong",
	line: regexp.MustCompile(`^#\s*(?:Benchmarking\s+(\S+).*|Intel\s*\(R\) MPI Benchmarks\s+(.*?)\s*(?:,.*)?|` +
		`#processes\s*=\s*(\d+).*|bytes\s+(.*))$`),
	count: "processes", want: "2",
	time: regexp.MustCompile(`\bt(_avg)?\[usec\]`), rate: regexp.MustCompile(`Mbytes/sec`),
	trip:   "IMB's PingPong time is half the round trip, a mean over the repetitions: one value for each size",
	prefix: "imb-",
	benchmarks: []benchmark{{"PingPong", "PingPong", halfTrip}, {"PingPing", "PingPing", bothTimes},
		{"Sendrecv", "Sendrecv", bothTimes}, {"Uniband", "Uniband", oneRate}, {"Biband", "Biband", bothRates}},
}

// table is one that is read.
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
			t.note("benchmark %s is left out: only %s are read, which run between two processes", title,
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
	if t.at.kind >= bothRates {
		want, what = t.suite.rate, "rates in MB/s"
	}
	found := want.FindStringIndex(columns)
	if t.want(found != nil, "heading %q of %s, want a column of %s", columns, t.at.name, what); found != nil {
		t.column = 1 + len(strings.Fields(columns[:found[0]]))
		t.width = t.column + 1 + strings.Count(columns[found[1]:], "/s")
	}
}

func (t *table) row(f []string) {
	if t.want(len(f) >= t.width, "%d columns, the heading has %d", len(f), t.width); len(f) < t.width {
		return
	}
	bytes, ok := size(f[0])
	t.want(ok, "%q, want bytes", f[0])
	averaged := 0.0
	if t.column > 1 {
		averaged, ok = positive(f[1])
		t.want(ok, "%q, want repetitions", f[1])
	}
	if bytes == 0 {
		t.note("messages of 0 bytes are left out")
		return
	}
	var ns int64
	if value := f[t.column]; t.at.kind < bothRates {
		ns, ok = duration(value, 1e-6)
		t.want(ok, "%q, want a latency in µs", value)
	} else {
		mb, ok := positive(value)
		rate := mb * 1e6
		t.want(ok && float64(bytes)/rate <= maxSeconds, "%q, want a rate in MB/s", value)
		ns, averaged = max(1, nanos(float64(bytes)/rate, 1)), 0
		if bytes > t.largest {
			t.rate = rate
		}
	}
	t.largest = max(t.largest, bytes)
	if t.at.kind == halfTrip {
		t.add(pingpongSample(bytes, averaged, ns))
	} else {
		t.add(importedSample(t.suite.prefix+strings.ToLower(t.at.name), bytes, averaged, ns))
	}
}

// end ends a table. Of rates only that of the largest messages is one of a stream, which does not depend on the cost of
// a message.
func (t *table) end() {
	switch {
	case t.largest == 0 || t.err != nil:
	case t.at.kind == halfTrip:
		t.note("%s", t.suite.trip)
	case t.at.kind == oneRate:
		chunk := t.largest
		for float64(chunk)/t.rate < 1e-3 && chunk < maxBytes/2 {
			chunk *= 2 // so that rounding to a nanosecond takes nothing from the rate
		}
		t.add(streamSample(t.largest, chunk, float64(chunk)/t.rate))
		t.note("%s's rate at %d B, its largest, is the rate of a stream; those of shorter messages include the cost of "+
			"a message and are kept as %q; the end of each window waits for an answer", t.at.name, t.largest, Experiment)
	default:
		t.note("%s sends both ways at once: its times of a message are kept as %q, and nothing is fitted to them",
			t.at.name, Experiment)
	}
}
