package history

import (
	"errors"
	"io/fs"
	"math"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"calib/params"
)

// put stores runs, n and its night.
func put(t *testing.T, s *Store, runs map[int]float64) {
	t.Helper()
	for n, night := range runs {
		r := testRecord(n, night)
		point := params.Residual{X: 1, Measured: 1, Lo: math.NaN(), Hi: math.Inf(1)} // is null
		r.Params.Fits = []*params.Fit{{Model: "m", Series: []params.Series{{Quantity: params.Time, Points: []params.Residual{point}}}}}
		if _, err := s.Add(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
}

func TestMerge(t *testing.T) {
	ctx, here, there := t.Context(), testStore(t), testStore(t)
	put(t, here, map[int]float64{1: 1, 2: 1, 4: 2})
	put(t, there, map[int]float64{2: 1, 3: 1, 4: 1})
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
	if err != nil || !cmp.Equal(good.Runs, []string{"run-00002", "run-00003"}) || string(good.Floor) != "{}" {
		t.Errorf("%+v, %v", good, err)
	}
	if main, err := here.Baseline(ctx, "main"); err != nil || !cmp.Equal(main.Runs, []string{"run-00001"}) {
		t.Errorf("%+v, %v", main, err)
	}
}
