package history

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// What is merged by several processes at once is there once, and what came meanwhile stays.
func TestMergedAtOnce(t *testing.T) {
	ctx, here, there := t.Context(), testStore(t), testStore(t)
	put(t, there, map[int]float64{1: 1, 2: 1})
	_, err := there.Acknowledge(ctx, Ack{Run: "run-00001", Reason: "new switch"})
	over := start.Add(time.Hour)
	c := Change{Hosts: []string{"a"}, Quantity: "latency", Since: start, Found: start, Over: &over, Says: "slower"}
	look := Look{At: start, Data: []byte("one")}
	err2 := there.AddLook(ctx, Watched{Look: look, Began: []*Change{&c}, Ended: []*Change{&c}})
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	begin := make(chan struct{})
	for range 4 {
		s, err := Open(ctx, here.Path, false)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		all.Go(func() {
			<-begin
			if _, err := s.Merge(ctx, there); err != nil {
				t.Error(err)
			}
		})
	}
	close(begin)
	all.Wait()
	acks, err := here.Acks(ctx)
	changes, err2 := here.Changes(ctx, 0)
	if err := errors.Join(err, err2); err != nil || len(acks) != 1 || len(changes) != 1 {
		t.Errorf("%d acknowledgements and %d changes (%v), want one of each", len(acks), len(changes), err)
	}
}

// A copy that is interrupted leaves no file.
func TestCopyInterrupted(t *testing.T) {
	s, dir := filled(t, 60), t.TempDir()
	for n := range 20 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(n*n)*20*time.Microsecond)
		err := s.Copy(ctx, filepath.Join(dir, fmt.Sprint(n)))
		cancel()
		left, failed := os.ReadDir(dir)
		if failed != nil || err != nil && len(left) > 0 || err == nil && len(left) != 1 {
			t.Fatalf("%v left: %v (%v)", left, err, failed)
		} else if err == nil {
			break
		}
	}
}
