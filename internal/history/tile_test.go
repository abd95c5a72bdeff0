package history

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTile(t *testing.T) {
	var tile []byte
	tile = appendNumber(tile, 31, -1.5, nil)
	tile = appendNumber(tile, 0, 2, &[2]float64{1, 3})
	type plain struct {
		Slot     byte
		Value    float64
		Interval *[2]float64
	}
	var got []plain
	err := eachNumber(tile, func(n number) { got = append(got, plain{n.slot, n.value(), n.interval()}) })
	if d := cmp.Diff([]plain{{31, -1.5, nil}, {0, 2, &[2]float64{1, 3}}}, got); d != "" || err != nil {
		t.Error(d, err)
	}
	for name, b := range map[string][]byte{"cut": tile[:len(tile)-1], "a slot beyond": append(slices.Clone(tile), 32, 0, 0, 0, 0, 0, 0, 0, 0)} {
		if err := eachNumber(b, func(number) {}); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Runs that are removed, and added in another order, leave the series and their counts as if they had been added once.
func TestSeriesFollowRemovals(t *testing.T) {
	ctx, s, want := t.Context(), filled(t, 6), filled(t, 6)
	read := func(s *Store) ([]Followed, [][]Reading) {
		all, err := s.Followed(ctx)
		if err != nil {
			t.Fatal(err)
		}
		series, err := s.Series(ctx, Filter{}, all...)
		if err != nil {
			t.Fatal(err)
		}
		return all, series
	}
	for _, i := range []int{0, 3, 5} {
		if err := s.Remove(ctx, testRecord(i, 1).Params.Run.ID); err != nil {
			t.Fatal(err)
		}
	}
	all, series := read(s)
	if f := all[0]; f.Runs != 3 || !f.First.Equal(oldNight(1)) || !f.Last.Equal(oldNight(4)) || len(series[0]) != 3 || series[0][2].Run != "run-00004" {
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

// A run is as many rows as it has strips, not as many as it has numbers.
func TestRowsOfRun(t *testing.T) {
	ctx, s := t.Context(), testStore(t)
	if _, err := s.Add(ctx, Record{Entry: Entry{Started: start}, Params: testParams("wide", 16, 20, 1)}); err != nil {
		t.Fatal(err)
	}
	var rows int
	if err := s.db.QueryRowContext(ctx, "SELECT count(*) FROM tiles").Scan(&rows); err != nil {
		t.Fatal(err)
	}
	if numbers := len(numbersOf(t, s, "wide")); numbers != 20+16*15 || rows > 1+numbers/tileWidth+1 {
		t.Errorf("%d numbers in %d rows", numbers, rows)
	}
}

// A tile that is damaged is said to be one.
func TestDamagedTile(t *testing.T) {
	ctx, s := t.Context(), filled(t, 2)
	all, err := s.Followed(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.db.ExecContext(ctx, "UPDATE tiles SET numbers = x'0102'"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Series(ctx, Filter{}, all...); !errors.Is(err, ErrDamaged) {
		t.Errorf("series: %v", err)
	}
	if err := s.Remove(ctx, "run-00000"); !errors.Is(err, ErrDamaged) {
		t.Errorf("remove: %v", err)
	}
}
