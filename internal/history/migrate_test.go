package history

import (
	"slices"
	"testing"

	"calib/fit/params"
)

// A store of the second version followed identity_hku, which is identity_cluster now: its series goes on.
func TestRenamedMetric(t *testing.T) {
	s := filled(t, 1)
	for _, q := range []string{
		"UPDATE metrics SET name = 'identity_hku' WHERE key = (SELECT min(key) FROM metrics)",
		"DELETE FROM goose_db_version WHERE version_id = 3",
	} {
		if _, err := s.db.ExecContext(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
	again, err := Open(t.Context(), s.path)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	metrics, _, _ := rowsOf(t, again, "run-00000")
	named := func(name string) bool {
		return slices.ContainsFunc(metrics, func(m params.Metric) bool { return m.Name == name })
	}
	if named("identity_hku") || !named("identity_cluster") {
		t.Errorf("metrics are %v", metrics)
	}
}
