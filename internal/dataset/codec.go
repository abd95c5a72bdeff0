package dataset

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"

	"calib/internal/files"
)

// maxLine bounds one line of samples.jsonl: a longer one is an error, not an allocation.
const maxLine = 64 << 20

// ErrTorn reports that the last line was cut off, as a crash leaves it. Everything before it was read.
var ErrTorn = errors.New("last line is cut off")

// ErrNoHeader reports a file whose first line is not a header of this schema.
var ErrNoHeader = errors.New("no calib.samples header")

// Read decodes samples.jsonl. Errors name the line. With ErrTorn the dataset holds every whole line.
func Read(r io.Reader) (*Dataset, error) {
	d, _, err := read(r)
	return d, err
}

// block is the number of lines that are decoded side by side.
const block = 1024

// read also returns where in the file each sample's line starts, and at the end of the list where the whole lines end.
func read(r io.Reader) (d *Dataset, starts []int64, err error) {
	d = &Dataset{}
	var blocks [][]Sample // joined at the end: growing one list would take several times its memory
	c := scan(r, &d.Header)
	for samples, at := range c.blocks {
		blocks, starts = append(blocks, samples), append(starts[:max(0, len(starts)-1)], at...)
	}
	d.Samples = slices.Concat(blocks...)
	return d, starts, c.err
}

// scanner reads lines of samples of a run of so many hosts.
type scanner struct {
	br    *bufio.Reader
	hosts int
	line  int   // that comes next, from 1
	end   int64 // of the lines before it
	err   error // names the line; there is no more after it
}

func scan(r io.Reader, h *Header) *scanner {
	c := &scanner{br: bufio.NewReaderSize(r, 1<<20), line: 2}
	line, whole, err := readLine(c.br)
	if err == nil {
		err = h.decode(line, whole)
	}
	if err != nil {
		c.err = fmt.Errorf("line 1: %w", err)
	}
	c.end, c.hosts = int64(len(line))+1, len(h.Hosts)
	return c
}

// blocks yields the samples a block at a time, with where their lines start and the last one ends.
func (c *scanner) blocks(yield func(samples []Sample, at []int64) bool) {
	for more := c.err == nil; more; {
		lines, err := readBlock(c.br)
		samples, failed := decodeSamples(lines, c.hosts)
		at := []int64{c.end}
		for _, line := range lines[:len(samples)] {
			c.end += int64(len(line)) + 1
			at = append(at, c.end)
		}
		c.line += len(samples)
		err = cmp.Or(failed, err) // failed comes before what readBlock met
		if err != nil && !errors.Is(err, io.EOF) {
			c.err = fmt.Errorf("line %d: %w", c.line, err)
		}
		more = yield(samples, at) && err == nil
	}
}

// readBlock returns the next whole lines, with io.EOF the last ones. With another error, the line after them is at
// fault.
func readBlock(br *bufio.Reader) (lines [][]byte, err error) {
	for len(lines) < block {
		line, whole, err := readLine(br)
		switch {
		case err != nil:
			return lines, err
		case whole:
			lines = append(lines, line)
		case len(line) > 0: // Append ends every line: without its end it is cut off, even where what is left can be read
			return lines, ErrTorn
		default:
			return lines, io.EOF
		}
	}
	return lines, nil
}

// readLine returns the next line, and whether it has an end.
func readLine(br *bufio.Reader) (line []byte, whole bool, err error) {
	for {
		part, err := br.ReadSlice('\n')
		if line = append(line, part...); len(line) > maxLine {
			return nil, false, fmt.Errorf("longer than %d bytes", maxLine)
		}
		switch {
		case err == nil:
			return bytes.TrimSuffix(line, []byte("\n")), true, nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF):
			return line, false, nil
		default:
			return nil, false, err
		}
	}
}

func (h *Header) decode(line []byte, whole bool) error {
	if err := json.Unmarshal(line, h); err != nil || h.Schema == "" || !whole {
		return ErrNoHeader // cut off, nothing was measured yet
	}
	if h.Schema != Schema {
		return fmt.Errorf("schema %q, this build reads %q", h.Schema, Schema)
	}
	return nil
}

// decodeSamples returns the samples of lines, of a run of so many hosts, decoded by all CPUs at once, up to the first
// line at fault.
func decodeSamples(lines [][]byte, hosts int) ([]Sample, error) {
	samples, errs := make([]Sample, len(lines)), make([]error, len(lines))
	var wg sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		wg.Go(func() {
			for i := w; i < len(lines); i += workers {
				errs[i] = files.JSON(lines[i], &samples[i])
				if errs[i] == nil {
					errs[i] = samples[i].check(hosts)
				}
			}
		})
	}
	wg.Wait()
	if n := slices.IndexFunc(errs, func(err error) bool { return err != nil }); n >= 0 {
		return samples[:n], errs[n]
	}
	return samples, nil
}

// check rejects a sample that no experiment can have written. Parts is 0 where a line was not written by Append.
func (s *Sample) check(hosts int) error {
	switch {
	case s.Exp == "":
		return errors.New("sample without exp")
	case s.Round < 0 || s.Slot < 0 || s.Part < 0 || s.Parts < 0 || s.Parts > 0 && s.Part >= s.Parts:
		return errors.New("sample with a negative or impossible round, slot or part")
	case s.Thread != nil && (s.Thread.Host < 0 || s.Thread.Host >= hosts):
		return fmt.Errorf("thread of host %d, but the header lists %d hosts", s.Thread.Host, hosts)
	}
	for _, r := range s.Ranks {
		if r < 0 || r >= hosts {
			return fmt.Errorf("rank %d, but the header lists %d hosts", r, hosts)
		}
	}
	return s.CheckRange()
}

// ReadFile reads the dataset at path. A torn last line is not an error here: it is dropped.
func ReadFile(path string) (*Dataset, error) {
	f, err := files.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	d, err := Read(f)
	if err != nil && !errors.Is(err, ErrTorn) {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return d, nil
}
