package history

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Look is what was seen of a network at a time, or in a span of time, as bytes that the watch encodes.
type Look struct {
	Number int64 // as the store counts them
	At     time.Time
	Span   time.Duration
	Data   []byte
}

// Change is what has become slower: the network where Hosts are empty, a host, a pair, or all that passes between a
// group of hosts and the others.
type Change struct {
	ID        int64       `json:"id"`
	Hosts     []string    `json:"hosts,omitempty"`
	Group     bool        `json:"group,omitempty"`     // Hosts are one
	Quantity  string      `json:"quantity"`            // latency, rate, loss or reach
	Direction string      `json:"direction,omitempty"` // of the rate of a host or group: sending or receiving
	Since     time.Time   `json:"since"`
	Found     time.Time   `json:"found"`
	Over      *time.Time  `json:"over,omitempty"`
	Usual     bool        `json:"usual,omitempty"` // it lasts, and is no news any more: since Over
	Ratio     *float64    `json:"ratio,omitempty"` // times what was usual; of loss, a share of segments; not of reach
	CI95      *[2]float64 `json:"ci95,omitempty"`
	Evidence  float64     `json:"evidence"` // powers of ten against chance
	Says      string      `json:"says"`     // all of it in words
	Watched   []string    `json:"-"`        // hosts of the watch that found it; nil is not known
}

// Watched is what one look adds to a store.
type Watched struct {
	Look
	Began    []*Change // ID is set
	Ended    []*Change // which were stored, with this look at the latest
	Marks    []string  // what happened to hosts and clocks
	Machines map[string]string
}

const (
	EventSlower = "slower"
	EventOver   = "over"
	EventUsual  = "usual"
	EventMark   = "mark"
)

func (c *Change) Ending() string {
	if c.Usual {
		return EventUsual
	}
	return EventOver
}

// AddLook stores a look with all that was found in it, or nothing.
func (s *Store) AddLook(ctx context.Context, w Watched) error {
	return s.change(ctx, "add a look", func(tx *transaction) error {
		tx.exec("INSERT INTO looks (at, span, data) VALUES (?, ?, ?)", nanos(w.At), w.Span, w.Data)
		for _, c := range w.Began {
			tx.addChange(c)
		}
		for _, c := range w.Ended {
			tx.endChange(c)
		}
		for _, m := range w.Marks {
			tx.note(EventMark, m, "")
		}
		for host, says := range w.Machines {
			tx.exec("INSERT OR REPLACE INTO machines (host, says) VALUES (?, ?)", host, says)
		}
		return nil
	})
}

const addChange = `INSERT INTO changes (first, second, quantity, direction, since, found, usual, ratio, lo, hi,
	evidence, says, watched) VALUES (?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?) RETURNING key`

func (tx *transaction) addChange(c *Change) {
	two := append(slices.Clone(c.Hosts), "", "")
	if c.Group { // no name has a comma
		two = []string{strings.Join(c.Hosts, ","), ""}
	}
	var ratio, lo, hi any
	if c.Ratio != nil && c.CI95 != nil {
		ratio, lo, hi = *c.Ratio, c.CI95[0], c.CI95[1]
	}
	tx.row([]any{&c.ID}, addChange, two[0], two[1], c.Quantity, c.Direction, nanos(c.Since), nanos(c.Found),
		ratio, lo, hi, c.Evidence, c.Says, strings.Join(c.Watched, ","))
	tx.note(EventSlower, c.Says, "")
}

func (tx *transaction) endChange(c *Change) {
	if c.Over == nil {
		tx.err = cmp.Or(tx.err, fmt.Errorf("%w: change %d has not ended", ErrInvalid, c.ID))
		return
	}
	tx.exec("UPDATE changes SET over = ?, usual = ? WHERE key = ?", nanos(*c.Over), c.Usual, c.ID)
	tx.note(c.Ending(), c.Says, "")
}

const lookColumns = "key, at, span, data"

func (l *Look) columns() []any { return []any{&l.Number, moment{&l.At}, &l.Span, &l.Data} }

// EachLook calls f with the looks from a time on, oldest first, or with all where that is zero.
func (s *Store) EachLook(ctx context.Context, since time.Time, f func(Look) error) error {
	return each(ctx, s, "read the looks", (*Look).columns, f,
		"SELECT "+lookColumns+" FROM looks WHERE at >= ? ORDER BY at, key", nanos(since))
}

// Fold replaces the looks before a time, of each span of time, by one that f makes of them. A look after another time,
// which is yet to come, is from before the clock was set back: it is as old as what was stored since.
func (s *Store) Fold(ctx context.Context, before, after time.Time, span time.Duration, f func([]Look) []byte) error {
	all, err := collect(ctx, s, "read the looks", (*Look).columns, "SELECT "+lookColumns+` FROM looks WHERE span = 0 AND
		(at < ?1 OR at >= ?2 AND key < (SELECT max(key) FROM looks WHERE at < ?1)) ORDER BY at, key`, nanos(before),
		nanos(after))
	for err == nil && len(all) > 0 {
		first, last, from, n := all[0].Number, all[0].Number, all[0].At.Truncate(span), 1
		for ; n < len(all) && all[n].At.Before(from.Add(span)); n++ {
			last = max(last, all[n].Number)
		}
		data := f(all[:n])
		err = s.change(ctx, "fold the looks of a day", func(tx *transaction) error {
			// What is in the store since f was called, as by a merge, has a higher key, and stays.
			const these = " FROM looks WHERE span = 0 AND at >= ?2 AND at < ?3 AND key <= ?6"
			tx.exec("INSERT OR IGNORE INTO folded SELECT at, ?1"+these+"; DELETE"+these+` AND key <> ?1;
				UPDATE looks SET at = ?2, span = ?4, data = ?5 WHERE key = ?1`,
				first, nanos(from), nanos(from.Add(span)), span, data, last)
			return nil
		})
		all = all[n:]
	}
	return err
}

// Changes are the so many changes found last, oldest first; 0 is all.
func (s *Store) Changes(ctx context.Context, last int) ([]Change, error) {
	type row struct {
		Change
		two           [2]string
		watched       string
		over          sql.NullInt64
		ratio, lo, hi *float64
	}
	rows, err := collect(ctx, s, "list the changes", func(r *row) []any {
		return []any{&r.ID, &r.two[0], &r.two[1], &r.Quantity, &r.Direction, moment{&r.Since}, moment{&r.Found},
			&r.over, &r.Usual, &r.ratio, &r.lo, &r.hi, &r.Evidence, &r.Says, &r.watched}
	}, `SELECT key, first, second, quantity, direction, since, found, over, usual, ratio, lo, hi, evidence, says, watched
		FROM changes ORDER BY found DESC, key DESC LIMIT ?`, cmp.Or(last, unlimited))
	out := make([]Change, len(rows))
	for i, r := range rows {
		c := r.Change
		for _, h := range append(strings.Split(r.two[0], ","), r.two[1]) {
			if h != "" {
				c.Hosts = append(c.Hosts, h)
			}
		}
		c.Group = strings.Contains(r.two[0], ",")
		if r.watched != "" {
			c.Watched = strings.Split(r.watched, ",")
		}
		if r.over.Valid {
			c.Over = new(time.Unix(0, r.over.Int64).UTC())
		}
		if r.ratio != nil && r.lo != nil && r.hi != nil {
			c.Ratio, c.CI95 = r.ratio, &[2]float64{*r.lo, *r.hi}
		}
		out[len(rows)-1-i] = c
	}
	return out, err
}

// Machines are the newest fingerprints of the hosts that are watched.
func (s *Store) Machines(ctx context.Context) (map[string]string, error) {
	rows, err := collect(ctx, s, "read the hosts", func(r *[2]string) []any { return []any{&r[0], &r[1]} },
		"SELECT host, says FROM machines")
	out := map[string]string{}
	for _, r := range rows {
		out[r[0]] = r[1]
	}
	return out, err
}
