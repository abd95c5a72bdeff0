package run

import (
	"maps"
	"strings"
	"testing"

	"calib/internal/certs"
	"calib/internal/hosts"
)

func TestNodeAddrs(t *testing.T) {
	const said = `NodeName=x1 Arch=x86_64 CoresPerSocket=1 CPUAlloc=0 NodeAddr=10.55.0.1 NodeHostName=x1 Port=6818 Version=22.05.8
NodeName=x2 CoresPerSocket=1 NodeAddr=x2 NodeHostName=x2
nothing of use
`
	want := map[string]string{"x1": "10.55.0.1", "x2": "x2"}
	if got := nodeAddrs(said); !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestSlurmPorts(t *testing.T) {
	for text, want := range map[string]certs.Ports{
		"":                              {},
		"SrunPortRange           = 0-0": {},
		"SrunEpilog = (null)\nSrunPortRange           = 60001-63000\nSrunProlog = x": {First: 60001, Last: 63000},
		"SrunPortRange = 60001-163000": {},
	} {
		if got := portsIn(text); got != want {
			t.Errorf("%q: got %+v, want %+v", text, got, want)
		}
	}
}

func TestHostsFileOfAJob(t *testing.T) {
	t.Setenv(slurmNodes, "x[1-2]")
	nodes := []hosts.Host{{Name: "x1", Addr: "10.55.0.1"}, {Name: "x2", Addr: "10.55.0.2"}}
	got, err := among(nodes, []hosts.Host{{Name: "x2"}, {Name: "x1", Addr: "10.1.0.1"}})
	if err != nil || len(got) != 2 || got[0].Addr != "10.55.0.2" || got[1].Addr != "10.1.0.1" {
		t.Errorf("got %+v, %v", got, err)
	}
	for say, h := range map[string]hosts.Host{"x[1-2]": {Name: "x3"},
		"only addr=, arch= and cpu=": {Name: "x1", Port: 2}} {
		if _, err := among(nodes, []hosts.Host{h}); err == nil || !strings.Contains(err.Error(), say) {
			t.Errorf("%+v: got %v, want an error that says %q", h, err, say)
		}
	}
}
