package machine

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNow(t *testing.T) {
	c := fake(map[string]string{
		"proc/loadavg":                          "1.25 0.50 0.10 3/512 4711\n",
		"proc/sys/net/ipv4/ip_local_port_range": "32768\t60999\n",
		"sys/devices/system/clocksource/clocksource0/available_clocksource": "tsc hpet acpi_pm \n",
	}, fakeDriver{})
	env := map[string]string{"kernel": "6.12"}
	c.now(env)
	fingerprint, now := Split(env)
	if diff := cmp.Diff(map[string]string{"kernel": "6.12"}, fingerprint); diff != "" {
		t.Error(diff)
	}
	want := map[string]string{NowLoad: "1.25", NowPorts: "32768 60999", NowClocks: "tsc hpet acpi_pm",
		NowNICs: "1=lo 2=eth0 3=eth1"}
	if diff := cmp.Diff(want, now); diff != "" {
		t.Error(diff)
	}
}

// This host says what time it is, and how many files its processes may open.
func TestNowHere(t *testing.T) {
	_, now := Split(Collect("127.0.0.1"))
	for _, k := range []string{NowUnix, NowFiles, NowDisk, NowCPUTime} {
		if _, err := strconv.ParseUint(now[k], 10, 64); err != nil {
			t.Errorf("%s: %v", k, err)
		}
	}
	if !strings.Contains(now[NowNICs], "=lo") {
		t.Errorf("no loopback in %q", now[NowNICs])
	}
}
