package dataset

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"calib/internal/files"
)

// file is what a Writer needs of *os.File.
type file interface {
	io.WriteCloser
	Sync() error
	Truncate(size int64) error
}

// syncEvery bounds what a crash of the machine may lose. A slot may take a few milliseconds, as long as an fsync takes.
const syncEvery = time.Second

// Writer appends to samples.jsonl. A slot is in the file when Append has returned, whatever becomes of this process,
// and on the disk syncEvery later at most, while slots come. It is for one goroutine.
type Writer struct {
	f      file
	hosts  int
	now    func() time.Time
	synced time.Time // the last time
	bytes  int64     // of the file
	safe   int64     // bytes that are on the disk
	text   []byte    // of the slot being written
	broken error     // set when the file may end in half a slot, after which nothing may be appended
}

// open returns a writer to a file of that many bytes, all on the disk.
func open(f file, hosts int, bytes int64) *Writer {
	return &Writer{f: f, hosts: hosts, now: time.Now, synced: time.Now(), bytes: bytes, safe: bytes}
}

// Create starts a new samples.jsonl; it refuses to overwrite one.
func Create(path string, h Header) (*Writer, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	w, err := newWriter(f, h)
	if err != nil {
		// A file without a header is of no use, and would make the next Create fail.
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), f.Close(), os.Remove(path))
	}
	return w, nil
}

func newWriter(f file, h Header) (*Writer, error) {
	h.Schema = Schema
	line, err := json.Marshal(h)
	if err == nil {
		_, err = f.Write(append(line, '\n'))
	}
	if err == nil {
		err = f.Sync()
	}
	if err != nil {
		return nil, fmt.Errorf("write header: %w", err)
	}
	return open(f, len(h.Hosts), int64(len(line))+1), nil
}

// Begun reports whether a samples.jsonl has a whole first line. One that was cut off before, as its coordinator died,
// holds nothing.
func Begun(path string) (bool, error) {
	f, err := files.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	_, whole, err := readLine(bufio.NewReader(f))
	if err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return whole, err
}

// Resume reopens samples.jsonl to append: it cuts off a torn last line and the lines of a slot that is not whole, and
// returns what remains.
func Resume(path string) (*Writer, *Dataset, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|syscall.O_NOFOLLOW, 0) // a link would have another file cut off
	if errors.Is(err, syscall.ELOOP) {
		return nil, nil, fmt.Errorf("%s is a symbolic link: put the file itself there "+
			"(cp --remove-destination \"$(readlink -f %s)\" %s)", path, path, path)
	}
	if err != nil {
		return nil, nil, err
	}
	d, starts, err := read(f)
	var kept int64
	if err == nil || errors.Is(err, ErrTorn) {
		kept = d.dropPartialSlot(starts)
		err = errors.Join(f.Truncate(kept), f.Sync())
	}
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
	}
	return open(f, len(d.Header.Hosts), kept), d, nil
}

// dropPartialSlot removes the last slot's samples when its last part is missing, and returns where the file then ends.
// Parts are in order, so the last line shows whether its slot is whole.
func (d *Dataset) dropPartialSlot(starts []int64) int64 {
	n := len(d.Samples)
	if n > 0 && d.Samples[n-1].Part+1 < d.Samples[n-1].Parts {
		n = max(0, n-1-d.Samples[n-1].Part)
		d.Samples = d.Samples[:n]
	}
	return starts[n]
}

// Append writes the samples of one slot. It numbers their parts. On an error, such as a full disk, the file keeps the
// slots before this one and nothing of this one; where even that fails, or the disk has lost slots that it had taken,
// no more is appended.
func (w *Writer) Append(slot []Sample) error {
	if w.broken != nil {
		return w.broken
	}
	text, err := w.encode(slot)
	if err != nil || len(slot) == 0 {
		return err
	}
	if _, err = w.f.Write(text); err != nil {
		err = fmt.Errorf("append slot %d: %w", slot[0].Slot, err)
		if cut := w.f.Truncate(w.bytes); cut != nil {
			w.broken = errors.Join(err, fmt.Errorf("cut it off again: %w", cut))
			return w.broken
		}
		return err
	}
	w.bytes += int64(len(text))
	if w.now().Sub(w.synced) < syncEvery {
		return nil
	}
	return w.sync()
}

// sync brings the file to the disk. A disk that fails may have lost what it took since the last time: the file is cut
// off there.
func (w *Writer) sync() error {
	if err := w.f.Sync(); err != nil {
		w.broken = fmt.Errorf("sync slots to the disk: %w", err)
		if cut := w.f.Truncate(w.safe); cut != nil {
			w.broken = errors.Join(w.broken, fmt.Errorf("cut them off: %w", cut))
		}
		return w.broken
	}
	w.synced, w.safe = w.now(), w.bytes
	return nil
}

// encode writes the lines of a slot, and refuses those that Read would refuse: one bad sample must not make a file
// unreadable.
func (w *Writer) encode(slot []Sample) ([]byte, error) {
	w.text = w.text[:0]
	for i := range slot {
		slot[i].Part, slot[i].Parts = i, len(slot)
		var line []byte
		err := slot[i].check(w.hosts)
		if err == nil {
			line, err = json.Marshal(&slot[i])
		}
		if n := len(line); err == nil && n >= maxLine {
			err = fmt.Errorf("a line of %d bytes, the limit is %d", n, maxLine)
		}
		if err != nil {
			return nil, fmt.Errorf("append slot %d, part %d: %w", slot[i].Slot, i, err)
		}
		w.text = append(append(w.text, line...), '\n')
	}
	return w.text, nil
}

// Close brings what was written to the disk and closes the file.
func (w *Writer) Close() error {
	var err error
	if w.bytes > w.safe && w.broken == nil {
		err = w.sync()
	}
	return errors.Join(err, w.f.Close())
}
