package machine

import "testing"

func TestLoopback(t *testing.T) {
	if rate := Loopback(); !(rate > 1e6) {
		t.Errorf("loopback %g bit/s", rate)
	}
}
