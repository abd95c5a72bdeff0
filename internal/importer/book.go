package importer

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"calib/internal/dataset"
)

// EnvTool is the name in a host's environment of the tool's version, as far as its output tells it.
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

// book collects the samples of one input.
type book struct {
	o       Options
	hosts   []string
	tool    string
	samples []dataset.Sample
	times   map[string]int // samples of a point so far: which round the next one is
	notes   []string
}

func newBook(o Options) *book {
	if o.Hosts[0] == "" {
		o.Hosts[0] = "client"
	}
	if o.Hosts[1] == "" {
		o.Hosts[1] = "server"
	}
	if o.File == "" {
		o.File = "input"
	}
	return &book{o: o, hosts: []string{o.Hosts[0], o.Hosts[1]}, times: map[string]int{}}
}

// rank returns the index of a host, which is added where it is new.
func (k *book) rank(name string) int {
	if i := slices.Index(k.hosts, name); i >= 0 {
		return i
	}
	k.hosts = append(k.hosts, name)
	return len(k.hosts) - 1
}

// add keeps a sample: its round is the number of earlier samples of the same point and ranks.
func (k *book) add(s dataset.Sample) {
	id := identity(&s)
	s.Round = k.times[id]
	k.times[id]++
	k.samples = append(k.samples, s)
}

// half is a sample of pingpong: timings of half a round trip [ns].
func half(bytes int64, averaged float64, ns ...int64) dataset.Sample {
	s := dataset.Sample{Exp: "pingpong", Point: dataset.Point{"bytes": bytes}, Ranks: []int{0, 1}, NS: ns}
	if averaged > 1 {
		s.Aux = map[string]float64{"averaged": averaged}
	}
	return s
}

// other is a sample of no experiment of calib: the time of a message, or of a byte, in the tool's own sense.
func other(phase string, bytes int64, averaged float64, ns int64) dataset.Sample {
	s := half(bytes, averaged, ns)
	s.Exp, s.Phase = Experiment, phase
	return s
}

// stream is a sample of one stream of paired: bytes that passed in a time [s], in messages of size.
func stream(size, bytes int64, seconds float64) dataset.Sample {
	return dataset.Sample{Exp: "paired", Phase: "stream", Point: dataset.Point{"bytes": size, "pairs": 1}, Ranks: []int{0, 1},
		NS: []int64{nanos(seconds, 1)}, Aux: map[string]float64{"chunk_bytes": float64(bytes)}}
}

// identity is equal for samples of which one repeats the other.
func identity(s *dataset.Sample) string {
	return fmt.Sprint(s.Exp, "/", s.Phase, "/", s.Point.Key(), "/", s.Ranks)
}

func (k *book) note(format string, args ...any) {
	if n := fmt.Sprintf(format, args...); !slices.Contains(k.notes, n) {
		k.notes = append(k.notes, n)
	}
}

// fail is an ErrFormat at a line, counted from 1; line 0 is the whole input.
func (k *book) fail(line int, format string, args ...any) error {
	where := k.o.File
	if line > 0 {
		where += fmt.Sprintf(", line %d", line)
	}
	return fmt.Errorf("%s: %s: %w as %s", where, fmt.Sprintf(format, args...), ErrFormat, k.o.Format)
}

// dataset is what was collected.
func (k *book) dataset() *dataset.Dataset {
	d := &dataset.Dataset{Samples: k.samples,
		Header: dataset.Header{Schema: dataset.Schema, Plan: "imported:" + k.o.Format}}
	for _, h := range k.hosts {
		d.Header.Hosts = append(d.Header.Hosts, dataset.Host{Name: h, Env: map[string]string{EnvTool: k.toolName()}})
	}
	arrange(d)
	return d
}

// toolName is the tool with its version, where the output has one.
func (k *book) toolName() string {
	if k.tool != "" {
		return k.tool
	}
	return k.o.Format + ", version unknown"
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

// startsWithDigit tells rows from words.
func startsWithDigit(s string) bool {
	s = strings.TrimSpace(s)
	return s != "" && s[0] >= '0' && s[0] <= '9'
}
