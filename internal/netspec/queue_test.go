package netspec

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Events come in order of time, and those of equal time in the order in which they were added.
func TestHeapIsAStableSort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type event struct{ at, id int64 }
		var want, got []event
		var h Heap[int64, int64]
		for i, at := range rapid.SliceOf(rapid.Int64Range(0, 9)).Draw(t, "times") {
			h.Push(at, int64(i))
			want = append(want, event{at, int64(i)})
		}
		slices.SortStableFunc(want, func(a, b event) int { return cmp.Compare(a.at, b.at) })
		for h.Len() > 0 {
			if at, _ := h.Peek(); h.Quiet(at) || !h.Quiet(at-1) {
				t.Fatalf("the next event is at %d, but Quiet does not say so", at)
			}
			at, id := h.Pop()
			got = append(got, event{at, id})
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
	})
}

func TestQueueIsASlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q Queue[int]
		var want []int
		for i, push := range rapid.SliceOf(rapid.Bool()).Draw(t, "pushes") {
			switch {
			case push:
				q.Push(i)
				want = append(want, i)
			case len(want) > 0:
				if first, v := q.Peek(), q.Pop(); first != want[0] || v != want[0] {
					t.Fatalf("peeked %d and popped %d, want %d", first, v, want[0])
				}
				want = want[1:]
			}
			if q.Len() != len(want) {
				t.Fatalf("%d values, want %d", q.Len(), len(want))
			}
		}
	})
}

// A host is active until window after it has last sent, whenever others did.
func TestActivityCountsHostsOfLate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const hosts, window = 5, 10
		a := newActivity[int64](hosts, window)
		last, latest := map[int]int64{}, int64(0)
		for range rapid.IntRange(1, 40).Draw(t, "sendings") {
			at, host := max(0, latest+rapid.Int64Range(-3, 12).Draw(t, "later")), rapid.IntRange(0, hosts-1).Draw(t, "host")
			latest = max(latest, at)
			last[host] = latest
			want := 0
			for _, sent := range last {
				if sent >= latest-window {
					want++
				}
			}
			if got := a.Sent(at, host); got != want {
				t.Fatalf("%d hosts are active at %d, want %d of %v", got, at, want, last)
			}
		}
	})
}
