package importer

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// A table of ping-pong times of any origin: a heading with the columns bytes and one of s, seconds, ms, us, ns; from,
// to and round if the file has them. Rows of the same size, hosts and round are its raw timings. Such a file does not
// tell whether its times are half or the whole of a round trip, so Options.Time must.
var csvUnits = map[string]float64{"s": 1, "seconds": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}

const maxRound = 1 << 20

func looksCSV(t text) bool {
	return slices.Contains(columnsOf(t.lines[0]), "bytes") && strings.Contains(t.lines[0], ",")
}

func columnsOf(line string) []string {
	f := strings.Split(line, ",")
	for i := range f {
		f[i] = strings.ToLower(strings.Trim(strings.TrimSpace(f[i]), `"`))
	}
	return f
}

// csvColumns is the place of each column of a table; -1 where it has none.
type csvColumns struct {
	bytes, time, from, to, round int
	unit                         float64 // s, and halved for full round trips
}

func readCSV(t text, c *collector) {
	if c.o.Time == "" {
		c.err = fmt.Errorf("%s: csv does not tell whether its times are half or the whole of a round trip: "+
			"say --time %s or --time %s", c.o.File, Half, Full)
		return
	}
	c.line = 1
	at := c.csvHeading(t.lines[0])
	r := csv.NewReader(strings.NewReader(strings.Join(t.lines, "\n")))
	r.TrimLeadingSpace, r.Comment = true, '#'
	index := map[string]int{}
	for first := true; c.err == nil; first = false {
		f, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			c.line = 0
			c.want(false, "%v", err)
		} else if !first {
			c.line, _ = r.FieldPos(0)
			c.csvRow(at, f, index)
		}
	}
	if c.o.Time == Full {
		c.note("the times are round trips (--time full): halved")
	} else {
		c.note("the times are half round trips (--time half)")
	}
}

func (c *collector) csvHeading(line string) csvColumns {
	names := columnsOf(line)
	find := func(name string) int { return slices.Index(names, name) }
	at := csvColumns{bytes: find("bytes"), time: -1, from: find("from"), to: find("to"), round: find("round")}
	for unit, scale := range csvUnits {
		if i := find(unit); i >= 0 {
			c.want(at.time < 0, "heading %q has two columns of time, want one of s, seconds, ms, us, ns", line)
			at.time, at.unit = i, scale
		}
	}
	c.want(at.bytes >= 0 && at.time >= 0, "heading %q, want bytes and one of s, seconds, ms, us, ns; from, to and "+
		"round if known", line)
	c.want((at.from < 0) == (at.to < 0), "heading %q, want both of from and to, or none", line)
	if c.o.Time == Full {
		at.unit /= 2
	}
	return at
}

// csvRow adds a row to the sample of its size, hosts and round; index is the place of each sample.
func (c *collector) csvRow(at csvColumns, f []string, index map[string]int) {
	field := func(i int) string { return strings.TrimSpace(f[i]) }
	bytes, ok := size(field(at.bytes))
	c.want(ok && bytes > 0, "bytes %q, want a whole number above 0", f[at.bytes])
	ns, ok := duration(field(at.time), at.unit)
	c.want(ok, "time %q, want a number above 0", f[at.time])
	s := pingpongSample(bytes, 0, ns)
	if at.round >= 0 {
		round, ok := size(field(at.round))
		c.want(ok && round <= maxRound, "round %q, want a number from 0 to %d", f[at.round], maxRound)
		s.Round = int(round)
	}
	if at.from >= 0 {
		from, to := field(at.from), field(at.to)
		c.want(from != "" && to != "" && from != to, "from %q to %q, want two hosts", from, to)
		if len(index) == 0 {
			c.hosts = nil // the table's own, not those of the options
		}
		s.Ranks = []int{c.rank(from), c.rank(to)}
	}
	id := fmt.Sprint(identity(&s), "/", s.Round)
	if i, seen := index[id]; seen {
		c.samples[i].NS = append(c.samples[i].NS, ns)
		return
	}
	index[id] = len(c.samples)
	c.samples = append(c.samples, s)
}
