package launch

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"calib/internal/hosts"
)

// Host is short here: tests name many.
type Host = hosts.Host

var amd64 = Binary{Path: "/opt/calib", Hash: strings.Repeat("ab", 32), GOOS: "linux", GOARCH: "amd64"}

func TestPrefixes(t *testing.T) {
	t.Setenv("RACK", "r7 x")
	ssh := []string{"-oBatchMode=yes", "-oConnectTimeout=10", "-oServerAliveInterval=15", "-oClearAllForwardings=yes",
		"-T"}
	for _, c := range []struct {
		prefix string
		host   Host
		want   []string
	}{
		{SSH, Host{Name: "node3"}, slices.Concat([]string{"ssh"}, ssh, []string{"node3"})},
		{SSH, Host{Name: "node3", User: "ann"}, slices.Concat([]string{"ssh"}, ssh, []string{"-l", "ann", "node3"})},
		{"/usr/bin/ssh -o connecttimeout=3 -J gate {user}@{host}", Host{Name: "node3", User: "ann"},
			[]string{"/usr/bin/ssh", "-oBatchMode=yes", "-oServerAliveInterval=15", "-oClearAllForwardings=yes", "-T",
				"-o", "connecttimeout=3", "-J", "gate", "ann@node3"}},
		{"ip netns exec {host}", Host{Name: "h1"}, []string{"ip", "netns", "exec", "h1"}},
		{"docker exec -i calib-{host}", Host{Name: "h1"}, []string{"docker", "exec", "-i", "calib-h1"}},
		{"kubectl exec -i {host} --", Host{Name: "pod-1"}, []string{"kubectl", "exec", "-i", "pod-1", "--"}},
		{`env 'A=b c' "D=$RACK" run {user}:{host}`, Host{Name: "h", User: "ann"},
			[]string{"env", "A=b c", "D=r7 x", "run", "ann:h"}},
		{"lxc-attach -n {host} --", Host{Name: "fe80::1%eth0"}, []string{"lxc-attach", "-n", "fe80::1%eth0", "--"}},
	} {
		l, err := Template(c.prefix, amd64)
		if err != nil {
			t.Errorf("%s: %v", c.prefix, err)
			continue
		}
		got, err := l.command(c.host)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s for %+v:\n got %q, %v\nwant %q", c.prefix, c.host, got, err, c.want)
		}
	}
}

func TestBadPrefixes(t *testing.T) {
	for prefix, say := range map[string]string{
		"":                     "empty",
		"   ":                  "empty",
		"ssh node3":            "no {host}",
		"-x {host}":            "option",
		"ssh {host} 'unclosed": "quote",
		"ssh $(reboot) {host}": "",
	} {
		_, err := Template(prefix, amd64)
		if !errors.Is(err, ErrPrefix) || !strings.Contains(err.Error(), say) {
			t.Errorf("%q: got %v, want a bad prefix: %s", prefix, err, say)
		}
	}
	if _, err := Template(SSH); !errors.Is(err, ErrPrefix) {
		t.Errorf("without a binary: %v", err)
	}
}

func TestBadHosts(t *testing.T) {
	for _, c := range []struct {
		prefix string
		host   Host
		want   error
	}{
		{SSH, Host{}, ErrHost},
		{SSH, Host{Name: "-oProxyCommand=reboot"}, ErrHost},
		{SSH, Host{Name: "a b"}, ErrHost},
		{SSH, Host{Name: "a;reboot"}, ErrHost},
		{SSH, Host{Name: "$(reboot)"}, ErrHost},
		{SSH, Host{Name: "a\nb"}, ErrHost},
		{SSH, Host{Name: "{user}"}, ErrHost},
		{SSH, Host{Name: "ok", User: "-l"}, ErrHost},
		{SSH, Host{Name: "ok", User: "a b"}, ErrHost},
		{"ip netns exec {host}", Host{Name: "ok", User: "ann"}, ErrPrefix},
		{"run {user} {host}", Host{Name: "ok"}, ErrPrefix},
	} {
		l, err := Template(c.prefix, amd64)
		if err != nil {
			t.Fatal(err)
		}
		if argv, err := l.command(c.host); !errors.Is(err, c.want) {
			t.Errorf("%s for %+v: got %q, %v, want %q", c.prefix, c.host, argv, err, c.want)
		}
	}
}

func TestPickBinary(t *testing.T) {
	arm := Binary{Path: "/opt/calib-arm", GOOS: "linux", GOARCH: "arm64"}
	for _, c := range []struct {
		system, machine string
		want            string
		say             string
	}{
		{"Linux", "x86_64", amd64.Path, ""},
		{"Linux", "aarch64", arm.Path, ""},
		{"Darwin", "arm64", "", "darwin/arm64, and calib here has agents for linux/amd64 and linux/arm64"},
		{"Linux", "riscv64", "", "GOOS=linux GOARCH=riscv64 go build -o calib-agent-riscv64 ./cmd/calib-agent"},
		{"Linux", "vax", "", "linux/vax"},
	} {
		b, err := pick([]Binary{amd64, arm}, c.system, c.machine)
		if b.Path != c.want || (c.want == "") != errors.Is(err, ErrArch) || err != nil &&
			!strings.Contains(err.Error(), c.say) {
			t.Errorf("%s %s: got %q, %v", c.system, c.machine, b.Path, err)
		}
	}
}

// A binary that was packed is the same binary.
func TestUnpack(t *testing.T) {
	b := self(t)
	packed, err := b.packed()
	if err != nil {
		t.Fatal(err)
	}
	got, err := Unpack(packed)
	if err != nil || got.Hash != b.Hash || got.GOOS != b.GOOS || got.GOARCH != b.GOARCH || got.Path != "" {
		t.Errorf("got %+v, %v, want the hash and target of %+v", got, err, b)
	}
	for _, bad := range [][]byte{nil, []byte("no gzip"), packed[:len(packed)/2]} {
		if _, err := Unpack(bad); err == nil {
			t.Errorf("%d bytes that are no packed binary were taken", len(bad))
		}
	}
}

func TestScriptQuotesWhatItIsGiven(t *testing.T) {
	b := amd64
	b.packed = func() ([]byte, error) { return []byte("7 bytes"), nil }
	b.Path = "/opt/it's $HOME/calib"
	s, _, err := fill(b, "", streamCheck, []string{"agent", "--data", "a b;c'd"})
	if err != nil {
		t.Fatal(err)
	}
	if empty := regexp.MustCompile("@[A-Z]+@").FindString(s); empty != "" {
		t.Errorf("%s is left in %s", empty, s)
	}
	for _, bad := range []string{"a\nb", "a\x00b"} {
		if _, _, err := fill(b, "", streamCheck, []string{bad}); err == nil {
			t.Errorf("argument %q accepted", bad)
		}
	}
}

func TestTailKeepsTheEnd(t *testing.T) {
	var l tail
	for range 3000 {
		l.Write([]byte("line of some text\n"))
	}
	l.Write([]byte("the end\r\n"))
	if s := l.String(); !strings.HasSuffix(s, "text\nthe end") || strings.Count(s, "\n") != tailLines-1 ||
		len(s) > tailBytes {
		t.Errorf("kept %d bytes: %q", len(l.b), s)
	}
	l.Write(make([]byte, 3*keptBytes))
	if len(l.b) != keptBytes {
		t.Errorf("kept %d bytes of one long write", len(l.b))
	}
}
