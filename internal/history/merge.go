package history

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
)

// Copy writes all of the store to a new file, which another store can be merged with.
func (s *Store) Copy(ctx context.Context, path string) error {
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w: name a new file", path, fs.ErrExist)
	}
	_, err := s.db.ExecContext(ctx, "VACUUM INTO ?", path)
	return s.wrap("copy it to "+path, err)
}

// Merged is what a merge has added, and in words what it has left out.
type Merged struct {
	Added     []string `json:"added"` // runs
	Known     int      `json:"known"` // runs that were there already
	Baselines []string `json:"baselines"`
	Acks      int      `json:"acknowledgements"`
	Left      []string `json:"left_out,omitempty"`
}

// Merge adds the runs, baselines and acknowledgements of another store that s does not have. What s has stays. Called
// again, it goes on where it ended.
func (s *Store) Merge(ctx context.Context, other *Store) (m Merged, err error) {
	m.Added, m.Baselines = []string{}, []string{}
	runs, err := other.List(ctx, Filter{})
	if err != nil {
		return m, err
	}
	for _, e := range runs {
		theirs, err := other.digest(ctx, e.ID)
		if err != nil {
			return m, err
		}
		if ours, err := s.digest(ctx, e.ID); err != nil {
			return m, err
		} else if bytes.Equal(ours, theirs) {
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
			m.Known++ // stored by a build that wrote it otherwise
		}
	}
	if err := s.mergeBaselines(ctx, other, &m); err != nil {
		return m, err
	}
	return m, s.mergeAcks(ctx, other, &m)
}

// digest is that of a run's params.json; nil where the run is not stored.
func (s *Store) digest(ctx context.Context, id string) (sum []byte, err error) {
	err = s.db.QueryRowContext(ctx, "SELECT digest FROM runs WHERE id = ?", id).Scan(&sum)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return sum, s.wrap("read run "+id, err)
}

func (s *Store) mergeBaselines(ctx context.Context, other *Store, m *Merged) error {
	theirs, err := other.Baselines(ctx)
	if err != nil {
		return err
	}
	ours, err := s.Baselines(ctx)
	if err != nil {
		return err
	}
	for _, b := range theirs {
		i := slices.IndexFunc(ours, func(o Baseline) bool { return o.Name == b.Name })
		switch {
		case i < 0:
			if err := s.SetBaseline(ctx, b); err != nil {
				return err
			}
			m.Baselines = append(m.Baselines, b.Name)
		case !slices.Equal(ours[i].Runs, b.Runs):
			m.Left = append(m.Left, fmt.Sprintf("baseline %s is there with other runs, and stays", b.Name))
		}
	}
	return nil
}

func (s *Store) mergeAcks(ctx context.Context, other *Store, m *Merged) error {
	theirs, err := other.Acks(ctx)
	if err != nil {
		return err
	}
	ours, err := s.Acks(ctx)
	if err != nil {
		return err
	}
	for _, a := range theirs {
		same := func(o Ack) bool {
			return o.Metric == a.Metric && o.Link == a.Link && o.Run == a.Run && o.Reason == a.Reason && o.Who == a.Who
		}
		if slices.ContainsFunc(ours, same) {
			continue
		}
		switch _, err := s.Acknowledge(ctx, a); {
		case errors.Is(err, ErrNotFound): // its run was removed
			m.Left = append(m.Left, fmt.Sprintf("acknowledgement %q: run %s is not there", a.Reason, a.Run))
		case err != nil:
			return err
		default:
			m.Acks++
		}
	}
	return nil
}
