package history

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"calib/params"
)

var start = time.Date(2026, 1, 1, 2, 0, 0, 0, time.UTC)

// testParams is a run of a number of hosts with parameters and links; night moves every value.
func testParams(id string, hosts, parameters int, night float64) *params.Params {
	p := &params.Params{
		Schema: params.Schema, Run: params.Run{ID: id, Plan: "standard", Seed: 1},
		Environment: params.Environment{Common: map[string]string{"kernel": "6.1"}},
		Parameters:  map[string]params.Parameter{}, Functions: map[string]params.Function{},
	}
	for i := range hosts {
		p.Run.Hosts = append(p.Run.Hosts, fmt.Sprintf("node%02d", i))
	}
	for i := range parameters {
		v := 1e-4 * float64(i+1) * night
		p.Parameters[fmt.Sprintf("p%02d", i)] = params.Parameter{
			Value: &v, Unit: "s", CI95: &[2]float64{0.99 * v, 1.01 * v}, Status: params.StatusOK, Label: "a time",
			Model: "m", Experiment: "e", Source: "s",
		}
	}
	for i := range hosts {
		for j := i + 1; j < hosts; j++ {
			latency, rate := 1e-4*night, 1e8/night
			p.Pairs = append(p.Pairs, params.Pair{From: p.Run.Hosts[i], To: p.Run.Hosts[j], Latency: &latency, Rate: &rate})
		}
	}
	return p
}

func testRecord(n int, night float64) Record {
	id := fmt.Sprintf("run-%05d", n)
	return Record{Entry: Entry{Started: start.Add(time.Duration(n) * 24 * time.Hour), Label: "nightly", Commit: "c0ffee",
		Status: "complete", Path: "/runs/" + id}, Params: testParams(id, 3, 2, night)}
}

func testStore(t testing.TB) *Store {
	t.Helper()
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "deep", "history.db"), true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	s.now = func() time.Time { return start.Add(time.Hour) }
	return s
}

func filled(t testing.TB, n int) *Store {
	t.Helper()
	s := testStore(t)
	for i := range n {
		if added, err := s.Add(t.Context(), testRecord(i, 1+0.01*float64(i))); err != nil || !added {
			t.Fatal(added, err)
		}
	}
	return s
}

// numbersOf reads the numbers that are stored of a run beside its params.json.
func numbersOf(t testing.TB, s *Store, id string) []params.Metric {
	t.Helper()
	type row struct {
		params.Metric
		lo, hi *float64
	}
	rows, err := collect(t.Context(), s, "read the numbers", func(m *row) []any {
		return []any{&m.Name, &m.From, &m.To, &m.Unit, &m.Label, &m.Better, &m.Value, &m.lo, &m.hi}
	}, `SELECT name, sender, receiver, unit, metrics.label, better, value, lo, hi FROM readings
		JOIN metrics ON metrics.key = metric JOIN runs ON runs.key = run WHERE runs.id = ? ORDER BY sender, receiver, name`, id)
	if err != nil {
		t.Fatal(err)
	}
	var out []params.Metric
	for _, r := range rows {
		if r.lo != nil {
			r.CI95 = &[2]float64{*r.lo, *r.hi}
		}
		r.Status = params.StatusOK // no other is stored
		out = append(out, r.Metric)
	}
	return out
}

func TestRunsComeBack(t *testing.T) {
	ctx, s := t.Context(), filled(t, 4)
	all, err := s.List(ctx, Filter{})
	if err != nil || len(all) != 4 {
		t.Fatal(all, err)
	}
	want := Entry{ID: "run-00002", Started: start.Add(48 * time.Hour), Added: start.Add(time.Hour), Plan: "standard",
		Hosts:  3,
		Status: "complete", Label: "nightly", Commit: "c0ffee", Path: "/runs/run-00002"}
	if d := cmp.Diff(want, all[2]); d != "" {
		t.Error(d)
	}
	for _, c := range []struct {
		f    Filter
		want string
	}{
		{Filter{Last: 2}, "run-00002 run-00003"}, {Filter{Since: start.Add(25 * time.Hour)}, "run-00002 run-00003"},
		{Filter{Label: "other"}, ""}, {Filter{Plan: "standard", Last: 1}, "run-00003"}, {Filter{Plan: "quick"}, ""},
	} {
		var ids []string
		got, err := s.List(ctx, c.f)
		for _, e := range got {
			ids = append(ids, e.ID)
		}
		if err != nil || strings.Join(ids, " ") != c.want {
			t.Errorf("%+v: %v %v, want %s", c.f, ids, err, c.want)
		}
	}
	p, _, err := s.Read(ctx, "run-00001")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(testRecord(1, 1.01).Params.Metrics(), p.Metrics()); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(p.Metrics(), numbersOf(t, s, "run-00001")); d != "" {
		t.Error(d)
	}
	if p.Environment.Common["kernel"] != "6.1" || len(p.Run.Hosts) != 3 {
		t.Errorf("%v %+v", p.Run.Hosts, p.Environment)
	}
}

func TestSeries(t *testing.T) {
	ctx, s := t.Context(), filled(t, 5)
	all, err := s.Followed(ctx)
	if err != nil || len(all) != 2+2*3 {
		t.Fatal(all, err)
	}
	if f := all[0]; f.Name != "p00" || f.Link() != "" || f.Runs != 5 || !f.First.Equal(start) || f.Unit != "s" {
		t.Errorf("%+v", f)
	}
	if f := all[2]; f.Name != "latency" || f.Link() != "node00→node01" || f.Better != params.BetterLower {
		t.Errorf("%+v", f)
	}
	if got, err := s.Series(ctx, Filter{Last: 3}, all[3]); err != nil || len(got) != 3 || got[2].CI95 != nil {
		t.Errorf("%+v %v", got, err)
	}
	if got, err := s.Series(ctx, Filter{Last: 3}, all[0]); err != nil || len(got) != 3 || got[0].Run != "run-00002" ||
		math.Abs(got[2].Value-1.04e-4) > 1e-9 || got[2].CI95 == nil {
		t.Errorf("%+v", got)
	}
	if got, err := s.Series(ctx, Filter{}, Followed{Name: "none"}); err != nil || len(got) != 0 {
		t.Errorf("%v %v", got, err)
	}
}

func nightOf(i int) time.Time { return start.Add(time.Duration(i) * 24 * time.Hour) }

// seriesOf reads the series of metrics in all runs.
func seriesOf(t testing.TB, s *Store, of []Followed) [][]Reading {
	t.Helper()
	var out [][]Reading
	for _, f := range of {
		series, err := s.Series(t.Context(), Filter{}, f)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, series)
	}
	return out
}

// Runs that are removed, and added in another order, leave the series and their counts as if they had been added once.
func TestSeriesFollowRemovals(t *testing.T) {
	ctx, s, want := t.Context(), filled(t, 6), filled(t, 6)
	read := func(s *Store) ([]Followed, [][]Reading) {
		all, err := s.Followed(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return all, seriesOf(t, s, all)
	}
	for _, i := range []int{0, 3, 5} {
		if err := s.Remove(ctx, testRecord(i, 1).Params.Run.ID); err != nil {
			t.Fatal(err)
		}
	}
	all, series := read(s)
	if f := all[0]; f.Runs != 3 || !f.First.Equal(nightOf(1)) || !f.Last.Equal(nightOf(4)) || len(series[0]) != 3 ||
		series[0][2].Run != "run-00004" {
		t.Errorf("%+v %+v", f, series[0])
	}
	for _, i := range []int{1, 2, 4} {
		if err := s.Remove(ctx, testRecord(i, 1).Params.Run.ID); err != nil {
			t.Fatal(err)
		}
	}
	if all, _ := read(s); len(all) != 0 {
		t.Errorf("followed in an empty store: %+v", all)
	}
	for _, i := range []int{4, 0, 5, 2, 1, 3} {
		if _, err := s.Add(ctx, testRecord(i, 1+0.01*float64(i))); err != nil {
			t.Fatal(err)
		}
	}
	all, series = read(s)
	wantAll, wantSeries := read(want)
	if d := cmp.Diff(wantSeries, series); d != "" || !slices.Equal(wantAll, all) {
		t.Errorf("%+v, want %+v: %s", all, wantAll, d)
	}
}

func TestRunsAreNamedByPrefix(t *testing.T) {
	ctx, s := t.Context(), filled(t, 12)
	for _, c := range []struct {
		id, want string
		is       error
	}{
		{"run-00011", "run-00011", nil}, {"run-0001", "", ErrAmbiguous}, {"run-00003", "run-00003", nil},
		{"", "", ErrNotFound},
		{"run-9", "", ErrNotFound}, {"%", "", ErrNotFound}, {"_un-00003", "", ErrNotFound},
	} {
		e, err := s.Find(ctx, c.id)
		if e.ID != c.want || !errors.Is(err, c.is) {
			t.Errorf("%q: %q %v", c.id, e.ID, err)
		}
	}
}

func TestAddTwice(t *testing.T) {
	ctx, s := t.Context(), filled(t, 1)
	if added, err := s.Add(ctx, testRecord(0, 1)); err != nil || added {
		t.Errorf("the same run again: %v %v", added, err)
	}
	other := testRecord(0, 1.5)
	other.Path = "/elsewhere"
	_, err := s.Add(ctx, other)
	if !errors.Is(err, ErrConflict) || !strings.Contains(err.Error(), "/runs/run-00000") ||
		!strings.Contains(err.Error(), "/elsewhere") {
		t.Errorf("another run of the same ID: %v", err)
	}
	for name, edit := range map[string]func(*Record){
		"no parameters": func(r *Record) { r.Params = nil }, "no start": func(r *Record) { r.Started = time.Time{} },
		"a flag": func(r *Record) { r.ID = "-x" }, "control": func(r *Record) { r.Label = "a\nb" },
		"direction": func(r *Record) { r.Label = "a\u202eb" },
		"not text":  func(r *Record) { r.Label = "\xff" },
		"long":      func(r *Record) { r.Path = strings.Repeat("x", maxWord+1) },
	} {
		r := testRecord(1, 1)
		edit(&r)
		if _, err := s.Add(ctx, r); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if all, err := s.List(ctx, Filter{}); err != nil || len(all) != 1 {
		t.Errorf("%d runs, %v", len(all), err)
	}
}

func TestBaselines(t *testing.T) {
	ctx, s := t.Context(), filled(t, 3)
	good := Baseline{Name: "good", Note: "n", Runs: []string{"run-00002", "run-00000"}, Floor: []byte("{}")}
	if err := s.SetBaseline(ctx, good); err != nil {
		t.Fatal(err)
	}
	b, err := s.Baseline(ctx, "good")
	want := Baseline{Name: "good", Note: "n", Made: start.Add(time.Hour), Runs: []string{"run-00000", "run-00002"},
		Noise: true, Floor: good.Floor}
	if d := cmp.Diff(want, b); d != "" || err != nil {
		t.Error(d, err)
	}
	if err := s.Remove(ctx, "run-00002"); !errors.Is(err, ErrInUse) || !strings.Contains(err.Error(), "good") {
		t.Errorf("a run in use: %v", err)
	}
	if err := s.SetBaseline(ctx, Baseline{Name: "good", Runs: []string{"run-00001", "nosuch"}}); !errors.Is(err,
		ErrNotFound) {
		t.Errorf("a run that is not there: %v", err)
	}
	if all, err := s.Baselines(ctx); err != nil || len(all) != 1 || cmp.Diff(want, all[0]) != "" {
		t.Errorf("a set that failed changed it: %+v %v", all, err)
	}
	for _, b := range []Baseline{{Name: "", Runs: want.Runs}, {Name: "-x", Runs: want.Runs}, {Name: "x"},
		{Name: "a\n", Runs: want.Runs}, {Name: "a\u202e", Runs: want.Runs}} {
		if err := s.SetBaseline(ctx, b); !errors.Is(err, ErrInvalid) {
			t.Errorf("%+v: %v", b, err)
		}
	}
	if err := errors.Join(s.RemoveBaseline(ctx, "good"), s.Remove(ctx, "run-00002")); err != nil {
		t.Error(err)
	}
	if _, err := s.Baseline(ctx, "good"); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
	if err := errors.Join(s.RemoveBaseline(ctx, "good"), s.Remove(ctx, "run-00002")); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
	if left := numbersOf(t, s, "run-00002"); len(left) > 0 {
		t.Errorf("the numbers of a removed run stayed: %v", left)
	}
}

func TestAcknowledgements(t *testing.T) {
	ctx, s := t.Context(), filled(t, 2)
	made, err := s.Acknowledge(ctx, Ack{Metric: "rate", Link: "node00→node01", Run: "run-00001", Reason: "new cable",
		Who: "me"})
	if err != nil {
		t.Fatal(err)
	}
	all, err := s.Acks(ctx)
	if err != nil || len(all) != 1 || all[0].ID != made.ID || !all[0].At.Equal(start.Add(24*time.Hour)) ||
		all[0].Reason != "new cable" {
		t.Errorf("%+v %v", all, err)
	}
	link := Followed{Name: "rate", From: "node00", To: "node01"}
	if a := all[0]; !a.Covers(link) || a.Covers(Followed{Name: "rate"}) || !(Ack{}).Covers(link) ||
		(Ack{Metric: "latency"}).Covers(link) {
		t.Error("an acknowledgement covers the wrong things")
	}
	for _, a := range []Ack{{Run: "run-00001"}, {Run: "run-00001", Reason: " "}, {Run: "run-00001", Reason: "a\x00"}} {
		if _, err := s.Acknowledge(ctx, a); !errors.Is(err, ErrInvalid) {
			t.Errorf("%+v: %v", a, err)
		}
	}
	if _, err := s.Acknowledge(ctx, Ack{Run: "none", Reason: "x"}); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
	if err := s.Unacknowledge(ctx, made.ID); err != nil {
		t.Error(err)
	}
	if err := s.Unacknowledge(ctx, made.ID); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
	events, err := s.Events(ctx, 0)
	var kinds []string
	for _, e := range events {
		kinds = append(kinds, e.Kind)
	}
	if got := strings.Join(kinds, ", "); err != nil || got != "added, added, acknowledged, acknowledgement withdrawn" {
		t.Errorf("log: %s %v", got, err)
	}
	if last, err := s.Events(ctx, 1); err != nil || len(last) != 1 || last[0].Kind != EventNoAck {
		t.Errorf("%+v %v", last, err)
	}
	if _, err := s.db.ExecContext(ctx, "DELETE FROM events"); err == nil {
		t.Error("the log was shortened")
	}
}

func TestFilesThatAreNoStore(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text.db")
	if err := os.WriteFile(text, []byte(strings.Repeat("not a database\n", 200)), 0o644); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]error{text: ErrNotStore, dir: ErrNotStore} {
		s, err := Open(t.Context(), path, true)
		if !errors.Is(err, want) || s != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := Open(t.Context(), filepath.Join(dir, "none"), false); !errors.Is(err, fs.ErrNotExist) ||
		!strings.Contains(err.Error(), "calib history add") {
		t.Errorf("missing: %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("%v %v: files were made", left, err)
	}
}

func TestForeignAndNewerStores(t *testing.T) {
	s := testStore(t)
	ctx := context.Background()
	const later = "INSERT INTO goose_db_version (version_id, is_applied) VALUES (99, 1)"
	if _, err := s.db.ExecContext(ctx, later); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(ctx, s.Path, true); !errors.Is(err, ErrNewer) {
		t.Errorf("newer: %v", err)
	}
	if _, err := s.db.ExecContext(ctx, "PRAGMA application_id = 7"); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(ctx, s.Path, true); !errors.Is(err, ErrNotStore) {
		t.Errorf("foreign: %v", err)
	}
}

// A store of before links had an order has each of them once afterwards, with all of its readings.
func TestTurnedLinks(t *testing.T) {
	ctx, s := context.Background(), filled(t, 3)
	if _, err := s.Acknowledge(ctx, Ack{Run: "run-00001", Link: "node00→node01", Reason: "a cable"}); err != nil {
		t.Fatal(err)
	}
	before, err := s.Followed(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{ // the third run had its hosts the other way round
		"DELETE FROM goose_db_version WHERE version_id >= 5",
		"DROP TABLE folded",
		`INSERT INTO metrics (name, sender, receiver, unit, label, better, runs)
			SELECT name, receiver, sender, unit, label, better, 1 FROM metrics WHERE sender <> '' AND name = 'rate'`,
		`UPDATE readings SET metric = (SELECT b.key FROM metrics a JOIN metrics b ON a.name = b.name
			AND a.sender = b.receiver AND a.receiver = b.sender WHERE a.key = metric)
			WHERE metric IN (SELECT key FROM metrics WHERE sender < receiver AND name = 'rate')
			AND run = (SELECT key FROM runs WHERE id = 'run-00002')`,
		"UPDATE metrics SET runs = 2 WHERE sender < receiver AND name = 'rate'",
		"UPDATE metrics SET sender = receiver, receiver = sender WHERE name = 'latency'",
		"UPDATE acks SET link = 'node01→node00'",
	} {
		if _, err := s.db.ExecContext(ctx, statement); err != nil {
			t.Fatal(statement, err)
		}
	}
	again, err := Open(ctx, s.Path, true)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	after, err := again.Followed(ctx)
	ignored := cmpopts.IgnoreUnexported(Followed{})
	if d := cmp.Diff(before, after, ignored); d != "" || err != nil {
		t.Error(d, err)
	}
	if acks, err := again.Acks(ctx); err != nil || acks[0].Link != "node00→node01" {
		t.Error(acks, err)
	}
}
