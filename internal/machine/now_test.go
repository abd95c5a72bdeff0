package machine

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"calib/internal/dataset"
)

func TestNow(t *testing.T) {
	c := fake(map[string]string{
		"proc/loadavg":                          "1.25 0.50 0.10 3/512 4711\n",
		"proc/sys/net/ipv4/ip_local_port_range": "32768\t60999\n",
		"sys/devices/system/clocksource/clocksource0/available_clocksource": "tsc hpet acpi_pm \n",
	}, fakeDriver{})
	want := dataset.Now{Load: 1.25, Ports: [2]int{32768, 60999}, Clocks: []string{"tsc", "hpet", "acpi_pm"},
		NICs: map[int]string{1: "lo", 2: "eth0", 3: "eth1"}}
	if diff := cmp.Diff(want, c.now()); diff != "" {
		t.Error(diff)
	}
	nothing := collector{root: tree(nil), interfaces: func() []nic { return nil }}
	if diff := cmp.Diff(dataset.Now{Clocks: []string{}, NICs: map[int]string{}}, nothing.now()); diff != "" {
		t.Error(diff)
	}
}

// This host says what time it is, and how many files its processes may open.
func TestNowHere(t *testing.T) {
	_, now := Collect("127.0.0.1")
	if now.Unix <= 0 || now.Files == 0 || now.DiskPath == "" || now.CPUTime <= 0 || len(now.CPUs) == 0 {
		t.Errorf("%+v", now)
	}
	if !slices.Contains(slices.Collect(maps.Values(now.NICs)), "lo") {
		t.Errorf("no loopback in %v", now.NICs)
	}
}
