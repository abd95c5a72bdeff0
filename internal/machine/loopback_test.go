package machine

import (
	"strconv"
	"testing"
)

func TestLoopback(t *testing.T) {
	env := map[string]string{}
	SetLoopback(env)
	if rate, err := strconv.ParseFloat(env[nowPrefix+NowLoopback], 64); err != nil || !(rate > 1e6) {
		t.Errorf("loopback %q: %v", env[nowPrefix+NowLoopback], err)
	}
}
