package dataset

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"calib/internal/files"
)

// mostWhole is up to how many bytes Open reads a file into memory: about a million timings.
const mostWhole = 16 << 20

// Open returns the samples of a samples.jsonl: of a small one in memory, of a large one a File. A torn last line is not
// an error here: it is dropped.
func Open(path string) (Source, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() <= mostWhole {
		return ReadFile(path)
	}
	return index(path)
}

// File is a samples.jsonl on disk, which was read once to see that it can be, and of which the samples are read again
// when they are asked for: those of a thousand hosts take more memory than all that is made of them. It is safe for
// concurrent use.
type File struct {
	path        string
	header      Header
	survey      *Survey
	experiments map[string]*stored

	mu  sync.Mutex
	err error
}

// stored is where the lines of one experiment are.
type stored struct {
	spans  []span
	phases []string // by line
}

// span is a part of the file.
type span struct{ from, to int64 }

// index reads a file once, and keeps where its samples are.
func index(path string) (*File, error) {
	in, err := files.Open(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	f := &File{path: path, survey: newSurvey(), experiments: map[string]*stored{}}
	err = scan(in, &f.header, func(samples []Sample, at []int64) {
		for i := range samples {
			f.survey.add(&samples[i])
			f.enter(&samples[i], span{at[i], at[i+1]})
		}
	})
	if err != nil && !errors.Is(err, ErrTorn) {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// enter keeps where the line of a sample is.
func (f *File) enter(s *Sample, at span) {
	x := f.experiments[s.Exp]
	if x == nil {
		x = &stored{}
		f.experiments[s.Exp] = x
	}
	x.phases = append(x.phases, s.Phase)
	if n := len(x.spans); n > 0 && x.spans[n-1].to == at.from {
		x.spans[n-1].to = at.to
		return
	}
	x.spans = append(x.spans, at)
}

// Head is the header.
func (f *File) Head() *Header { return &f.header }

// Survey counts all samples.
func (f *File) Survey() *Survey { return f.survey }

// Err is why Select returned less than there is: the file can no longer be read, or has changed.
func (f *File) Err() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

// Select reads the samples of one experiment and phase ("" is any phase), in file order, and returns them anew each
// time.
func (f *File) Select(exp, phase string) []*Sample {
	x := f.experiments[exp]
	if x == nil {
		return nil
	}
	out, err := f.read(x, exp, phase)
	if err != nil {
		f.mu.Lock()
		f.err = fmt.Errorf("%s, samples of %s read again: %w", f.path, exp, err)
		f.mu.Unlock()
	}
	return out
}

// errChanged reports a file whose lines are not those that were there.
var errChanged = errors.New("the file has changed")

func (f *File) read(x *stored, exp, phase string) (out []*Sample, err error) {
	in, err := files.Open(f.path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	parts := make([]io.Reader, len(x.spans))
	for i, s := range x.spans {
		parts[i] = io.NewSectionReader(in, s.from, s.to-s.from)
	}
	br := bufio.NewReaderSize(io.MultiReader(parts...), 1<<20)
	for left := x.phases; len(left) > 0; {
		var lines [][]byte
		if lines, left, err = linesOf(br, left, phase); err != nil {
			return out, err
		}
		samples, err := decodeSamples(lines, len(f.header.Hosts))
		if err != nil {
			return out, err
		}
		for i := range samples {
			if samples[i].Exp != exp || phase != "" && samples[i].Phase != phase {
				return out, errChanged
			}
			out = append(out, &samples[i])
		}
	}
	return out, nil
}

// linesOf returns the next lines of a phase, where phases are those of the lines that follow, and the phases of the
// lines behind them.
func linesOf(br *bufio.Reader, phases []string, phase string) (lines [][]byte, left []string, err error) {
	for i, p := range phases {
		if len(lines) == block {
			return lines, phases[i:], nil
		}
		keep := phase == "" || p == phase
		line, whole, err := readLine(br, keep)
		if err == nil && !whole {
			err = errChanged
		}
		if err != nil {
			return nil, nil, err
		}
		if keep {
			lines = append(lines, line)
		}
	}
	return lines, nil, nil
}
