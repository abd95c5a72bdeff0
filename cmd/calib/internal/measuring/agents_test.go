package measuring

import (
	"strings"
	"testing"
	"testing/fstest"
)

func TestPackedAgents(t *testing.T) {
	list, err := packedAgents()
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range list { // none, but under the build tag agents
		if b.GOOS != "linux" || b.Path != "" {
			t.Errorf("got %+v, want an agent for Linux without a path here", b)
		}
	}
	bad := fstest.MapFS{"calib-agent-linux-x.gz": {Data: []byte("no gzip")}}
	if _, err := unpackAgents(bad); err == nil || !strings.Contains(err.Error(), "calib-agent-linux-x.gz") {
		t.Errorf("got %v, want an error that names the file", err)
	}
}
