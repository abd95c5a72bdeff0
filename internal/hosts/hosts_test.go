package hosts

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// render prints what Parse returned, one thing a line.
func render(hs []Host, notes []string, err error) string {
	var b strings.Builder
	for _, h := range hs {
		fmt.Fprintf(&b, "%+v\n", h)
	}
	for _, n := range notes {
		fmt.Fprintf(&b, "note: %v\n", n)
	}
	if err != nil {
		fmt.Fprintf(&b, "%v\n", err)
	}
	return b.String()
}

func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) < 2 {
		t.Fatalf("testdata: %v, %v", files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		got := render(Parse(text, filepath.Base(file)))
		golden := strings.TrimSuffix(file, ".txt") + ".golden"
		if *update {
			if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(string(want), got); d != "" {
			t.Errorf("%s (-want +got):\n%s", file, d)
		}
	}
}

var place = regexp.MustCompile("^h:([1-9][0-9]*:[1-9][0-9]*:| more faults)")

// TestFaults gives each fault of a file its place and its remedy.
func TestFaults(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"a\na", `h:2:1: duplicate a, first on line 1: delete one of them`},
		{"a[1-3]\na[2-5]", `h:2:1: duplicate a2, first on line 1: delete one of them`},
		{"calib://a:1\ncalib://a:1", `h:2:1: duplicate a:1, first on line 1: delete one of them`},
		{"a addr=10.0.0.1 port=1\nb addr=10.0.0.1 port=1",
			`h:2:3: duplicate addr=10.0.0.1 port=1, first on line 1: delete one of them`},
		{"a slot=4", `h:1:3: unknown setting "slot": did you mean slots=?`},
		{"a Port=4", `h:1:3: unknown setting "Port": did you mean port=?`},
		{"a adr=::1", `h:1:3: unknown setting "adr": did you mean addr=?`},
		{"a =4", `h:1:3: unknown setting "": the settings are addr, port, user, cpu, arch, slots`},
		{"a " + strings.Repeat("x", 100) + "=4", `the settings are addr, port, user, cpu, arch, slots`},
		{"a cpu= 3", "h:1:3: cpu= has no value: write cpu=VALUE without spaces, or delete it\n" +
			`h:1:8: "3" is no key=value setting: a second host goes on a line of its own`},
		{"a cpu=3-1", `h:1:7: cpu=3-1: want CPU numbers from 0, such as 2 or 0-3,8`},
		{"a cpu=any", `h:1:7: cpu=any: want CPU numbers from 0, such as 2 or 0-3,8, or none`},
		{"a cpu=9999", `h:1:7: cpu=9999: want CPU numbers`},
		{"a arch=AMD64", `h:1:8: arch=AMD64: want Go's name of it, such as amd64, arm64 or riscv64`},
		{"a user=-l", `h:1:8: user=-l: want letters, digits`},
		{"a port=65536", `h:1:8: port "65536": want a number from 1 to 65535`},
		{"a addr=0.0.0.0", `h:1:8: addr=0.0.0.0: peers cannot dial it; give the host's own address`},
		{"a addr=node7", `h:1:8: addr=node7: want an IPv4 or IPv6 address, such as 10.0.0.1 or fd00::1`},
		{"a addr=[::1]:70", `h:1:8: addr=[::1]:70 holds a port: write addr=::1 port=70`},
		{"port=7 a", `h:1:1: a line begins with a host, then its settings: node1 port=…`},
		{"http://a:1", `h:1:1: "http://a:1": a running daemon is written calib://host:port or calib+unix:///path`},
		{"a:7000", `, and ranges as in node[01-16]: write a port=7000, or calib://a:7000`},
		{"[::1]", `: an IPv6 address goes after a name: node1 addr=::1`},
		{"[::1]:99", `: address and port go after a name: node1 addr=::1 port=99, or write calib://[::1]:99 for a running daemon`},
		{"user@h1", `: write h1 user=user`},
		{"calib://:1", `h:1:9: no host before the port: want calib://host:1`},
		{"calib://a", `h:1:1: "calib://a": want a port: calib://host:7077`},
		{"calib://[::1]", `h:1:1: "calib://[::1]": want a port: calib://host:7077`},
		{"calib://a:x", `h:1:11: port "x": want a number from 1 to 65535`},
		{"calib://[::g]:1", `h:1:9: "[::g]" is no IPv6 address in brackets: want calib://[::1]:7077`},
		{"calib://::1:70", `h:1:9: "::1" is no IPv6 address in brackets: want calib://[::1]:7077`},
		{"calib://-a:70", `h:1:9: "-a" is no host name: it begins with '-'`},
		{"calib+unix://run/a.sock", `h:1:1: "calib+unix://run/a.sock": want the whole path of a socket: calib+unix:///run/calib/agent.sock`},
		{"calib+unix:///run/", `want the whole path of a socket`},
		{"calib+unix:///run/$(x)", `h:1:19: '$' in the path of a socket`},
		{"calib+unix:///" + strings.Repeat("x", 107), `a path of 108 bytes: a unix socket's has 107 at most`},
		{"calib+unix:///a user=root", `user= on a daemon`},
		{"us\x1b[31mer@node1", `h:1:3: '\x1b' controls what prints it: delete it`},
		{"a user=b\u009bc", `h:1:9: '\u009b' controls`}, {"a addr=x\x1b]0;t\a", `h:1:9: '\x1b' controls`}, {"a us\u202eer=1", `h:1:5: '\u202e' controls`},
		{"calib://a:70 user=root", `h:1:14: user= on a daemon: it already runs, nobody logs in; delete user=`},
		{"ok\n\tx[1-", `h:2:3: '[' without ']'`},
		{"a[1-65000]\nb[1-65000]", `h:2:1: more than 65536 hosts in all`},
	} {
		hs, _, err := Parse([]byte(c.text), "h")
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q:\n got %v\nwant %s", c.text, err, c.want)
		}
		if hs != nil {
			t.Errorf("%q: hosts %v beside an error", c.text, hs)
		}
		for _, line := range strings.Split(err.Error(), "\n") {
			if !place.MatchString(line) {
				t.Errorf("%q: no place in %s", c.text, line)
			}
		}
	}
}

func TestEmpty(t *testing.T) {
	for _, text := range []string{"", "\n\n", "# nothing\n  # here\r\n", "\ufeff"} {
		_, _, err := Parse([]byte(text), "h")
		if err == nil || !strings.Contains(err.Error(), "no hosts: ") ||
			!strings.Contains(err.Error(), "node[01-16] user=bench") {
			t.Errorf("%q: got %v, want what a line looks like", text, err)
		}
	}
}

func TestTenFaults(t *testing.T) {
	_, _, err := Parse([]byte(strings.Repeat("-x\n", 1000)), "h")
	if n := strings.Count(err.Error(), "\n") + 1; n != maxErrors+1 || !strings.HasSuffix(err.Error(), "mend these first") {
		t.Errorf("%d lines of errors: %v", n, err)
	}
}

func TestOtherEditors(t *testing.T) {
	hs, _, err := Parse([]byte("\ufeffa cpu=1\r\n\r\nb\r\n"), "h")
	want := []Host{{Name: "a", CPU: "1"}, {Name: "b"}}
	if d := cmp.Diff(want, hs); err != nil || d != "" {
		t.Errorf("byte order mark and CRLF: %v\n%s", err, d)
	}
}

// FuzzParse: any text gives hosts that are safe to start agents on, or errors with a place, and never both.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"node[01-16,20] cpu=2\n", "calib://[::1]:70\n#\na addr=::1", "calib+unix:///run/a.sock",
		"a=b", "x[1-9/2]y[3]", "\xff", "a[1-99999]b[1-99999]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		hs, _, err := Parse([]byte(text), "h")
		if (err == nil) != (len(hs) > 0) {
			t.Fatalf("%d hosts and %v", len(hs), err)
		}
		seen := map[string]bool{}
		for _, h := range hs {
			if seen[h.Name] || h.Name == "" || h.Name[0] == '-' || strings.ContainsAny(h.Name, " \t;$`'\"|&<>(){}*?!\\") {
				t.Fatalf("host %+v", h)
			}
			seen[h.Name] = true
			if !h.Daemon && !validName(h.Name) || h.User != "" && !validName(h.User) || h.Port < 0 || h.Port > 65535 {
				t.Fatalf("host %+v", h)
			}
		}
	})
}
