package importer

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"calib/internal/dataset"
	"calib/internal/dataset/names"
)

// EnvTool is the key in a host's environment under which the tool and its version stand.
const EnvTool = "imported.tool"

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
}

func newCollector(o Options) *collector {
	o.File = cmp.Or(o.File, "input")
	o.Hosts = [2]string{cmp.Or(o.Hosts[0], "client"), cmp.Or(o.Hosts[1], "server")}
	return &collector{o: o, hosts: o.Hosts[:], rounds: map[string]int{}}
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

// fail is an ErrFormat at a line, counted from 1; line 0 is the whole input.
func (c *collector) fail(line int, format string, args ...any) error {
	where := c.o.File
	if line > 0 {
		where += fmt.Sprintf(", line %d", line)
	}
	return fmt.Errorf("%s: %s: %w as %s", where, fmt.Sprintf(format, args...), ErrFormat, c.o.Format)
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

// maxBytes is the largest message taken for one, and maxSeconds the longest time.
const (
	maxBytes   = 1 << 40
	maxSeconds = 1e6
)

// size reads a whole number of bytes.
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
