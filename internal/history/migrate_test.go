package history

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"calib/fit/params"
)

// oldReading is a number as stores had it before they had tiles.
const oldReading = `INSERT INTO readings (metric, started, run, value, lo, hi)
	SELECT metrics.key, runs.started, runs.key, ?, ?, ? FROM metrics, runs WHERE metrics.name = ? AND runs.id = ?`

// emptyStore makes a store of that version, without a run.
func emptyStore(t *testing.T, path string, version int64) *Store {
	t.Helper()
	s, err := connect(path, "mode=rwc")
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.provider()
	if err := errors.Join(err, s.claim(t.Context())); err != nil {
		t.Fatal(err)
	}
	if _, err := p.UpTo(t.Context(), version); err != nil {
		t.Fatal(err)
	}
	return s
}

// oldStore makes a store of a version before 4, with runs of the metrics m00, m01, …, a night each; every third number
// has an interval, and every fifth run lacks the first metric.
func oldStore(t *testing.T, version int64, runs, metrics int) (path string) {
	t.Helper()
	ctx := t.Context()
	path = filepath.Join(t.TempDir(), "old.db")
	s := emptyStore(t, path, version)
	exec := func(query string, args ...any) {
		if _, err := s.db.ExecContext(ctx, query, args...); err != nil {
			t.Fatal(err)
		}
	}
	exec("INSERT INTO clusters (digest, hosts, environment) VALUES (x'00', '[]', '{}')")
	for k := range metrics {
		exec("INSERT INTO metrics (name, unit, label, better) VALUES (?, 's', 'a time', 'lower')", oldMetric(k))
	}
	for i := range runs {
		id := testRecord(i, 1).Params.Run.ID
		exec(`INSERT INTO runs (id, started, added, plan, hosts, status, label, revision, path, digest, cluster)
			VALUES (?, ?, 0, 'standard', 0, '', '', '', '', x'00', 1)`, id, nanos(oldNight(i)))
		for k := range metrics {
			if r := oldValue(i, k); r != nil {
				var lo, hi any
				if r.CI95 != nil {
					lo, hi = r.CI95[0], r.CI95[1]
				}
				exec(oldReading, r.Value, lo, hi, oldMetric(k), id)
			}
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func oldMetric(k int) string { return "m" + string(rune('0'+k/10)) + string(rune('0'+k%10)) }

func oldNight(i int) time.Time { return start.Add(time.Duration(i) * 24 * time.Hour) }

// oldValue is the reading of a metric in a run of oldStore, nil where there is none.
func oldValue(run, metric int) *Reading {
	if metric == 0 && run%5 == 4 {
		return nil
	}
	r := &Reading{Run: testRecord(run, 1).Params.Run.ID, At: oldNight(run), Value: float64(1000*metric + run)}
	if (run+metric)%3 == 0 {
		r.CI95 = &[2]float64{r.Value - 1, r.Value + 1}
	}
	return r
}

// The readings of an old store are its series still, with their counts, over more metrics than a tile holds.
func TestReadingsArePacked(t *testing.T) {
	const runs, metrics = 11, 2*tileWidth + 5
	s, err := Open(t.Context(), oldStore(t, 3, runs, metrics))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	all, err := s.Followed(t.Context())
	if err != nil || len(all) != metrics {
		t.Fatal(len(all), err)
	}
	series, err := s.Series(t.Context(), Filter{}, all...)
	if err != nil {
		t.Fatal(err)
	}
	for k, f := range all {
		var want []Reading
		for i := range runs {
			if r := oldValue(i, k); r != nil {
				want = append(want, *r)
			}
		}
		if d := cmp.Diff(want, series[k]); d != "" {
			t.Errorf("%s: %s", f.Name, d)
		}
		if f.Name != oldMetric(k) || f.Runs != len(want) || !f.First.Equal(want[0].At) || !f.Last.Equal(want[len(want)-1].At) {
			t.Errorf("%+v", f)
		}
	}
	var left int
	if err := s.db.QueryRowContext(t.Context(), "SELECT count(*) FROM sqlite_schema WHERE name LIKE 'readings%'").Scan(&left); err != nil || left != 0 {
		t.Errorf("%d tables and indexes of readings are left: %v", left, err)
	}
}

// A store of the second version followed identity_hku, which is identity_cluster now: its series goes on.
func TestRenamedMetric(t *testing.T) {
	path := oldStore(t, 2, 1, 2)
	old, err := connect(path, "mode=rw")
	if err == nil {
		_, err = old.db.ExecContext(t.Context(), "UPDATE metrics SET name = 'identity_hku' WHERE key = (SELECT min(key) FROM metrics)")
		err = errors.Join(err, old.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	metrics, _, _ := rowsOf(t, s, "run-00000")
	named := func(name string) bool {
		return slices.ContainsFunc(metrics, func(m params.Metric) bool { return m.Name == name })
	}
	if named("identity_hku") || !named("identity_cluster") {
		t.Errorf("metrics are %v", metrics)
	}
}
