package history

import (
	"context"
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
}

// Link names the link, "" for the whole network.
func (f Followed) Link() string { return params.Metric{From: f.From, To: f.To}.Link() }

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
		return []any{&f.Name, &f.From, &f.To, &f.Unit, &f.Label, &f.Better, &f.Runs, moment{&f.First}, moment{&f.Last}}
	}, `SELECT metrics.name AS name, ifnull(sender.name, '') AS "from", ifnull(receiver.name, '') AS "to", unit, metrics.label, better,
		n, first, last FROM metrics LEFT JOIN links ON links.key = metrics.link
		LEFT JOIN hosts AS sender ON sender.key = links.sender LEFT JOIN hosts AS receiver ON receiver.key = links.receiver
		JOIN (SELECT metric, count(*) AS n, min(started) AS first, max(started) AS last FROM readings GROUP BY metric)
		ON metric = metrics.key ORDER BY metrics.link IS NOT NULL, "from", "to", name, unit`)
}

// Series returns the values of the metric f in the runs of a filter, oldest first.
func (s *Store) Series(ctx context.Context, f Followed, filter Filter) ([]Reading, error) {
	type row struct {
		Reading
		lo, hi *float64
	}
	rows, err := collect(ctx, s, "read "+f.Name, func(r *row) []any {
		return []any{&r.Run, moment{&r.At}, &r.Value, &r.lo, &r.hi}
	}, `SELECT runs.id, runs.started, value, lo, hi FROM readings JOIN runs ON runs.key = readings.run
		WHERE metric = `+metricKey+` AND readings.started `+filtered+` ORDER BY readings.started DESC, readings.run DESC LIMIT ?`,
		append([]any{f.Name, f.Unit, f.From, f.To}, filter.args()...)...)
	var out []Reading
	for _, r := range slices.Backward(rows) {
		if r.lo != nil && r.hi != nil {
			r.CI95 = &[2]float64{*r.lo, *r.hi}
		}
		out = append(out, r.Reading)
	}
	return out, err
}
