package run

import (
	"errors"
	"fmt"
	"testing"

	"calib/agent"
)

// TestSupposed: a network of which nothing came back in time is planned for as a slow one, any other as if nobody had
// looked.
func TestSupposed(t *testing.T) {
	late, _ := supposed(fmt.Errorf("probe of 1 pair: %w", agent.ErrDeadline))
	if !late.Known() || late.PerByte < 1e4 {
		t.Errorf("after a deadline: %+v", late)
	}
	if other, _ := supposed(errors.New("connection refused")); other.Known() {
		t.Errorf("after another error: %+v", other)
	}
}
