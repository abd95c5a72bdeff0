package history

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"
)

// Copy writes all of the store to a new file, which another store can be merged with. On an error there is no file.
func (s *Store) Copy(ctx context.Context, path string) error {
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w: name a new file", path, fs.ErrExist)
	}
	beside := path + "." + rand.Text()[:8]
	_, err := s.db.ExecContext(ctx, "VACUUM INTO ?", beside)
	if err = s.wrap("copy it to "+path, err); err == nil {
		err = os.Rename(beside, path)
	}
	_ = os.Remove(beside) // where it is
	return err
}

// Merged is what a merge has added, and in words what it has left out.
type Merged struct {
	Added     []string `json:"added"` // runs
	Known     int      `json:"known"` // runs that were there already
	Baselines []string `json:"baselines"`
	Acks      int      `json:"acknowledgements"`
	Looks     int64    `json:"looks"`
	Changes   int      `json:"changes"`
	Left      []string `json:"left_out,omitempty"`
}

// Merge adds what another store has and s has not. What s has stays. Called again, it goes on where it ended.
func (s *Store) Merge(ctx context.Context, other *Store) (m Merged, err error) {
	m.Added, m.Baselines = []string{}, []string{}
	runs, err := other.List(ctx, Filter{})
	if err != nil {
		return m, err
	}
	for _, e := range runs {
		theirs, itsPlan, err := other.digest(ctx, e.ID)
		ours, ourPlan, err2 := s.digest(ctx, e.ID)
		if err = cmp.Or(err, err2); err != nil {
			return m, err
		}
		if bytes.Equal(ours, theirs) && (ourPlan || !itsPlan) {
			m.Known++
			continue
		}
		p, how, err := other.Read(ctx, e.ID)
		if err != nil {
			return m, err
		}
		switch added, err := s.Add(ctx, Record{Entry: e, Params: p, Measured: how}); {
		case errors.Is(err, ErrConflict):
			m.Left = append(m.Left, err.Error())
		case err != nil:
			return m, err
		case added:
			m.Added = append(m.Added, e.ID)
		default:
			m.Known++ // stored by a build that wrote it otherwise, or without its plan, which it has now
		}
	}
	now := m
	err = s.change(ctx, "merge what is said of runs and was watched", func(tx *transaction) error {
		return cmp.Or(s.mergeBaselines(tx, other, &now), s.mergeAcks(tx, other, &now), s.mergeWatch(tx, other, &now))
	})
	if err == nil {
		m = now
	}
	return m, err
}

// digest is that of a run's params.json, nil where the run is not stored, and whether its plan is known.
func (s *Store) digest(ctx context.Context, id string) (sum []byte, planned bool, err error) {
	err = s.db.QueryRowContext(ctx, `SELECT digest, detail IS NOT NULL FROM runs JOIN documents ON run = key
		WHERE id = ?`, id).Scan(&sum, &planned)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return sum, planned, s.wrap("read run "+id, err)
}

// mergeBaselines, and what is below, compare within the transaction: nobody adds the same meanwhile.
func (s *Store) mergeBaselines(tx *transaction, other *Store, m *Merged) error {
	theirs, err := other.Baselines(tx.ctx)
	ours, err2 := s.Baselines(tx.ctx)
	err = cmp.Or(err, err2)
	for _, b := range theirs {
		i := slices.IndexFunc(ours, func(o Baseline) bool { return o.Name == b.Name })
		switch {
		case i < 0:
			err = cmp.Or(err, tx.setBaseline(b))
			m.Baselines = append(m.Baselines, b.Name)
		case !slices.Equal(ours[i].Runs, b.Runs):
			m.Left = append(m.Left, fmt.Sprintf("baseline %s is there with other runs, and stays", b.Name))
		}
	}
	return err
}

func (s *Store) mergeAcks(tx *transaction, other *Store, m *Merged) error {
	theirs, err := other.Acks(tx.ctx)
	ours, err2 := s.Acks(tx.ctx)
	err = cmp.Or(err, err2)
	for _, a := range theirs {
		same := func(o Ack) bool {
			return o.Metric == a.Metric && o.Link == a.Link && o.Run == a.Run && o.Reason == a.Reason && o.Who == a.Who
		}
		if slices.ContainsFunc(ours, same) {
			continue
		}
		switch failed := tx.acknowledge(&a); {
		case errors.Is(failed, ErrNotFound): // its run was removed
			m.Left = append(m.Left, fmt.Sprintf("acknowledgement %q: run %s is not there", a.Reason, a.Run))
		default:
			err = cmp.Or(err, failed)
			m.Acks++
		}
	}
	return err
}

// mergeWatch adds hosts, looks and changes that are over.
func (s *Store) mergeWatch(tx *transaction, other *Store, m *Merged) error {
	machines, err := other.Machines(tx.ctx)
	theirs, err2 := other.Changes(tx.ctx, 0)
	ours, err3 := s.Changes(tx.ctx, 0)
	err = cmp.Or(err, err2, err3)
	for host, says := range machines {
		tx.exec("INSERT OR IGNORE INTO machines (host, says) VALUES (?, ?)", host, says)
	}
	err = cmp.Or(err, other.EachLook(tx.ctx, time.Time{}, func(l Look) error {
		n, err := tx.mergeLook(other, l)
		if m.Looks += max(0, n); n < 0 {
			m.Left = append(m.Left, fmt.Sprintf("looks folded for %s: some of them are in what is folded here",
				l.At.Format(time.DateOnly)))
		}
		return err
	}))
	for _, c := range theirs {
		if c.Over != nil && !slices.ContainsFunc(ours, c.same) {
			tx.addChange(&c)
			tx.endChange(&c)
			m.Changes++
		}
	}
	return err
}

// mergeLook adds a look of another store, and returns how many: 1 or 0. One that is folded takes the place of those
// that it was made of. Where only some of these are folded here, none is added, and the number is negative.
func (tx *transaction) mergeLook(other *Store, l Look) (added int64, err error) {
	times := fmt.Sprintf("[%d]", nanos(l.At)) // of the looks that it has, as JSON
	if l.Span > 0 {
		err = other.db.QueryRowContext(tx.ctx, `SELECT json_group_array(at) FROM folded
			WHERE look = ? AND at >= ? AND at < ?`, l.Number, nanos(l.At), nanos(l.At.Add(l.Span))).Scan(&times)
	}
	var here, all int64
	err = cmp.Or(err, tx.row([]any{&here, &all}, `SELECT count(DISTINCT at), json_array_length(?1) FROM folded
		WHERE at IN (SELECT value FROM json_each(?1))`, times))
	if err != nil || here > 0 {
		return here - all, err
	}
	var key int64
	err = tx.row([]any{&key}, `INSERT INTO looks (at, span, data) SELECT ?1, ?2, ?3 WHERE NOT EXISTS
		(SELECT 1 FROM looks WHERE at = ?1 AND span = ?2 AND data = ?3) RETURNING key`, nanos(l.At), l.Span, l.Data)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	if l.Span > 0 {
		tx.exec(`INSERT INTO folded SELECT value, ?2 FROM json_each(?1);
			DELETE FROM looks WHERE span = 0 AND at IN (SELECT value FROM json_each(?1))`, times, key)
	}
	return 1, tx.err
}

// same reports whether two changes are of the same subject of one cluster, and overlap in time: two watches may have
// found one.
func (c Change) same(o Change) bool {
	of := func(c Change) []string {
		hosts := slices.Clone(c.Hosts)
		if c.Group || c.Quantity != "rate" { // else the first sends
			slices.Sort(hosts)
		}
		return append(hosts, fmt.Sprint(c.Group), c.Quantity, c.Direction)
	}
	before := func(c, o Change) bool { return c.Over != nil && !c.Over.After(o.Since) }
	return slices.Equal(of(c), of(o)) && SameCluster(c.Watched, o.Watched) &&
		(c.Since.Equal(o.Since) || !before(c, o) && !before(o, c))
}
