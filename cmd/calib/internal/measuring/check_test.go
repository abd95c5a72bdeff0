package measuring

import (
	"encoding/json"
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

// Groups whose hosts share a machine are called so. Where groups are undetermined, the screen says so, but not of a few
// hosts, which can have none.
func TestWhatIsSaidOfGroups(t *testing.T) {
	parts := [][]int{{0, 1, 2}, {3, 4, 5}}
	for _, c := range []struct {
		hosts  int
		of     fault.Judgement
		screen string // "" is nothing
		json   string
	}{
		{6, fault.Judgement{Groups: parts, Apart: 2}, "  Groups: h[0-2]; h[3-5]. Between them", `"groups":`},
		{6, fault.Judgement{Groups: parts, Apart: 2, Machines: true},
			"  Hosts of the same machine: h[0-2]; h[3-5]. Between them", `"groups_are_machines":true`},
		{6, fault.Judgement{Unsure: "why"}, "  Groups, such as racks, are undetermined: why.\n", `"groups_undetermined":"why"`},
		{5, fault.Judgement{Unsure: "why"}, "", `"groups_undetermined":"why"`},
	} {
		found := checkedHosts(c.hosts, c.hosts*(c.hosts-1)/2)
		found.Groups, found.Apart, found.Machines, found.Unsure = c.of.Groups, c.of.Apart, c.of.Machines, c.of.Unsure
		got := printed(t, found)
		if c.screen == "" && strings.Contains(got, "roups") || !strings.Contains(got, c.screen) {
			t.Errorf("%+v: %s", c.of, got)
		}
		if b, err := json.Marshal(screenedOf(found, checkMargin)); err != nil || !strings.Contains(string(b), c.json) {
			t.Errorf("%+v: %s, %v", c.of, b, err)
		}
	}
}
