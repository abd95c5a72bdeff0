package compare

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"calib/reports"
)

// FuzzReadFloor: whatever noise.json holds, it is refused with what makes a good one, or it can be used, printed, and
// written again.
func FuzzReadFloor(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"schema":"calib.noise/1"}`, `{"schema":"` + FloorSchema + `","runs":["a"],"nights":-1,"level":2,"of":[{"name":"a_c","unit":"s","absolute":1e-6,"relative":null}]}`,
		`{"schema":"` + FloorSchema + `","of":[{"name":"latency","from":"a","to":"b","unit":"s","absolute":-1}]}`,
		`{"schema":"` + FloorSchema + `","of":[{"absolute":1e308},{"absolute":0,"relative":1e308}]}`, `[`, `null`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		floor, err := ReadFloor(b)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "noise floor: ") || floor != nil {
				t.Errorf("%v, %v", floor, err)
			}
			return
		}
		for _, scope := range []string{ScopeLink, ScopeHost, ""} {
			if a, _ := floor.of(Change{Scope: scope, Name: "a_c", Unit: "s"}); !(a >= 0) {
				t.Errorf("a noise of %v", a)
			}
		}
		if err := FloorText(io.Discard, floor); err != nil {
			t.Error(err)
		}
		var text bytes.Buffer
		if err := reports.WriteJSON(&text, floor); err != nil {
			t.Fatal(err)
		}
		again, err := ReadFloor(text.Bytes())
		if err != nil {
			t.Fatalf("what was written is not read: %v", err)
		}
		if diff := cmp.Diff(floor, again); diff != "" {
			t.Error(diff)
		}
	})
}
