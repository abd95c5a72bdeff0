package measuring

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"calib/fit/fault"
	"calib/internal/doctor"
	"calib/run"
)

// checkedHosts is what a check of some hosts found that are all alike.
func checkedHosts(hosts, pairs int) run.Checked {
	c := run.Checked{Judgement: fault.Judgement{Rounds: 24, Pairs: pairs, Of: hosts * (hosts - 1) / 2}, Decided: true,
		Latency: 20e-6, PerByte: 8e-9, Took: 20 * time.Second, Links: make([]string, hosts),
		Levels: make([]fault.Found, hosts)}
	for h := range hosts {
		c.Hosts = append(c.Hosts, fmt.Sprintf("h%d", h))
	}
	return c
}

func printed(t *testing.T, c run.Checked) string {
	t.Helper()
	var b strings.Builder
	if err := screenedOf(c, checkMargin).text(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// What doctor finds is said before the verdict, but for notes and for what would be too long. Programs read all of it.
func TestFindingsOfDoctor(t *testing.T) {
	mtu := doctor.Finding{Severity: doctor.Disturbs, Code: "differs-nic.mtu", Hosts: []string{"h3"},
		What: "the MTU differs", Mend: "ip link"}
	note := doctor.Finding{Severity: doctor.Notes, Code: "virtual", Hosts: []string{"h0"}, What: "a virtual machine"}
	for _, c := range []struct {
		name     string
		findings []doctor.Finding
		want     string
	}{
		{"none", nil, "HEALTHY"},
		{"notes", []doctor.Finding{note, note}, "HEALTHY"},
		{"one", []doctor.Finding{mtu, note}, "  h3: the MTU differs\n      ip link\n  calib doctor says more.\n\n" +
			"HEALTHY"},
		{"many", slices.Repeat([]doctor.Finding{mtu}, 10), strings.Repeat("  h3: the MTU differs\n      ip link\n", 8) +
			"  calib doctor says more.\n\nHEALTHY"},
	} {
		found := checkedHosts(4, 6)
		found.Findings = c.findings
		if got := printed(t, found); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %s", c.name, got)
		}
		if d := screenedOf(found, checkMargin); len(d.Findings) != len(c.findings) {
			t.Errorf("%s: %+v", c.name, d.Findings)
		}
	}
}

// Of many hosts not all pairs are seen, and nothing is said of the others.
func TestPairsThatWereNotSeen(t *testing.T) {
	for _, c := range []struct {
		hosts, pairs int
		want         string
	}{
		{8, 28, "HEALTHY: no host or pair is slow\n"},
		{1000, 12_000, "HEALTHY: no host is slow, and no pair of the 2.4% that were seen\n"},
	} {
		if got := printed(t, checkedHosts(c.hosts, c.pairs)); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s", got)
		}
	}
}
