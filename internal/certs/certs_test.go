package certs

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var now = time.Now()

func newAuthority(t testing.TB) *Authority {
	t.Helper()
	a, err := Init(filepath.Join(t.TempDir(), "ca[1]"), "test", now) // a name is no pattern
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func issue(t testing.TB, a *Authority, name string, role Role) (string, *x509.Certificate) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	c, err := a.Issue(Request{name, role, []string{"node3", "10.0.0.3"}, time.Hour}, dir, now)
	if err != nil {
		t.Fatal(err)
	}
	return dir, c
}

func refused(t *testing.T, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("let through; want an error that says %q", words)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error %q does not say %q", err, w)
		}
	}
}

func TestKeysAreOnesOwn(t *testing.T) {
	a := newAuthority(t)
	dir, _ := issue(t, a, "node3", Agent)
	for path, mode := range map[string]os.FileMode{a.dir: 0o700, dir: 0o700, filepath.Join(a.dir, caKeyFile): 0o600,
		filepath.Join(dir, keyFile): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: mode %v, want %v (%v)", path, info.Mode().Perm(), mode, err)
		}
	}
	if err := os.Chmod(dir, 0o750); err != nil {
		t.Fatal(err)
	}
	_, err := Load(dir)
	refused(t, err, "mode 0750", "chmod 0700")
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	_, err = Load(link)
	refused(t, err, "link")
	_, err = Init(a.dir, "again", now)
	refused(t, err, "not empty")
	_, err = a.Issue(Request{"node4", Agent, []string{"node4"}, time.Hour}, dir, now)
	refused(t, err, "not empty")
	if os.Geteuid() == 0 { // only root can give a directory away
		theirs := filepath.Join(t.TempDir(), "theirs")
		if err := os.Mkdir(theirs, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(theirs, 12345, 12345); err != nil {
			t.Fatal(err)
		}
		_, err = Load(theirs)
		refused(t, err, "another user")
	}
}

func TestRequests(t *testing.T) {
	a := newAuthority(t)
	for _, c := range []struct {
		r    Request
		want string
	}{
		{Request{"x", "king", nil, time.Hour}, "want agent or coordinator"},
		{Request{"", Coordinator, nil, time.Hour}, "without a name"},
		{Request{"x", Agent, nil, time.Hour}, "names or addresses"},
		{Request{"x", Coordinator, nil, 0}, "life"},
		{Request{"x", Coordinator, nil, 2 * authorityLife}, "shorter life"},
	} {
		_, err := a.Issue(c.r, filepath.Join(t.TempDir(), "x"), now)
		refused(t, err, c.want)
	}
	_, cert := issue(t, a, "node3", Agent)
	if RoleOf(cert) != Agent || cert.VerifyHostname("node3") != nil || cert.VerifyHostname("10.0.0.3") != nil ||
		cert.VerifyHostname("node4") == nil {
		t.Errorf("the certificate is for %v, %v, role %s", cert.DNSNames, cert.IPAddresses, RoleOf(cert))
	}
}

// What cannot be listed as issued is not given out: nobody could revoke it.
func TestUnlistedIsNotIssued(t *testing.T) {
	a := newAuthority(t)
	if err := errors.Join(os.RemoveAll(filepath.Join(a.dir, issuedName)),
		os.WriteFile(filepath.Join(a.dir, issuedName), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "node3")
	if _, err := a.Issue(Request{"node3", Coordinator, nil, time.Hour}, out, now); err == nil {
		t.Error("no error")
	}
	if left, err := os.ReadDir(out); err != nil || len(left) > 0 {
		t.Errorf("written: %v, %v", left, err)
	}
}

func TestOpenAgain(t *testing.T) {
	a := newAuthority(t)
	b, err := Open(a.dir)
	if err != nil {
		t.Fatal(err)
	}
	dir, cert := issue(t, b, "alice", Coordinator)
	c, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if c.Role() != Coordinator {
		t.Errorf("role %q", c.Role())
	}
	if all, _, err := a.Issued(); err != nil || len(all) != 1 || !all[0].Equal(cert) {
		t.Errorf("issued: %v (%v)", all, err)
	}
	_, err = Open(dir)
	refused(t, err, "ca.key")

	other, err := os.ReadFile(filepath.Join(newAuthority(t).dir, caFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, caFile), other, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err = Load(dir)
	refused(t, err, certFile)
}

// What holds is decided at the moment it is asked: by time, list, and authority.
func TestCheck(t *testing.T) {
	a := newAuthority(t)
	dir, own := issue(t, a, "agent", Agent)
	_, alice := issue(t, a, "alice", Coordinator)
	c, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Check(alice); err != nil {
		t.Fatal(err)
	}
	c.now = func() time.Time { return now.Add(2 * time.Hour) }
	refused(t, c.Check(alice), "has expired", "calib cert issue")
	c.now = func() time.Time { return now.Add(-2 * time.Hour) }
	refused(t, c.Check(alice), "check the clocks")
	c.now = time.Now

	before, err := os.ReadFile(c.path)
	if err != nil {
		t.Fatal(err)
	}
	put := func(b []byte) {
		if err := os.Remove(c.path); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(c.path, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // twice is as once
		if found, err := a.Revoke("alice", now); err != nil || len(found) != 1 || !found[0].Equal(alice) {
			t.Fatalf("revoked %v (%v)", found, err)
		}
	}
	_, err = a.Revoke("bob", now)
	refused(t, err, `"bob"`, "calib cert list")
	list, err := os.ReadFile(a.RevocationList())
	if err != nil {
		t.Fatal(err)
	}
	put(list)
	refused(t, c.Check(alice), "is revoked", Serial(alice))
	if err := c.Check(own); err != nil {
		t.Error(err)
	}
	put(before)
	refused(t, c.Check(own), "older than the list")
	put([]byte("garbage"))
	refused(t, c.Check(own), "not known", "copy the authority's")
	other, err := os.ReadFile(newAuthority(t).RevocationList())
	if err != nil {
		t.Fatal(err)
	}
	put(other)
	refused(t, c.Check(own), "not signed by this authority")
	if found, err := a.Revoke(Serial(own), now); err != nil || len(found) != 1 {
		t.Errorf("by serial number: %v (%v)", found, err)
	}
	if _, list, err := a.Issued(); err != nil || !Revoked(list, own) || !Revoked(list, alice) {
		t.Errorf("the authority's own list (%v)", err)
	}
}

func FuzzRevoked(f *testing.F) {
	a := newAuthority(f)
	b, err := os.ReadFile(a.RevocationList())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte("-----BEGIN X509 CRL-----\n-----END X509 CRL-----\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		p, _ := pem.Decode(in)
		if p == nil {
			return
		}
		l, err := parseRevoked(p.Bytes, a.cert)
		if err == nil && (l.Number == nil || l.CheckSignatureFrom(a.cert) != nil) {
			t.Errorf("believed: %x", in)
		}
	})
}
