package history

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"
	"time"

	"calib/fit/params"
)

// Followed is a metric that stored runs have, of the whole network or of one link: it can be followed over time.
type Followed struct {
	Name   string    `json:"name"`
	From   string    `json:"from,omitempty"` // with To, the link
	To     string    `json:"to,omitempty"`
	Unit   string    `json:"unit"`
	Label  string    `json:"label"`
	Better string    `json:"better,omitempty"` // as params.Metric's
	Runs   int       `json:"runs"`             // how many have it
	First  time.Time `json:"first"`            // start of the oldest and the newest of them
	Last   time.Time `json:"last"`

	key int64 // of its row
}

// Link names the link, "" for the whole network.
func (f Followed) Link() string { return params.Metric{From: f.From, To: f.To}.Link() }

// Named reports whether name is that of f, with its message size or without: "rate" names "rate.64KiB".
func (f Followed) Named(name string) bool {
	base, _ := params.SplitSize(f.Name)
	return name == f.Name || name == base
}

// Reading is the value of a metric in one run.
type Reading struct {
	Run   string      `json:"run"`
	At    time.Time   `json:"at"` // start of the run
	Value float64     `json:"value"`
	CI95  *[2]float64 `json:"ci95,omitempty"`
}

// Followed lists the metrics that can be followed: those of the whole network, then those of links, each by name.
func (s *Store) Followed(ctx context.Context) ([]Followed, error) {
	return collect(ctx, s, "list what is followed", func(f *Followed) []any {
		return []any{&f.key, &f.Name, &f.From, &f.To, &f.Unit, &f.Label, &f.Better, &f.Runs, moment{&f.First}, moment{&f.Last}}
	}, `SELECT metrics.key, metrics.name AS name, ifnull(sender.name, '') AS "from", ifnull(receiver.name, '') AS "to", unit, label, better,
		runs, first, last FROM metrics LEFT JOIN links ON links.key = metrics.link
		LEFT JOIN hosts AS sender ON sender.key = links.sender LEFT JOIN hosts AS receiver ON receiver.key = links.receiver
		WHERE runs > 0 ORDER BY metrics.link IS NOT NULL, "from", "to", name, unit`)
}

// Series returns the values of metrics that Followed has listed in the runs of a filter: a series each, oldest first.
// Metrics of one strip are read together: ask for many at once.
func (s *Store) Series(ctx context.Context, filter Filter, of ...Followed) ([][]Reading, error) {
	out := make([][]Reading, len(of))
	strips := map[int64]*[tileWidth]*[]Reading{} // where the readings of a slot go
	for i, f := range of {
		strip, slot := stripOf(f.key)
		if strips[strip] == nil {
			strips[strip] = &[tileWidth]*[]Reading{}
		}
		strips[strip][slot] = &out[i]
	}
	for _, strip := range slices.Sorted(maps.Keys(strips)) {
		if err := s.readStrip(ctx, filter, strip, strips[strip]); err != nil {
			return nil, s.wrap("read series", err)
		}
	}
	for _, series := range out {
		slices.Reverse(series)
	}
	return out, nil
}

// readStrip appends the readings of slots, newest first, and no more than the filter's Last to each.
func (s *Store) readStrip(ctx context.Context, filter Filter, strip int64, slots *[tileWidth]*[]Reading) (err error) {
	rows, err := s.db.QueryContext(ctx, `SELECT runs.id, runs.started, numbers FROM tiles JOIN runs ON runs.key = tiles.run
		WHERE strip = ? AND tiles.started `+filtered+` ORDER BY tiles.started DESC, tiles.run DESC`,
		append([]any{strip}, filter.condition()...)...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	short := 0 // series that want more
	for _, to := range slots {
		if to != nil {
			short++
		}
	}
	for short > 0 && rows.Next() {
		var r Reading
		var tile sql.RawBytes
		if err := rows.Scan(&r.Run, moment{&r.At}, &tile); err != nil {
			return err
		}
		err := eachNumber(tile, func(n number) {
			to := slots[n.slot]
			if to == nil || filter.Last > 0 && len(*to) == filter.Last {
				return
			}
			r.Value, r.CI95 = n.value(), n.interval()
			if *to = append(*to, r); len(*to) == filter.Last {
				short--
			}
		})
		if err != nil {
			return err
		}
	}
	return rows.Err()
}
