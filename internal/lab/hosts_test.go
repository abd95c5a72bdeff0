package lab

import (
	"bytes"
	"errors"
	"net/netip"
	"os"
	"testing"

	"calib/internal/netspec"
)

func TestHostsFile(t *testing.T) {
	spec, err := netspec.Preset("sparc1994", 4)
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("testdata/hosts.golden")
	if err != nil {
		t.Fatal(err)
	}
	if got := HostsFile("calib", spec, "ip netns exec {host}"); got != string(want) {
		t.Errorf("got:\n%swant:\n%s", got, want)
	}
}

func TestAddresses(t *testing.T) {
	for _, c := range []struct {
		i    int
		addr string
	}{{0, "10.77.0.1"}, {254, "10.77.0.255"}, {4095, "10.77.16.0"}} {
		if got := Addr(c.i); got != netip.MustParseAddr(c.addr) || hostOf(got.AsSlice()) != c.i {
			t.Errorf("host %d: %v, want %s; back: %d", c.i, got, c.addr, hostOf(got.AsSlice()))
		}
	}
}

func TestName(t *testing.T) {
	for _, good := range []string{"calib", "a", "lab-2"} {
		if err := checkName(good); err != nil {
			t.Error(err)
		}
	}
	for _, bad := range []string{"", "-x", "../etc", "a/b", "A", "a b", string(bytes.Repeat([]byte("a"), 33))} {
		if err := checkName(bad); !errors.Is(err, ErrUse) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
