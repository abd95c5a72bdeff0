package importer

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// A table of ping-pong times of any origin: a heading with the columns bytes and one of s, seconds, ms, us, ns; from,
// to and round if the file has them. Rows of the same size, hosts and round are its raw timings. Such a file does not
// tell whether its times are half or the whole of a round trip, so Options.Time must.
var csvUnits = map[string]float64{"s": 1, "seconds": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}

const maxRound = 1 << 20

func readCSV(text string, in *input) {
	r := csv.NewReader(strings.NewReader(text))
	r.TrimLeadingSpace, r.Comment = true, '#'
	var at map[string]int // columns by name
	place := map[string]int{}
	for in.err == nil {
		f, err := r.Read()
		switch {
		case errors.Is(err, io.EOF):
			if in.Time == Full {
				in.note("the times are round trips (--time full): halved")
			} else {
				in.note("the times are half round trips (--time half)")
			}
			return
		case err != nil:
			in.line = 0
			in.want(false, "%v", err)
			return
		}
		if in.line, _ = r.FieldPos(0); at == nil {
			at = in.csvHeading(f)
		} else {
			in.csvRow(at, f, place)
		}
	}
}

// csvHeading returns the place of each column. That of the time is named for its unit.
func (in *input) csvHeading(f []string) map[string]int {
	at, heading, times := map[string]int{}, strings.Join(f, ","), 0
	for i, name := range f {
		name = strings.ToLower(strings.TrimSpace(name))
		at[name] = i
		if csvUnits[name] > 0 {
			times++
		}
	}
	has := func(name string) bool { _, ok := at[name]; return ok }
	in.want(times < 2, "heading %q has two columns of time, want one of s, seconds, ms, us, ns", heading)
	in.want(has("bytes") && times == 1, "heading %q, want bytes and one of s, seconds, ms, us, ns; from, to and round "+
		"if known", heading)
	in.want(has("from") == has("to"), "heading %q, want both of from and to, or none", heading)
	return at
}

// rank returns the index of a host, which is added where it is new.
func (in *input) rank(name string) int {
	if i := slices.Index(in.hosts, name); i >= 0 {
		return i
	}
	in.hosts = append(in.hosts, name)
	return len(in.hosts) - 1
}

// csvRow adds a row to the sample of its size, hosts and round; place is that of each sample.
func (in *input) csvRow(at map[string]int, f []string, place map[string]int) {
	field := func(name string) (text string, has bool) {
		i, has := at[name]
		if has {
			text = strings.TrimSpace(f[i])
		}
		return text, has
	}
	text, _ := field("bytes")
	bytes := in.size(text, 1, "bytes %q, want a whole number above 0")
	var ns int64
	for name, unit := range csvUnits {
		if text, has := field(name); has {
			if in.Time == Full {
				unit /= 2
			}
			ns = in.duration(text, unit, "time %q, want a number above 0")
		}
	}
	s := pingpongSample(bytes, 1, ns)
	if text, has := field("round"); has {
		round, err := strconv.Atoi(text)
		in.want(err == nil && round >= 0 && round <= maxRound, "round %q, want a number from 0 to %d", text, maxRound)
		s.Round = round
	}
	if from, has := field("from"); has {
		to, _ := field("to")
		in.want(from != "" && to != "" && from != to, "from %q to %q, want two hosts", from, to)
		if len(place) == 0 {
			in.hosts = nil // the table's own, not those of the options
		}
		s.Ranks = []int{in.rank(from), in.rank(to)}
	}
	id := fmt.Sprint(identity(&s), "/", s.Round)
	if i, seen := place[id]; seen {
		in.samples[i].NS = append(in.samples[i].NS, ns)
		return
	}
	place[id] = len(in.samples)
	in.samples = append(in.samples, s)
}
