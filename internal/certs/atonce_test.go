package certs

import (
	"crypto/ed25519"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// atOnce does f for each of several processes, as it were, and returns their errors.
func atOnce(f func(i int) error) (errs [8]error) {
	var all sync.WaitGroup
	begin := make(chan struct{})
	for i := range errs {
		all.Go(func() {
			<-begin
			errs[i] = f(i)
		})
	}
	close(begin)
	all.Wait()
	return errs
}

// one checks that one of them had no error.
func one(t *testing.T, errs [8]error) {
	t.Helper()
	n := 0
	for _, err := range errs {
		if err == nil {
			n++
		}
	}
	if n != 1 {
		t.Errorf("%d of %d were told that they had made it: %v", n, len(errs), errs)
	}
}

// Of those who make an authority in one directory at once, or a certificate, one does, and its files are one pair.
func TestMadeAtOnce(t *testing.T) {
	for range 5 {
		dir := t.TempDir()
		ca, out := filepath.Join(dir, "ca"), filepath.Join(dir, "node3")
		var made *Authority
		one(t, atOnce(func(int) error {
			a, err := Init(ca, "test", now)
			if err == nil {
				made = a
			}
			return err
		}))
		a, err := Open(ca)
		if err != nil || made == nil || !a.cert.Equal(made.cert) || !a.key.Equal(made.key) {
			t.Fatalf("the authority is not the one that was made: %v", err)
		}
		one(t, atOnce(func(int) error {
			_, err := a.Issue(Request{"node3", Agent, []string{"node3"}, time.Hour}, out, now)
			return err
		}))
		c, err := Load(out)
		if err != nil {
			t.Fatal(err)
		}
		if key := c.cert.PrivateKey.(ed25519.PrivateKey); !c.cert.Leaf.PublicKey.(ed25519.PublicKey).Equal(key.Public()) {
			t.Error("the certificate is of another key")
		}
		if all, _, err := a.Issued(); err != nil || len(all) != 1 || !all[0].Equal(c.cert.Leaf) {
			t.Errorf("%d certificates are listed (%v), want the one that was issued", len(all), err)
		}
	}
}

// Certificates that are revoked at once are all revoked.
func TestRevokedAtOnce(t *testing.T) {
	a := newAuthority(t)
	name := func(i int) string { return fmt.Sprint("node", i) }
	for i := range 8 {
		issue(t, a, name(i), Agent)
	}
	for i, err := range atOnce(func(i int) error {
		_, err := a.Revoke(name(i), now)
		return err
	}) {
		if err != nil {
			t.Errorf("%s: %v", name(i), err)
		}
	}
	all, list, err := a.Issued()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		if !Revoked(list, c) {
			t.Errorf("%s is not on the list", c.Subject.CommonName)
		}
	}
	if n := list.Number.Int64(); n != 9 {
		t.Errorf("the list has number %d after eight changes, want 9", n)
	}
}
