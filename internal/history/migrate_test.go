package history

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"calib/internal/params"
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
	if version > 4 { // step 5, which is no longer there
		if _, err := s.db.ExecContext(t.Context(), `DROP TABLE readings;
			INSERT INTO goose_db_version (version_id, is_applied) VALUES (5, 1)`); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// oldStore makes a store of a version before 7, with runs of the metrics m00, m01, …, a night each; every third number
// has an interval, and every fifth run lacks the first metric. The last metric is of a link.
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
	exec("INSERT INTO hosts (name) VALUES ('b'), ('a')")
	exec("INSERT INTO links (sender, receiver) VALUES (2, 1)")
	for k := range metrics {
		var link any
		if k == metrics-1 {
			link = 1
		}
		exec("INSERT INTO metrics (name, unit, link, label, better) VALUES (?, 's', ?, 'a time', 'lower')", oldMetric(k),
			link)
	}
	for i := range runs {
		id := testRecord(i, 1).Params.Run.ID
		exec(`INSERT INTO runs (id, started, added, plan, hosts, status, label, revision, path, digest, cluster)
			VALUES (?, ?, 0, 'standard', 0, '', '', '', '', x'00', 1)`, id, nanos(oldNight(i)))
		tiles := map[int][]byte{}
		for k := range metrics {
			r := oldValue(i, k)
			if r == nil {
				continue
			}
			floats := []float64{r.Value}
			slot, lo, hi := byte((k+1)%32), any(nil), any(nil)
			if r.CI95 != nil {
				slot, lo, hi, floats = slot|0x80, r.CI95[0], r.CI95[1], append(floats, r.CI95[:]...)
			}
			if version < 5 {
				exec(oldReading, r.Value, lo, hi, oldMetric(k), id)
				continue
			}
			tile := append(tiles[(k+1)/32], slot)
			for _, f := range floats {
				tile = binary.LittleEndian.AppendUint64(tile, math.Float64bits(f))
			}
			tiles[(k+1)/32] = tile
		}
		for strip, tile := range tiles {
			exec("INSERT INTO tiles (strip, started, run, numbers) SELECT ?, started, key, ? FROM runs WHERE id = ?", strip,
				tile, id)
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

// The readings of an old store are its series still, with their counts, whether it kept them in rows or in tiles.
func TestReadingsOfOldStores(t *testing.T) {
	const runs, metrics = 11, 69
	for version := int64(1); version < unpackVersion; version++ {
		s, err := Open(t.Context(), oldStore(t, version, runs, metrics), true)
		if err != nil {
			t.Fatal(err)
		}
		all, err := s.Followed(t.Context())
		if err != nil || len(all) != metrics {
			t.Fatal(version, len(all), err)
		}
		if link := all[metrics-1].Link(); link != "a→b" {
			t.Errorf("version %d: the last metric is of the link %q", version, link)
		}
		for k, series := range seriesOf(t, s, all) {
			var want []Reading
			for i := range runs {
				if r := oldValue(i, k); r != nil {
					want = append(want, *r)
				}
			}
			if d := cmp.Diff(want, series); d != "" {
				t.Errorf("version %d: %s: %s", version, all[k].Name, d)
			}
			f := all[k]
			if f.Name != oldMetric(k) || f.Runs != len(want) || !f.First.Equal(want[0].At) ||
				!f.Last.Equal(want[len(want)-1].At) {
				t.Errorf("version %d: %+v", version, f)
			}
		}
		if got, want := schemaOf(t, s), schemaOf(t, testStore(t)); !slices.Equal(got, want) {
			t.Errorf("version %d: it has %v, a new store %v", version, got, want)
		}
		var verdict string
		if err := s.db.QueryRow("PRAGMA integrity_check").Scan(&verdict); err != nil || verdict != "ok" {
			t.Errorf("version %d: integrity: %s %v", version, verdict, err)
		}
		broken, err := collect(t.Context(), s, "check references", func(*struct{}) []any {
			return []any{new(any), new(any), new(any), new(any)}
		}, "PRAGMA foreign_key_check")
		if err != nil || len(broken) > 0 {
			t.Errorf("version %d: %d references are broken: %v", version, len(broken), err)
		}
		if _, err := s.Add(t.Context(), testRecord(runs, 1)); err != nil {
			t.Errorf("version %d: %v", version, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// schemaOf lists the tables with their columns, the indexes and the triggers of a store.
func schemaOf(t *testing.T, s *Store) []string {
	t.Helper()
	out, err := collect(t.Context(), s, "read the schema", func(v *string) []any { return []any{v} },
		`SELECT m.name || '.' || ifnull(c.name || ' ' || c.type, '') FROM sqlite_schema AS m
		LEFT JOIN pragma_table_info(m.name) AS c ORDER BY 1`)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// What else an old store has stays: its baselines, acknowledgements, log and the details of its runs.
func TestOldStoreKeepsAll(t *testing.T) {
	ctx, path := t.Context(), oldStore(t, 6, 3, 2)
	old, err := connect(path, "mode=rw")
	if err != nil {
		t.Fatal(err)
	}
	_, text, err := complete(testRecord(1, 1))
	packed, perr := compress(text)
	if err := errors.Join(err, perr); err != nil {
		t.Fatal(err)
	}
	if _, err := old.db.ExecContext(ctx, `INSERT INTO documents (run, params, detail, took)
		SELECT key, ?, ?, 7e9 FROM runs WHERE id = 'run-00001'`, packed, []byte(`{"plan":1}`)); err != nil {
		t.Fatal(err)
	}
	err = old.SetBaseline(ctx, Baseline{Name: "good", Note: "n", Runs: []string{"run-00001"}, Floor: []byte("{}")})
	ack, aerr := old.Acknowledge(ctx, Ack{Metric: "m00", Link: "a→b", Run: "run-00002", Reason: "new cable"})
	runs, rerr := old.List(ctx, Filter{})
	baselines, berr := old.Baselines(ctx)
	events, eerr := old.Events(ctx, 0)
	if err := errors.Join(err, aerr, rerr, berr, eerr, old.Close()); err != nil {
		t.Fatal(err)
	}
	s, err := Open(ctx, path, true)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	gotRuns, rerr := s.List(ctx, Filter{})
	gotBaselines, berr := s.Baselines(ctx)
	gotEvents, eerr := s.Events(ctx, 0)
	acks, aerr := s.Acks(ctx)
	p, m, merr := s.Read(ctx, "run-00001")
	if err := errors.Join(rerr, berr, eerr, aerr, merr); err != nil {
		t.Fatal(err)
	}
	d := cmp.Diff(runs, gotRuns) + cmp.Diff(baselines, gotBaselines) + cmp.Diff(events, gotEvents) +
		cmp.Diff([]Ack{ack}, acks)
	if d != "" || string(gotBaselines[0].Floor) != "{}" || string(m.Detail) != `{"plan":1}` || m.Took != 7*time.Second ||
		p.Run.ID != "run-00001" {
		t.Errorf("%s baselines %+v, measured %+v, %v", d, gotBaselines, m, p)
	}
	if err := s.Remove(ctx, "run-00001"); !errors.Is(err, ErrInUse) {
		t.Errorf("remove: %v", err)
	}
}

// A migration that cannot be ended leaves the old store as it was.
func TestMigrationIsWholeOrNot(t *testing.T) {
	path := oldStore(t, 6, 40, 2)
	old, err := connect(path, "mode=rw")
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	before := schemaOf(t, old)
	var tile []byte
	err = old.db.QueryRow("UPDATE tiles SET numbers = x'0102' WHERE run = 40 RETURNING numbers").Scan(&tile)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), path, true); !errors.Is(err, ErrDamaged) {
		t.Errorf("a damaged tile: %v", err)
	}
	var tiles int
	err = old.db.QueryRow("SELECT count(*) FROM tiles").Scan(&tiles)
	if err != nil || tiles != 40 || !slices.Equal(schemaOf(t, old), before) {
		t.Errorf("%d tiles are left: %v", tiles, err)
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
	s, err := Open(t.Context(), path, true)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	metrics := numbersOf(t, s, "run-00000")
	named := func(name string) bool {
		return slices.ContainsFunc(metrics, func(m params.Metric) bool { return m.Name == name })
	}
	if named("identity_hku") || !named("identity_cluster") {
		t.Errorf("metrics are %v", metrics)
	}
}

func compress(b []byte) ([]byte, error) {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	_, err := z.Write(b)
	err = errors.Join(err, z.Close())
	return out.Bytes(), err
}
