// Package importer reads what other benchmarks print and makes a dataset of it, so that every fit, plot and comparison
// works on it.
//
// Its opinion: a figure keeps the meaning its tool gave it. Where one of calib's experiments measures the same (half
// the round trip of pingpong, a rate of the phase stream of paired), it becomes a sample of that experiment. Where none
// does (both ways at once, windows of short messages), it is kept under experiment "imported", which nothing fits. A
// tool that prints averages gives one timing for each point, and no repetitions are made up. Each format fixes the unit
// and whether a time is half or the whole of a round trip; its file here names the source. csv does not, so
// Options.Time must.
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

	"calib/internal/dataset"
	"calib/internal/dataset/names"
)

const maxInput = 256 << 20

// Experiment is that of samples which no experiment of calib measures; their phase names the tool's benchmark.
const Experiment = "imported"

// Meanings of a time.
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

type format struct {
	name string
	like func(text) bool        // whether an input looks like it
	read func(text, *collector) // which adds samples and notes, or fails
}

func formats() []format {
	return []format{
		{"netpipe", looksNetpipe, readNetpipe},
		{"osu", looksOSU, readOSU},
		{"imb", looksIMB, readIMB},
		{"iperf3", looksIperf3, readIperf3},
		{"sockperf", looksSockperf, readSockperf},
		{"csv", looksCSV, readCSV},
	}
}

// Formats lists the names of the formats.
func Formats() (out []string) {
	for _, f := range formats() {
		out = append(out, f.name)
	}
	return out
}

// Read reads one output. The dataset has a header without a run's name or seed, and one round for each repetition in
// the file. The notes say what the figures mean and what was left out. Errors wrap ErrFormat, except those of r and of
// wrong options.
func Read(r io.Reader, o Options) (*dataset.Dataset, []string, error) {
	i := slices.IndexFunc(formats(), func(f format) bool { return f.name == o.Format })
	switch {
	case i < 0:
		return nil, nil, fmt.Errorf("format %q: want one of %s", o.Format, strings.Join(Formats(), ", "))
	case o.Time != "" && o.Time != Half && o.Time != Full:
		return nil, nil, fmt.Errorf("time %q: want %s or %s", o.Time, Half, Full)
	case o.Time != "" && o.Format != "csv":
		return nil, nil, fmt.Errorf("format %s has its own meaning of a time: only csv takes %s or %s", o.Format, Half, Full)
	case o.Bytes < 0:
		return nil, nil, fmt.Errorf("message size %d: want at least 1 byte", o.Bytes)
	}
	b, err := io.ReadAll(io.LimitReader(r, maxInput+1))
	switch {
	case err != nil:
		return nil, nil, fmt.Errorf("%s: %w", o.File, err)
	case len(b) > maxInput:
		return nil, nil, fmt.Errorf("%s: larger than %d MiB: %w", o.File, maxInput>>20, ErrFormat)
	}
	o.File = cmp.Or(o.File, "input")
	o.Hosts = [2]string{cmp.Or(o.Hosts[0], "client"), cmp.Or(o.Hosts[1], "server")}
	c := &collector{o: o, hosts: o.Hosts[:], rounds: map[string]int{}}
	formats()[i].read(newText(b), c)
	c.line = 0
	c.want(len(c.samples) > 0, "no measurement in it")
	if err = c.err; err != nil {
		if guess := Sniff(b); guess != "" && guess != o.Format {
			err = fmt.Errorf("%w; it looks like %s: --from %s", err, guess, guess)
		}
		return nil, nil, err
	}
	return c.dataset(), c.notes, nil
}

// Sniff returns the format that an input looks like, or "".
func Sniff(b []byte) string {
	t := newText(b)
	for _, f := range formats() {
		if f.like(t) {
			return f.name
		}
	}
	return ""
}

const EnvTool = "imported.tool" // the key in a host's environment under which the tool and its version stand

// text is an input by lines, without colours and line ends.
type text struct {
	raw   []byte
	lines []string
}

// colour is a terminal's control sequence; some tools write them into files too.
var colour = regexp.MustCompile("\x1b\\[[0-9;]*m")

func newText(b []byte) text {
	lines := strings.Split(colour.ReplaceAllString(string(b), ""), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " \t\r")
	}
	return text{b, lines}
}

// has reports whether a line begins with one of the prefixes, blanks aside.
func (t text) has(prefixes ...string) bool {
	return slices.ContainsFunc(t.lines, func(l string) bool {
		return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(strings.TrimSpace(l), p) })
	})
}

// collector gathers the samples and notes of one input.
type collector struct {
	o       Options
	hosts   []string
	tool    string // with its version; "" is not known
	samples []dataset.Sample
	rounds  map[string]int // by identity: samples so far, the round of the next one
	notes   []string
	line    int   // that is read, from 1; 0 is the whole input
	err     error // the first; what is collected after it is not used
}

// rank returns the index of a host, which is added where it is new.
func (c *collector) rank(name string) int {
	if i := slices.Index(c.hosts, name); i >= 0 {
		return i
	}
	c.hosts = append(c.hosts, name)
	return len(c.hosts) - 1
}

// add appends a sample. Its round is the number of earlier samples of the same point and ranks.
func (c *collector) add(s dataset.Sample) {
	id := identity(&s)
	s.Round = c.rounds[id]
	c.rounds[id]++
	c.samples = append(c.samples, s)
}

// pingpongSample holds timings of half a round trip [ns], each the mean of that many messages.
func pingpongSample(bytes int64, averaged float64, ns ...int64) dataset.Sample {
	s := dataset.Sample{Exp: names.Pingpong, Point: dataset.Point{names.FactorBytes: bytes}, Ranks: []int{0, 1}, NS: ns}
	if averaged > 1 {
		s.Aux = map[string]float64{names.AuxAveraged: averaged}
	}
	return s
}

// importedSample is a sample of no experiment of calib: the time of a message as the tool defines it.
func importedSample(phase string, bytes int64, averaged float64, ns int64) dataset.Sample {
	s := pingpongSample(bytes, averaged, ns)
	s.Exp, s.Phase = Experiment, phase
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

func (c *collector) note(format string, args ...any) {
	if n := fmt.Sprintf(format, args...); !slices.Contains(c.notes, n) {
		c.notes = append(c.notes, n)
	}
}

// want fails with ErrFormat at the line that is read, unless it is as wanted.
func (c *collector) want(ok bool, format string, args ...any) {
	if ok || c.err != nil {
		return
	}
	where := c.o.File
	if c.line > 0 {
		where += fmt.Sprintf(", line %d", c.line)
	}
	c.err = fmt.Errorf("%s: %s: %w as %s", where, fmt.Sprintf(format, args...), ErrFormat, c.o.Format)
}

// each reads line by line, up to one that is not as wanted.
func (c *collector) each(t text, read func(line string)) {
	for i, line := range t.lines {
		if c.line = i + 1; c.err == nil {
			read(line)
		}
	}
}

// dataset is what was collected.
func (c *collector) dataset() *dataset.Dataset {
	d := &dataset.Dataset{Samples: c.samples,
		Header: dataset.Header{Schema: dataset.Schema, Plan: "imported:" + c.o.Format}}
	tool := cmp.Or(c.tool, c.o.Format+", version unknown")
	for _, h := range c.hosts {
		d.Header.Hosts = append(d.Header.Hosts, dataset.Host{Name: h, Env: map[string]string{EnvTool: tool}})
	}
	arrange(d)
	return d
}

const noBytes = "messages of 0 bytes are left out" // notes what is left out of a table

// maxBytes is the largest message taken for one, and maxSeconds the longest time.
const (
	maxBytes   = 1 << 40
	maxSeconds = 1e6
)

func size(s string) (int64, bool) {
	v, err := strconv.ParseInt(s, 10, 64)
	return v, err == nil && v >= 0 && v <= maxBytes
}

// positive reads a number above zero, with a bound that keeps sums and conversions exact.
func positive(s string) (float64, bool) {
	v, err := strconv.ParseFloat(s, 64)
	return v, err == nil && v > 0 && v <= 1e15
}

// duration reads a time in a unit [s], as nanoseconds.
func duration(s string, unit float64) (int64, bool) {
	v, ok := positive(s)
	if !ok || v*unit > maxSeconds {
		return 0, false
	}
	ns := nanos(v, unit)
	return ns, ns > 0
}

// nanos rounds v units [s] to nanoseconds.
func nanos(v, unit float64) int64 { return int64(math.Round(v * unit * 1e9)) }

// startsWithDigit reports whether a line is a row of a table and not a heading or text.
func startsWithDigit(s string) bool {
	s = strings.TrimSpace(s)
	return s != "" && s[0] >= '0' && s[0] <= '9'
}

// Merge makes one dataset of several outputs of one format: the hosts are joined by name, and what a later one repeats
// of an earlier is a further round. run and seed go into the header. The sets are not changed.
func Merge(run string, seed uint64, sets ...*dataset.Dataset) (*dataset.Dataset, error) {
	if len(sets) == 0 {
		return nil, errors.New("merge: nothing to merge")
	}
	out := &dataset.Dataset{Header: dataset.Header{Schema: dataset.Schema, Run: run, Seed: seed, Plan: sets[0].Header.Plan}}
	next := map[string]int{} // by identity: the first free round
	for _, d := range sets {
		if d.Header.Plan != out.Header.Plan {
			return nil, fmt.Errorf("merge: %s with %s: import one format at a time", d.Header.Plan, out.Header.Plan)
		}
		ranks := joinHosts(out, d)
		first := 0 // one offset for the whole file, so that what was measured together stays together
		moved := slices.Clone(d.Samples)
		for i := range moved {
			s := &moved[i]
			s.Ranks = slices.Clone(s.Ranks)
			for j, r := range s.Ranks {
				s.Ranks[j] = ranks[r]
			}
			first = max(first, next[identity(s)])
		}
		for i := range moved {
			s := &moved[i]
			s.Round += first
			next[identity(s)] = max(next[identity(s)], s.Round+1)
		}
		out.Samples = append(out.Samples, moved...)
	}
	arrange(out)
	return out, nil
}

// joinHosts adds the hosts of d that out lacks, and returns the new rank of each.
func joinHosts(out, d *dataset.Dataset) (ranks []int) {
	all := &out.Header.Hosts
	for _, h := range d.Header.Hosts {
		at := slices.IndexFunc(*all, func(g dataset.Host) bool { return g.Name == h.Name })
		if at < 0 {
			at = len(*all)
			*all = append(*all, dataset.Host{Name: h.Name, Env: map[string]string{EnvTool: h.Env[EnvTool]}})
		}
		if env := (*all)[at].Env; !slices.Contains(strings.Split(env[EnvTool], "; "), h.Env[EnvTool]) {
			env[EnvTool] += "; " + h.Env[EnvTool]
		}
		ranks = append(ranks, at)
	}
	return ranks
}

// arrange orders the samples by round and makes a slot of each: what is written together.
func arrange(d *dataset.Dataset) {
	slices.SortStableFunc(d.Samples, func(a, b dataset.Sample) int { return cmp.Compare(a.Round, b.Round) })
	for i := 0; i < len(d.Samples); {
		n := i
		for n < len(d.Samples) && d.Samples[n].Round == d.Samples[i].Round {
			n++
		}
		for j := i; j < n; j++ {
			d.Samples[j].Slot, d.Samples[j].Part, d.Samples[j].Parts = d.Samples[i].Round, j-i, n-i
		}
		i = n
	}
}
