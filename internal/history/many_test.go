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
	manyRuns  = flag.Int("runs", 200, "runs that TestManyRuns stores")
	manyHosts = flag.Int("hosts", 8, "hosts of each of them")
	manyStore = flag.String("store", "", "file that it stores them in; empty is a temporary one")
)

// TestManyRuns stores runs of 8 hosts, 20 parameters and 28 links unless told otherwise, one a night, a change in the
// middle, and reads them back.
func TestManyRuns(t *testing.T) {
	path := *manyStore
	if path == "" {
		path = filepath.Join(t.TempDir(), "history.db")
	}
	s, err := Open(t.Context(), path)
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
	from := start.Add(-time.Duration(*manyRuns) * 24 * time.Hour)
	for i := range *manyRuns {
		night := 1 + 0.01*float64(i*7919%13)
		if i >= *manyRuns-30 {
			night *= 1.1
		}
		id := fmt.Sprintf("night-%05d", i)
		r := Record{Entry: Entry{Started: from.Add(time.Duration(i) * 24 * time.Hour), Label: "nightly"}, Params: testParams(id, *manyHosts, 20, night)}
		if _, err := s.Add(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	began := time.Now()
	all, err := s.List(context.Background(), Filter{})
	if err != nil || len(all) != *manyRuns {
		t.Fatal(len(all), err)
	}
	listed := time.Since(began)
	followed, err := s.Followed(t.Context())
	if err != nil || len(followed) != 20+*manyHosts*(*manyHosts-1) {
		t.Fatal(len(followed), err)
	}
	asked := time.Since(began) - listed
	series, err := s.Series(t.Context(), Filter{}, followed[:20]...)
	if err != nil || len(series) != 20 || len(series[19]) != *manyRuns {
		t.Fatal(len(series), err)
	}
	t.Logf("%d runs: all listed in %v, what is followed in %v, 20 series of all in %v", *manyRuns, listed, asked, time.Since(began)-listed-asked)
}
