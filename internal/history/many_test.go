package history

import (
	"context"
	"flag"
	"fmt"
	"path/filepath"
	"testing"
	"time"
)

// To measure with the command: go test ./internal/history -run ManyRuns -runs 10000 -store /tmp/many.db
var (
	manyRuns       = flag.Int("runs", 200, "runs that TestManyRuns stores")
	manyHosts      = flag.Int("hosts", 8, "hosts of each of them")
	manyParameters = flag.Int("parameters", 20, "parameters of each of them")
	manyStore      = flag.String("store", "", "file that it stores them in; empty is a temporary one")
)

// TestManyRuns stores runs of 8 hosts, 20 parameters and 28 links unless told otherwise, one a night, a change in the
// middle, and reads them back.
func TestManyRuns(t *testing.T) {
	path := *manyStore
	if path == "" {
		path = filepath.Join(t.TempDir(), "history.db")
	}
	s, err := Open(t.Context(), path, true)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if *manyRuns > 1000 { // the disk is waited for once, at the end
		if _, err := s.db.Exec("PRAGMA synchronous = OFF"); err != nil {
			t.Fatal(err)
		}
		s.db.SetMaxOpenConns(1)
	}
	began := time.Now()
	from := start.Add(-time.Duration(*manyRuns) * 24 * time.Hour)
	for i := range *manyRuns {
		night := 1 + 0.01*float64(i*7919%13)
		if i >= *manyRuns-30 {
			night *= 1.1
		}
		id := fmt.Sprintf("night-%05d", i)
		r := Record{Entry: Entry{Started: from.Add(time.Duration(i) * 24 * time.Hour), Label: "nightly"},
			Params: testParams(id, *manyHosts, *manyParameters, night)}
		if _, err := s.Add(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d runs added in %v", *manyRuns, time.Since(began))
	began = time.Now()
	all, err := s.List(context.Background(), Filter{})
	if err != nil || len(all) != *manyRuns {
		t.Fatal(len(all), err)
	}
	listed := time.Since(began)
	followed, err := s.Followed(t.Context())
	if err != nil || len(followed) != *manyParameters+*manyHosts*(*manyHosts-1) {
		t.Fatal(len(followed), err)
	}
	asked := time.Since(began) - listed
	one, err := s.Series(t.Context(), Filter{}, followed[0])
	if err != nil || len(one) != *manyRuns {
		t.Fatal(len(one), err)
	}
	read := time.Since(began) - listed - asked
	seriesOf(t, s, followed[:20])
	t.Logf("%d runs: all listed in %v, what is followed in %v, a series of all in %v, 20 series in %v", *manyRuns,
		listed, asked, read, time.Since(began)-listed-asked-read)
}

// BenchmarkAdd adds runs of 60 parameters and 28 links, on the disk each.
func BenchmarkAdd(b *testing.B) {
	s := filled(b, 200)
	if *manyStore != "" {
		var err error
		if s, err = Open(b.Context(), *manyStore, true); err != nil {
			b.Fatal(err)
		}
		defer s.Close()
	}
	run := time.Now().UnixNano()
	for i := 0; b.Loop(); i++ {
		r := Record{Entry: Entry{Started: start.Add(time.Duration(300+i) * time.Hour)},
			Params: testParams(fmt.Sprintf("b-%d-%05d", run, i), 8, 60, 1)}
		if _, err := s.Add(b.Context(), r); err != nil {
			b.Fatal(err)
		}
	}
}
