package dataset

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
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
	experiments map[string][]span

	mu  sync.Mutex
	err error
}

// span is a part of the file: lines of one phase.
type span struct {
	phase    string
	from, to int64
}

// index reads a file once, and keeps where its samples are.
func index(path string) (*File, error) {
	in, err := files.Open(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	f := &File{path: path, survey: newSurvey(), experiments: map[string][]span{}}
	c := scan(in, &f.header)
	for samples, at := range c.blocks {
		for i := range samples {
			s := &samples[i]
			f.survey.add(s)
			spans := f.experiments[s.Exp]
			if n := len(spans); n > 0 && spans[n-1].phase == s.Phase && spans[n-1].to == at[i] {
				spans[n-1].to = at[i+1]
			} else {
				f.experiments[s.Exp] = append(spans, span{s.Phase, at[i], at[i+1]})
			}
		}
	}
	if c.err != nil && !errors.Is(c.err, ErrTorn) {
		return nil, fmt.Errorf("%s: %w", path, c.err)
	}
	return f, nil
}

func (f *File) Head() *Header { return &f.header }

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
	spans := f.experiments[exp]
	if spans == nil {
		return nil
	}
	out, err := f.read(spans, exp, phase)
	if err != nil {
		f.mu.Lock()
		f.err = fmt.Errorf("%s, samples of %s read again: %w", f.path, exp, err)
		f.mu.Unlock()
	}
	return out
}

var errChanged = errors.New("the file has changed")

func (f *File) read(spans []span, exp, phase string) (out []*Sample, err error) {
	in, err := files.Open(f.path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	var parts []io.Reader
	var all int64 // bytes
	for _, s := range spans {
		if phase == "" || s.phase == phase {
			parts, all = append(parts, io.NewSectionReader(in, s.from, s.to-s.from)), all+s.to-s.from
		}
	}
	c := &scanner{br: bufio.NewReaderSize(io.MultiReader(parts...), 1<<20), hosts: len(f.header.Hosts)}
	for samples := range c.blocks {
		for i := range samples {
			if samples[i].Exp != exp || phase != "" && samples[i].Phase != phase {
				return out, errChanged
			}
			out = append(out, &samples[i])
		}
	}
	if failed, ok := errors.AsType[*fs.PathError](c.err); ok {
		return out, failed
	}
	if c.err != nil || c.end < all { // every line could be read before
		return out, errChanged
	}
	return out, nil
}
