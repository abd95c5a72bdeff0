// Package importer reads what other benchmarks print and makes a dataset of it, so that every fit, plot and comparison
// works on it.
//
// Its opinion: a figure keeps the meaning its tool gave it. Where one of calib's experiments measures the same (half
// the round trip of pingpong, a rate of the phase stream of paired), it becomes a sample of that experiment. Where none
// does (both ways at once, windows of short messages), no model is fitted to it, and it is not read. A tool that prints
// averages gives one timing for each point, and no repetitions are made up. Each format fixes the unit and whether a
// time is half or the whole of a round trip; its file here names the source. csv does not, so Options.Time must.
package importer

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"calib/internal/dataset"
	"calib/internal/dataset/names"
)

const maxInput = 256 << 20

// EnvTool is the key in a host's environment under which the tool and its version stand.
const EnvTool = "imported.tool"

const (
	Half = "half" // of the round trip: what calib stores
	Full = "full" // the round trip: it is halved
)

// ErrFormat reports input that is not in the format. The message names file and line.
var ErrFormat = errors.New("not readable")

type Options struct {
	Format string    // one of Formats
	File   string    // name of the input in errors and notes
	Time   string    // Half or Full; csv requires it, the others know their own and accept no other
	Bytes  int64     // message size, for outputs that do not tell it (sockperf's summary); 0 is unknown
	Hosts  [2]string // client, server; the zero value means "client", "server"
}

var formats = []struct {
	name string
	like *regexp.Regexp               // what an input in it has
	read func(text string, in *input) // adds samples and notes, or fails
}{
	{"netpipe", regexp.MustCompile(`(?m)\A\s*\d+[ \t]+[\d.eE+-]+[ \t]+[\d.eE+-]+$|` + netpipeLine.String()),
		readNetpipe},
	{"osu", regexp.MustCompile(`(?m)^\s*# OSU`), osu.read},
	{"imb", regexp.MustCompile(`(?m)^# *Benchmarking\s+\S|^\s*#bytes #repetitions`), imb.read},
	{"iperf3", regexp.MustCompile(`(?s)\A\s*\{.*"start"\s*:.*"end"\s*:`), readIperf3},
	{"sockperf", regexp.MustCompile(`(?m)^\s*(sockperf|packet, txTime\(sec\))`), readSockperf},
	{"csv", regexp.MustCompile(`(?i)\A(.*,\s*"?bytes\b|\s*"?bytes"?\s*,)`), readCSV},
}

func Formats() (out []string) {
	for _, f := range formats {
		out = append(out, f.name)
	}
	return out
}

// Import is one dataset of one or several outputs of one format: their hosts are joined by name, and what a later one
// repeats of an earlier is a further round.
type Import struct {
	Notes   []string  // what the figures mean, and what was left out
	Started time.Time // of the oldest output, where that says it; zero elsewhere
	plan    string
	hosts   []dataset.Host
	samples []dataset.Sample
	next    map[string]int // by identity: the first free round
}

// noise is a terminal's control sequences, which some tools write into files too, and blanks at the ends of lines.
var noise = regexp.MustCompile("(?m)([ \t\r]|\x1b\\[[0-9;]*m)+$|\x1b\\[[0-9;]*m")

// Read adds one output. Errors wrap ErrFormat, except those of r and of wrong options.
func (im *Import) Read(r io.Reader, o Options) error {
	if o.Time != "" && o.Time != Half && o.Time != Full {
		return fmt.Errorf("time %q: want %s or %s", o.Time, Half, Full)
	}
	if o.Time != "" && o.Format != "csv" {
		return fmt.Errorf("format %s has its own meaning of a time: only csv takes %s or %s", o.Format, Half, Full)
	}
	b, err := io.ReadAll(io.LimitReader(r, maxInput+1))
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", o.File, err)
	case len(b) > maxInput:
		return fmt.Errorf("%s: larger than %d MiB: %w", o.File, maxInput>>20, ErrFormat)
	}
	text := noise.ReplaceAllString(strings.TrimPrefix(string(b), "\ufeff"), "")
	in := &input{Options: o, Import: im, rounds: map[string]int{},
		hosts: []string{cmp.Or(o.Hosts[0], "client"), cmp.Or(o.Hosts[1], "server")}}
	formats[slices.Index(Formats(), o.Format)].read(text, in)
	in.line = 0
	in.want(len(in.samples) > 0, "no measurement in it")
	if in.err == nil {
		im.join(in)
	} else if guess := sniff(text); guess != "" && guess != o.Format {
		return fmt.Errorf("%w; it looks like %s: --from %s", in.err, guess, guess)
	}
	return in.err
}

// sniff returns the format that an input looks like, or "".
func sniff(text string) string {
	for _, f := range formats {
		if f.like.MatchString(text) {
			return f.name
		}
	}
	return ""
}

// join adds what was read of an input.
func (im *Import) join(in *input) {
	im.plan = "imported:" + in.Format
	if !in.started.IsZero() && (im.Started.IsZero() || in.started.Before(im.Started)) {
		im.Started = in.started
	}
	tool := cmp.Or(in.tool, in.Format+", version unknown")
	var ranks []int
	for _, name := range in.hosts {
		at := slices.IndexFunc(im.hosts, func(h dataset.Host) bool { return h.Name == name })
		if at < 0 {
			at = len(im.hosts)
			im.hosts = append(im.hosts, dataset.Host{Name: name, Env: map[string]string{EnvTool: tool}})
		}
		if env := im.hosts[at].Env; !slices.Contains(strings.Split(env[EnvTool], "; "), tool) {
			env[EnvTool] += "; " + tool
		}
		ranks = append(ranks, at)
	}
	first := 0 // one offset for the whole file, so that what was measured together stays together
	for _, s := range in.samples {
		s.Ranks[0], s.Ranks[1] = ranks[s.Ranks[0]], ranks[s.Ranks[1]]
		first = max(first, im.next[identity(&s)])
	}
	if im.next == nil {
		im.next = map[string]int{}
	}
	for _, s := range in.samples {
		s.Round += first
		im.next[identity(&s)] = max(im.next[identity(&s)], s.Round+1)
		im.samples = append(im.samples, s)
	}
}

// Dataset is what was read, in order of rounds; a round is a slot: what is written together.
func (im *Import) Dataset(run string, seed uint64) *dataset.Dataset {
	slices.SortStableFunc(im.samples, func(a, b dataset.Sample) int { return cmp.Compare(a.Round, b.Round) })
	parts := map[int]int{} // by slot
	for i := range im.samples {
		s := &im.samples[i]
		s.Slot, s.Part = s.Round, parts[s.Round]
		parts[s.Slot]++
	}
	for i := range im.samples {
		im.samples[i].Parts = parts[im.samples[i].Slot]
	}
	return &dataset.Dataset{Samples: im.samples,
		Header: dataset.Header{Schema: dataset.Schema, Run: run, Seed: seed, Plan: im.plan, Hosts: im.hosts}}
}

// input is one output that is read.
type input struct {
	Options
	*Import // takes the notes
	hosts   []string
	tool    string // with its version; "" is not known
	started time.Time
	samples []dataset.Sample
	rounds  map[string]int // by identity: samples so far, the round of the next one
	line    int            // that is read, from 1; 0 is the whole input
	err     error          // the first; what is collected after it is not used
}

// add appends a sample. Its round is the number of earlier samples of the same point and ranks.
func (in *input) add(s dataset.Sample) {
	id := identity(&s)
	s.Round = in.rounds[id]
	in.rounds[id]++
	in.samples = append(in.samples, s)
}

// pingpongSample holds timings of half a round trip [ns], each the mean of that many messages, 0 where that is not
// known.
func pingpongSample(bytes int64, averaged float64, ns ...int64) dataset.Sample {
	s := dataset.Sample{Exp: names.Pingpong, Point: dataset.Point{names.FactorBytes: bytes}, Ranks: []int{0, 1}, NS: ns}
	if averaged != 1 {
		s.Aux = map[string]float64{names.AuxAveraged: averaged}
	}
	return s
}

// streamSample is a sample of the one stream of paired with one pair: how many bytes passed in a time [s], in messages
// of a size [B].
func streamSample(size, bytes int64, seconds float64) dataset.Sample {
	return dataset.Sample{Exp: names.Paired, Phase: names.PhaseStream,
		Point: dataset.Point{names.FactorBytes: size, names.FactorPairs: 1}, Ranks: []int{0, 1},
		NS: []int64{nanos(seconds, 1)}, Aux: map[string]float64{names.AuxChunk: float64(bytes)}}
}

// identity is equal for samples of which one repeats the other.
func identity(s *dataset.Sample) string {
	return fmt.Sprint(s.Exp, "/", s.Phase, "/", s.Point.Key(), "/", s.Ranks)
}

func (im *Import) note(format string, args ...any) {
	if n := fmt.Sprintf(format, args...); !slices.Contains(im.Notes, n) {
		im.Notes = append(im.Notes, n)
	}
}

// want fails with ErrFormat at the line that is read, unless it is as wanted.
func (in *input) want(ok bool, format string, args ...any) {
	if ok || in.err != nil {
		return
	}
	where := in.File
	if in.line > 0 {
		where += fmt.Sprintf(", line %d", in.line)
	}
	in.err = fmt.Errorf("%s: %s: %w as %s", where, fmt.Sprintf(format, args...), ErrFormat, in.Format)
}

// each reads line by line, up to one that is not as wanted.
func (in *input) each(text string, read func(line string)) {
	for line := range strings.SplitSeq(text, "\n") {
		if in.line++; in.err != nil {
			return
		}
		read(line)
	}
}

// maxBytes is the largest message taken for one, and maxSeconds the longest time.
const (
	maxBytes   = 1 << 40
	maxSeconds = 1e6
)

// size reads a number of bytes, at least so many. What else s is, the text wanted says, with a verb for s.
func (in *input) size(s string, least int64, wanted string) int64 {
	v, err := strconv.ParseInt(s, 10, 64)
	in.want(err == nil && v >= least && v <= maxBytes, wanted, s)
	return v
}

// positive reads a number above zero, with a bound that keeps sums and conversions exact.
func (in *input) positive(s, wanted string) float64 {
	v, err := strconv.ParseFloat(s, 64)
	in.want(err == nil && v > 0 && v <= 1e15, wanted, s)
	return v
}

// duration reads a time in a unit [s], as nanoseconds.
func (in *input) duration(s string, unit float64, wanted string) int64 {
	v := in.positive(s, wanted)
	ns := nanos(v, unit)
	in.want(v*unit <= maxSeconds && ns > 0, wanted, s)
	return ns
}

// nanos rounds v units [s] to nanoseconds.
func nanos(v, unit float64) int64 { return int64(math.Round(v * unit * 1e9)) }

// startsWithDigit reports whether a line is a row of a table and not a heading or text.
func startsWithDigit(line string) bool { return line != "" && line[0] >= '0' && line[0] <= '9' }
