package run

import (
	"strings"
	"testing"

	"calib/internal/dataset"
	"calib/internal/hosts"
)

// Agents have the best CPU that the hosts file allows, each its own while there are enough on its machine.
func TestPin(t *testing.T) {
	for _, c := range []struct{ name, hosts, want, together string }{
		{"own machines", "a:1,2,0 b:1,2,0", "1 1", ""},
		{"one machine", "m:1,2,0 m:1,2,0 m:1,2,0", "1 2 0", ""},
		{"crowded", "m:1,0 m:1,0 m:1,0 m:1,0", "1 0 1 0", "CPU 0: h[1,3]; CPU 1: h[0,2]"},
		{"the file says so", "m:1,2,0:cpu=2 m:1,2,0:cpu=0-2 m:1,2,0:cpu=none", "2 1 -", ""},
		{"an agent that does not say", "a b", "- -", ""},
	} {
		var f fleet
		for i, text := range strings.Fields(c.hosts) {
			boot, rest, _ := strings.Cut(text, ":")
			cpus, wanted, _ := strings.Cut(rest, ":cpu=")
			offered := strings.FieldsFunc(cpus, func(r rune) bool { return r == ',' })
			h := dataset.Host{Name: "h" + string(rune('0'+i)), Boot: boot, Now: dataset.Now{CPUs: offered}}
			if err := allow(&h, hosts.Host{Name: h.Name, CPU: wanted}); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			f.hosts = append(f.hosts, h)
		}
		f.pin()
		var got []string
		for _, h := range f.hosts {
			if h.CPU == "" {
				h.CPU = "-"
			}
			got = append(got, h.CPU)
		}
		if s := strings.Join(got, " "); s != c.want || f.onOneCPU() != c.together {
			t.Errorf("%s: %s, together %q; want %s, %q", c.name, s, f.onOneCPU(), c.want, c.together)
		}
	}
	h := dataset.Host{Name: "a", Now: dataset.Now{CPUs: []string{"1", "0"}}}
	if err := allow(&h, hosts.Host{Name: "a", CPU: "2-3"}); err == nil ||
		err.Error() != "host a: cpu=2-3 in the hosts file, but its agent may use CPUs 1, 0" {
		t.Error(err)
	}
}
