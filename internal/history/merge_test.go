package history

import (
	"errors"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"calib/params"
)

// put stores runs, n and its night.
func put(t *testing.T, s *Store, runs map[int]float64) {
	t.Helper()
	for n, night := range runs {
		r := testRecord(n, night)
		point := params.Residual{X: 1, Measured: 1, Lo: math.NaN(), Hi: math.Inf(1)} // is null
		r.Params.Fits = []*params.Fit{{Model: "m", Series: []params.Series{{Quantity: params.Time,
			Points: []params.Residual{point}}}}}
		if _, err := s.Add(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
}

func TestMerge(t *testing.T) {
	ctx, here, there := t.Context(), testStore(t), testStore(t)
	put(t, here, map[int]float64{1: 1, 2: 1, 4: 2})
	put(t, there, map[int]float64{2: 1, 3: 1, 4: 1})
	there.now = func() time.Time { return start }
	_, err1 := there.Acknowledge(ctx, Ack{Run: "run-00003", Reason: "new switch"})
	err2 := there.SetBaseline(ctx, Baseline{Name: "good", Runs: []string{"run-00002", "run-00003"}, Floor: []byte("{}")})
	err3 := there.SetBaseline(ctx, Baseline{Name: "main", Runs: []string{"run-00003"}})
	err4 := here.SetBaseline(ctx, Baseline{Name: "main", Runs: []string{"run-00001"}})
	copied := filepath.Join(t.TempDir(), "shared.db")
	if err := errors.Join(err1, err2, err3, err4, there.Copy(ctx, copied)); err != nil {
		t.Fatal(err)
	}
	if err := there.Copy(ctx, copied); !errors.Is(err, fs.ErrExist) {
		t.Errorf("copied over a file: %v", err)
	}
	shared, err := Open(ctx, copied, false)
	if err != nil {
		t.Fatal(err)
	}
	defer shared.Close()
	for turn := range 2 {
		m, err := here.Merge(ctx, shared)
		if err != nil {
			t.Fatal(err)
		}
		if len(m.Left) != 2 { // run 4 and baseline main are others
			t.Errorf("turn %d: left %q", turn, m.Left)
		}
		m.Left = nil
		want := []Merged{{Added: []string{"run-00003"}, Known: 1, Baselines: []string{"good"}, Acks: 1},
			{Added: []string{}, Known: 2, Baselines: []string{}}}[turn]
		if diff := cmp.Diff(want, m); diff != "" {
			t.Errorf("turn %d: %s", turn, diff)
		}
	}
	good, err := here.Baseline(ctx, "good")
	if err != nil || !cmp.Equal(good.Runs, []string{"run-00002", "run-00003"}) || string(good.Floor) != "{}" ||
		!good.Made.Equal(start) {
		t.Errorf("%+v, %v", good, err)
	}
	if acks, err := here.Acks(ctx); err != nil || len(acks) != 1 || !acks[0].Made.Equal(start) {
		t.Errorf("%+v, %v", acks, err)
	}
	if main, err := here.Baseline(ctx, "main"); err != nil || !cmp.Equal(main.Runs, []string{"run-00001"}) {
		t.Errorf("%+v, %v", main, err)
	}
}

// The plan of a run that is here without one comes with the run of the other store.
func TestMergeBringsThePlan(t *testing.T) {
	ctx, here, there := t.Context(), testStore(t), testStore(t)
	bare, whole := testRecord(1, 1), testRecord(1, 1)
	bare.Detail, whole.Detail = nil, []byte(`{"plan":{}}`)
	_, err1 := here.Add(ctx, bare)
	_, err2 := there.Add(ctx, whole)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	if m, err := here.Merge(ctx, there); err != nil || m.Known != 1 || len(m.Left)+len(m.Added) > 0 {
		t.Errorf("%+v, %v", m, err)
	}
	if _, how, err := here.Read(ctx, "run-00001"); err != nil || string(how.Detail) != string(whole.Detail) {
		t.Errorf("%s, %v", how.Detail, err)
	}
}

// TestMergeWatch: looks and changes of two watches are one another's, whatever their numbers, and none is doubled. A
// change comes when it is over.
func TestMergeWatch(t *testing.T) {
	ctx, here, there := t.Context(), testStore(t), testStore(t)
	after := func(minutes int) time.Time { return start.Add(time.Duration(minutes) * time.Minute) }
	look := func(s *Store, minute int, data string, began *Change, ended ...*Change) {
		t.Helper()
		w := Watched{Look: Look{At: after(minute), Data: []byte(data)}, Ended: ended}
		w.Machines = map[string]string{"a": data, data: "its own"}
		if began != nil {
			w.Began = []*Change{began}
		}
		if err := s.AddLook(ctx, w); err != nil {
			t.Fatal(err)
		}
	}
	slow := func(since int, hosts ...string) *Change {
		return &Change{Hosts: hosts, Quantity: "latency", Since: after(since), Found: after(since + 1)}
	}
	over := func(c *Change, minute int) *Change {
		at := after(minute)
		c.Over = &at
		return c
	}
	mine, pair, lasts, early := slow(1, "a", "b"), slow(2, "b", "a"), slow(5, "c"), slow(0, "d")
	look(here, 0, "one", mine)
	look(here, 9, "both", nil)
	look(there, 1, "one", early)
	look(there, 3, "two", pair, over(early, 2))
	look(there, 6, "three", lasts, over(pair, 5))
	look(there, 9, "both", nil)

	merge := func(s, other *Store, looks int64, changes int) {
		t.Helper()
		want := Merged{Added: []string{}, Baselines: []string{}, Looks: looks, Changes: changes}
		for range 2 { // the second time there is nothing new
			if m, err := s.Merge(ctx, other); err != nil || !cmp.Equal(want, m) {
				t.Errorf("%v, %s", err, cmp.Diff(want, m))
			}
			want.Looks, want.Changes = 0, 0
		}
	}
	merge(here, there, 3, 1) // early; mine is the same as pair
	merge(there, here, 1, 0)
	look(there, 12, "end", nil, over(lasts, 11))
	merge(here, there, 1, 1)
	changes, err := here.Changes(ctx, 0)
	if err != nil || len(changes) != 3 || changes[0].Hosts[0] != "d" || changes[1].Over != nil || changes[2].Over == nil {
		t.Errorf("%v, %+v", err, changes)
	}
	machines, err := here.Machines(ctx)
	if err != nil || len(machines) != 6 || machines["a"] != "both" {
		t.Errorf("%v, %v", err, machines)
	}

	// A look that is new comes, also of a day that is folded here. The day takes the place of its looks.
	if err := there.AddLook(ctx, Watched{Look: Look{At: after(4), Data: []byte("late")}}); err != nil {
		t.Fatal(err)
	}
	err = here.Fold(ctx, start.Add(48*time.Hour), start.Add(96*time.Hour), 24*time.Hour,
		func([]Look) []byte { return []byte("day") })
	if err != nil {
		t.Fatal(err)
	}
	merge(here, there, 1, 0)
	merge(there, here, 1, 0)
}

// TestMergeFolded: no look is in a store twice, raw and folded, and none stays away because of others of its day.
func TestMergeFolded(t *testing.T) {
	ctx, a, b, c := t.Context(), testStore(t), testStore(t), testStore(t)
	look := func(s *Store, minute int) {
		t.Helper()
		at := start.Add(time.Duration(minute) * time.Minute)
		if err := s.AddLook(ctx, Watched{Look: Look{At: at, Data: []byte(at.Format("15:04"))}}); err != nil {
			t.Fatal(err)
		}
	}
	fold := func(s *Store) {
		t.Helper()
		err := s.Fold(ctx, start.Add(48*time.Hour), start.Add(96*time.Hour), 24*time.Hour, func(all []Look) (of []byte) {
			for _, l := range all {
				of = append(append(of, '+'), l.Data...)
			}
			return of
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	merge := func(s, other *Store, looks int64, left int, want ...string) {
		t.Helper()
		for range 2 { // the second time there is nothing new
			if m, err := s.Merge(ctx, other); err != nil || m.Looks != looks || len(m.Left) != left {
				t.Errorf("%+v, %v; want %d looks, %d left", m, err, looks, left)
			}
			looks = 0
		}
		var got []string
		err := s.EachLook(ctx, time.Time{}, func(l Look) error { got = append(got, string(l.Data)); return nil })
		slices.Sort(got)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q, %v, want %q", got, err, want)
		}
	}
	look(a, 0)
	look(a, 3)
	look(b, 1)
	merge(b, a, 2, 0, "02:00", "02:01", "02:03")
	fold(a)
	merge(b, a, 1, 0, "+02:00+02:03", "02:01")
	fold(b)
	look(c, 2)
	merge(b, c, 1, 0, "+02:00+02:03", "+02:01", "02:02")
	merge(a, b, 2, 0, "+02:00+02:03", "+02:01", "02:02")
	fold(b)
	look(c, 5)
	fold(c)
	merge(b, c, 0, 1, "+02:00+02:03", "+02:01", "+02:02")
}

// TestFoldMeanwhile: a look that comes while a day is folded, as by a merge, is not lost.
func TestFoldMeanwhile(t *testing.T) {
	ctx, s := t.Context(), testStore(t)
	look := func(data string, hour int) {
		t.Helper()
		l := Look{At: start.Add(time.Duration(hour) * time.Hour), Data: []byte(data)}
		if err := s.AddLook(ctx, Watched{Look: l}); err != nil {
			t.Fatal(err)
		}
	}
	look("first", 0)
	look("last", 2)
	err := s.Fold(ctx, start.Add(48*time.Hour), start.Add(96*time.Hour), 24*time.Hour, func([]Look) []byte {
		look("merged", 1)
		return []byte("day")
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	err = s.EachLook(ctx, time.Time{}, func(l Look) error { got = append(got, string(l.Data)); return nil })
	if err != nil || !slices.Equal(got, []string{"day", "merged"}) {
		t.Errorf("%q, %v, want the day, and what came meanwhile", got, err)
	}
}

// TestMergeChangesOfClusters: the networks of two clusters may be slow at the same time.
func TestMergeChangesOfClusters(t *testing.T) {
	ctx, here, there := t.Context(), testStore(t), testStore(t)
	slow := func(s *Store, from, to int, watched ...string) {
		t.Helper()
		at := func(hour int) time.Time { return start.Add(time.Duration(hour) * time.Hour) }
		c := &Change{Quantity: "latency", Since: at(from), Found: at(from), Watched: watched}
		err1 := s.AddLook(ctx, Watched{Look: Look{At: at(from), Data: []byte("x")}, Began: []*Change{c}})
		over := at(to)
		c.Over = &over
		err2 := s.AddLook(ctx, Watched{Look: Look{At: over, Data: []byte("x")}, Ended: []*Change{c}})
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
	}
	slow(here, 10, 12, "m1", "m2", "m3")
	slow(there, 11, 13, "n1", "n2")
	slow(there, 11, 13, "m3", "m2") // the one that is here
	if m, err := here.Merge(ctx, there); err != nil || m.Changes != 1 {
		t.Errorf("%+v, %v", m, err)
	}
	all, err := here.Changes(ctx, 0)
	if err != nil || len(all) != 2 || !cmp.Equal(all[1].Watched, []string{"n1", "n2"}) {
		t.Errorf("%+v, %v", all, err)
	}
}
