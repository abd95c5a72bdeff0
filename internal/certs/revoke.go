package certs

import (
	"crypto/rand"
	"crypto/x509"
	"fmt"
	"math/big"
	"path/filepath"
	"time"
)

// Revoke puts every certificate of that name, or with that serial number, on the revocation list, and returns them.
// Agents and coordinators obey the list once it lies in their directories.
func (a *Authority) Revoke(name string, now time.Time) ([]*x509.Certificate, error) {
	all, err := a.Issued()
	if err != nil {
		return nil, err
	}
	list, err := readRevoked(filepath.Join(a.dir, crlFile), a.cert)
	if err != nil {
		return nil, err
	}
	var found []*x509.Certificate
	entries := list.RevokedCertificateEntries
	for _, c := range all {
		if c.Subject.CommonName != name && Serial(c) != name {
			continue
		}
		found = append(found, c)
		if !lists(list, c) {
			entries = append(entries, x509.RevocationListEntry{SerialNumber: c.SerialNumber, RevocationTime: now})
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("no certificate was issued to %q, and none has that serial number; calib cert list shows them", name)
	}
	return found, a.writeRevoked(entries, list.Number.Int64()+1, now)
}

// Revoked reports which of the certificates are on the list.
func (a *Authority) Revoked() (func(*x509.Certificate) bool, error) {
	list, err := readRevoked(a.RevocationList(), a.cert)
	if err != nil {
		return nil, err
	}
	return func(c *x509.Certificate) bool { return lists(list, c) }, nil
}

// RevocationList is the path of the list, which every agent and coordinator needs a copy of.
func (a *Authority) RevocationList() string { return filepath.Join(a.dir, crlFile) }

func (a *Authority) writeRevoked(entries []x509.RevocationListEntry, number int64, now time.Time) error {
	der, err := x509.CreateRevocationList(rand.Reader, &x509.RevocationList{
		Number: big.NewInt(number), ThisUpdate: now.Add(-early), NextUpdate: a.cert.NotAfter, RevokedCertificateEntries: entries,
	}, a.cert, a.key)
	if err != nil {
		return fmt.Errorf("sign the revocation list: %w", err)
	}
	return writePEM(a.RevocationList(), crlBlock, der)
}

func lists(l *x509.RevocationList, c *x509.Certificate) bool {
	for _, e := range l.RevokedCertificateEntries {
		if e.SerialNumber.Cmp(c.SerialNumber) == 0 {
			return true
		}
	}
	return false
}
