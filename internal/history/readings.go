package history

import (
	"context"
	"database/sql"

	"calib/fit/params"
)

// metricKey is the row of a metric, given its name, unit, sender and receiver; linkKey is that of a link, NULL where there is
// none of these hosts.
const (
	linkKey = `(SELECT links.key FROM links JOIN hosts AS sender ON sender.key = links.sender
		JOIN hosts AS receiver ON receiver.key = links.receiver WHERE sender.name = ? AND receiver.name = ?)`
	metricKey = `(SELECT key FROM metrics WHERE name = ? AND unit = ? AND ifnull(link, 0) = ifnull(` + linkKey + `, 0))`
)

// What stores a metric of a run, with the rows it points to.
const (
	addHost = "INSERT INTO hosts (name) VALUES (?) ON CONFLICT DO NOTHING"
	addLink = `INSERT INTO links (sender, receiver) SELECT sender.key, receiver.key FROM hosts AS sender, hosts AS receiver
		WHERE sender.name = ? AND receiver.name = ? ON CONFLICT DO NOTHING`
	addMetric = `INSERT INTO metrics (name, unit, link, label, better) VALUES (?, ?, ` + linkKey + `, ?, ?)
		ON CONFLICT (name, ifnull(link, 0), unit) DO UPDATE SET label = excluded.label, better = excluded.better
		WHERE label <> excluded.label OR better <> excluded.better`
	addReading = `INSERT INTO readings (metric, started, run, value, lo, hi) VALUES (` + metricKey + `, ?, ?, ?, ?, ?)
		ON CONFLICT DO NOTHING`
)

// addReadings stores the metrics of a run. Of what a params.json names twice, the first value stands. The label of a metric is
// that of the run added last.
func addReadings(ctx context.Context, tx *sql.Tx, metrics []params.Metric, started, run int64) error {
	var err error
	prepared := map[string]*sql.Stmt{} // they end with the transaction
	exec := func(text string, args ...any) {
		if err == nil && prepared[text] == nil {
			prepared[text], err = tx.PrepareContext(ctx, text)
		}
		if err == nil {
			_, err = prepared[text].ExecContext(ctx, args...)
		}
	}
	for _, m := range metrics {
		if m.Link() != "" {
			exec(addHost, m.From)
			exec(addHost, m.To)
			exec(addLink, m.From, m.To)
		}
		exec(addMetric, m.Name, m.Unit, m.From, m.To, m.Label, m.Better)
		var lo, hi any // NULL where there is no interval
		if m.CI95 != nil {
			lo, hi = m.CI95[0], m.CI95[1]
		}
		exec(addReading, m.Name, m.Unit, m.From, m.To, started, run, m.Value, lo, hi)
	}
	return err
}
