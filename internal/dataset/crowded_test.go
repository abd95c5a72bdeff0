package dataset

import (
	"fmt"
	"strings"
	"testing"
)

// Two agents on one CPU are no pair to measure, where there are others.
func TestCrowded(t *testing.T) {
	for hosts, want := range map[string]string{
		"a:0 a:1":         "",
		"a:0 a:0":         "", // there is no other pair
		"a:0 a:1 a:0 a:1": "[0 2] [1 3]",
		"a:0 b:0 a:1 b:0": "[1 3]",
		"a: a: a:1":       "", // nobody knows
		":0 :0 :1":        "",
	} {
		var list []Host
		for _, f := range strings.Fields(hosts) {
			boot, cpu, _ := strings.Cut(f, ":")
			list = append(list, Host{Boot: boot, CPU: cpu})
		}
		crowded, got := Crowded(list), ""
		for i := range list {
			for k := i + 1; k < len(list); k++ {
				if CrowdedTeam(crowded, []int{i, k}) {
					got += fmt.Sprint([]int{i, k}) + " "
				}
			}
		}
		if got = strings.TrimSpace(got); got != want {
			t.Errorf("%s: %q, want %q", hosts, got, want)
		}
		if CrowdedTeam(crowded, []int{0, len(list)}) {
			t.Errorf("%s: a host that is not there shares a CPU", hosts)
		}
		list[0].Env = map[string]string{"nic.driver": "tun"}
		if Crowded(list) != nil {
			t.Errorf("%s: an emulated wire has no pairs on one CPU", hosts)
		}
	}
}
