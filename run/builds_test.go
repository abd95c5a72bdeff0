package run

import (
	"strings"
	"testing"

	"calib/internal/dataset"
	"calib/internal/machine"
)

// An agent may be this calib or anything that it offers to hosts; of any other build the run says so.
func TestOtherBuilds(t *testing.T) {
	own, err := machine.BuildHash()
	if err != nil {
		t.Fatal(err)
	}
	small, other := strings.Repeat("ab", 32), strings.Repeat("cd", 32)
	c := &fleet{starter: starter{builds: []string{small}}, hosts: []dataset.Host{
		{Name: "a", Build: own}, {Name: "b", Build: small}, {Name: "c", Build: other, Version: "v1"}, {Name: "d"},
	}}
	if got := c.otherBuilds(); len(got) != 1 || !strings.HasPrefix(got[0], "host c runs calib v1, build cdcdcdcdcdcd;") {
		t.Errorf("got %q", got)
	}
	c.starter = nobody
	if got := c.otherBuilds(); len(got) != 2 {
		t.Errorf("a simulation: got %q", got)
	}
}
