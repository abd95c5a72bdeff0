package history

import (
	"bytes"
	stdcmp "cmp"
	"compress/gzip"
	"crypto/sha256"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"calib/params"
)

// A store in which L_cluster was L goes on with the series, acknowledgements and runs that it has.
func TestRenamedFunction(t *testing.T) {
	ctx, s := t.Context(), filled(t, 2)
	r := testRecord(2, 1)
	r.Params.Functions["L_cluster"] = params.Function{Form: params.Bilinear, Unit: "s", Status: params.StatusOK,
		Model: "cluster", Coeff: map[string]float64{"l0": 1e-4, "l1": 1e-6, "tau": 1e-9}}
	if _, err := s.Add(ctx, r); err != nil {
		t.Fatal(err)
	}
	before, err := s.Followed(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Acknowledge(ctx, Ack{Run: "run-00002", Metric: "L.l0", Reason: "a kernel"}); err != nil {
		t.Fatal(err)
	}
	var text, packed bytes.Buffer
	if err := params.Encode(&text, r.Params); err != nil {
		t.Fatal(err)
	}
	old := bytes.ReplaceAll(text.Bytes(), []byte(`"L_cluster"`), []byte(`"L"`))
	old = bytes.Replace(old, []byte(params.Schema), []byte("calib.params/3"), 1)
	z := gzip.NewWriter(&packed)
	_, err = z.Write(old)
	if err = stdcmp.Or(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(old)
	for _, change := range []struct {
		statement string
		with      []any
	}{
		{"DELETE FROM goose_db_version WHERE version_id >= 7", nil},
		{"UPDATE metrics SET name = 'L' || substr(name, 10) WHERE name LIKE 'L_cluster.%'", nil},
		{"UPDATE documents SET params = ? WHERE run = (SELECT key FROM runs WHERE id = ?)",
			[]any{packed.Bytes(), "run-00002"}},
		{"UPDATE runs SET digest = ? WHERE id = ?", []any{sum[:], "run-00002"}},
	} {
		if _, err := s.db.ExecContext(ctx, change.statement, change.with...); err != nil {
			t.Fatal(change.statement, err)
		}
	}
	again, err := Open(ctx, s.Path, true)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	after, err := again.Followed(ctx)
	if d := cmp.Diff(before, after, cmpopts.IgnoreUnexported(Followed{})); d != "" || err != nil {
		t.Error(d, err)
	}
	i := 0
	for ; i < len(after) && after[i].Name != "L_cluster.l0"; i++ {
	}
	acks, err := again.Acks(ctx)
	if err != nil || i == len(after) || !acks[0].Covers(after[i]) {
		t.Errorf("%v, acknowledged %+v", err, acks)
	}
	if added, err := again.Add(ctx, r); added || err != nil {
		t.Errorf("the same run again: added %t, %v", added, err)
	}
	r.Params.Run.Plan = "another"
	if _, err := again.Add(ctx, r); err == nil {
		t.Error("another run of the same ID was taken")
	}
}
