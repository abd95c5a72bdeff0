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
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"calib/internal/dataset"
)

// maxInput bounds one file [B].
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

// Options of Read.
type Options struct {
	Format string    // one of Formats
	File   string    // name of the input in errors and notes
	Time   string    // Half or Full; csv requires it, the others know their own and accept no other
	Bytes  int64     // message size, for outputs that do not tell it (sockperf's summary); 0 is unknown
	Hosts  [2]string // client, server; the zero value means "client", "server"
}

// format is one tool's output.
type format struct {
	name string
	like func(text) bool // whether an input looks like it
	read func(text, *collector) error
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
func Formats() []string {
	var out []string
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
	if i < 0 {
		return nil, nil, fmt.Errorf("format %q: want one of %s", o.Format, strings.Join(Formats(), ", "))
	}
	switch {
	case o.Time != "" && o.Time != Half && o.Time != Full:
		return nil, nil, fmt.Errorf("time %q: want %s or %s", o.Time, Half, Full)
	case o.Time != "" && o.Format != "csv":
		return nil, nil, fmt.Errorf("format %s has its own meaning of a time: only csv takes %s or %s", o.Format, Half, Full)
	case o.Bytes < 0:
		return nil, nil, fmt.Errorf("message size %d: want at least 1 byte", o.Bytes)
	}
	b, err := io.ReadAll(io.LimitReader(r, maxInput+1))
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", o.File, err)
	}
	if len(b) > maxInput {
		return nil, nil, fmt.Errorf("%s: larger than %d MiB: %w", o.File, maxInput>>20, ErrFormat)
	}
	t := newText(b)
	c := newCollector(o)
	err = formats()[i].read(t, c)
	if err == nil && len(c.samples) == 0 {
		err = c.fail(0, "no measurement in it")
	}
	if err != nil {
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
