package dataset

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// disk is a file on a disk with little room.
type disk struct {
	data           []byte
	room           int
	sync, truncate error
	syncs          int
}

func (d *disk) Write(b []byte) (int, error) {
	n := min(len(b), d.room-len(d.data))
	d.data = append(d.data, b[:n]...)
	if n < len(b) {
		return n, syscall.ENOSPC
	}
	return n, nil
}

func (d *disk) Seek(int64, int) (int64, error) { return int64(len(d.data)), nil }
func (d *disk) Close() error                   { return nil }
func (d *disk) Sync() error {
	d.syncs++
	return d.sync
}
func (d *disk) Truncate(n int64) error {
	if d.truncate == nil {
		d.data = d.data[:n]
	}
	return d.truncate
}

func TestDiskFull(t *testing.T) {
	if _, err := newWriter(&disk{room: 10}, testHeader()); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("no room for the header: %v", err)
	}
	rapid.Check(t, func(t *rapid.T) {
		d := &disk{room: 2000 + rapid.IntRange(0, 3000).Draw(t, "room")}
		w, err := newWriter(d, testHeader())
		if err != nil {
			t.Fatal(err)
		}
		kept := 0
		for id := range 30 {
			n := rapid.IntRange(1, 4).Draw(t, "parts")
			switch err := w.Append(slot(id, n)); {
			case err == nil:
				kept += n
			case !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), fmt.Sprintf("append slot %d: ", id)):
				t.Fatalf("slot %d: %v", id, err)
			}
		}
		back, err := Read(strings.NewReader(string(d.data)))
		if err != nil || len(back.Samples) != kept {
			t.Fatalf("%d samples read, %d kept: %v", len(back.Samples), kept, err)
		}
	})
}

// clocked returns a writer to d, and its clock.
func clocked(t *testing.T, d *disk) (w *Writer, clock *time.Time) {
	t.Helper()
	w, err := newWriter(d, testHeader())
	if err != nil {
		t.Fatal(err)
	}
	now := w.synced
	w.now = func() time.Time { return now }
	return w, &now
}

// Slots are brought to the disk once in a while, not each, and the last at the end.
func TestSyncs(t *testing.T) {
	d := &disk{room: 1 << 20}
	w, clock := clocked(t, d)
	for id := range 40 {
		*clock = clock.Add(100 * time.Millisecond)
		if err := w.Append(slot(id, 1)); err != nil {
			t.Fatal(err)
		}
	}
	if d.syncs != 1+4 || w.safe != int64(len(d.data)) { // the header and every tenth slot
		t.Errorf("%d syncs, %d bytes of %d on the disk", d.syncs, w.safe, len(d.data))
	}
	if err := errors.Join(w.Append(slot(40, 1)), w.Close()); err != nil || d.syncs != 6 {
		t.Errorf("at the end: %d syncs, %v", d.syncs, err)
	}
}

func TestDiskBroken(t *testing.T) {
	lost := errors.New("lost")
	d := &disk{room: 1 << 20}
	w, clock := clocked(t, d)
	header := len(d.data)
	if err := w.Append(slot(0, 1)); err != nil {
		t.Fatal(err)
	}
	d.sync = syscall.EIO
	*clock = clock.Add(syncEvery)
	if err := w.Append(slot(1, 1)); !errors.Is(err, syscall.EIO) || len(d.data) != header {
		t.Errorf("not synced: %v, %d bytes beyond the header", err, len(d.data)-header)
	}
	d.sync = nil
	if err := w.Append(slot(2, 1)); !errors.Is(err, syscall.EIO) || len(d.data) != header {
		t.Errorf("appended after slots were lost: %v", err)
	}

	w, _ = clocked(t, d)
	d.room, d.truncate = len(d.data)+10, lost
	if err := w.Append(slot(0, 1)); !errors.Is(err, syscall.ENOSPC) || !errors.Is(err, lost) {
		t.Errorf("not cut off: %v", err)
	}
	d.room, d.truncate = 1<<20, nil
	size := len(d.data)
	if err := w.Append(slot(1, 1)); !errors.Is(err, lost) || len(d.data) != size {
		t.Errorf("appended after a slot that may be torn: %v", err)
	}
}
