// Package certs is the certificates by which daemons and coordinators know each other: a certificate authority in a
// directory of its own, what it issues, and what it has revoked.
//
// Its opinion: nothing here is cryptography of our own. Certificates are X.509 by crypto/x509, the transport is TLS
// 1.3. A key is in a directory that nobody else can read, or it is not used. A certificate says by its extended key
// usage what it is for: an agent's serves, a coordinator's asks; neither stands for the other. The revocation list is a
// file beside the key that is read for every connection; without one that can be read and is signed, nobody is let in.
package certs

import (
	"cmp"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"calib/internal/files"
)

// The files of a directory of certificates. An authority's has caKey and issued, one that was issued has cert and key.
const (
	caFile     = "ca.pem"
	caKeyFile  = "ca.key"
	crlFile    = "crl.pem"
	certFile   = "cert.pem"
	keyFile    = "key.pem"
	issuedName = "issued" // directory: a copy of each certificate
)

const (
	authorityLife = 10 * 365 * 24 * time.Hour
	// early is how long before now a certificate begins, for hosts whose clocks are behind.
	early = time.Hour
)

type Role string

const (
	Agent       Role = "agent"
	Coordinator Role = "coordinator"
)

var usages = map[Role]x509.ExtKeyUsage{Agent: x509.ExtKeyUsageServerAuth, Coordinator: x509.ExtKeyUsageClientAuth}

// Authority signs certificates. Its directory is the secret: whoever has it can reach every agent.
type Authority struct {
	dir  string
	cert *x509.Certificate
	key  ed25519.PrivateKey
}

// Init makes an authority in a directory that is new or empty.
func Init(dir, name string, now time.Time) (*Authority, error) {
	if err := makePrivate(dir); err != nil {
		return nil, err
	}
	a := &Authority{dir: dir}
	var err error
	a.cert, a.key, err = a.sign(&x509.Certificate{
		Subject: pkix.Name{CommonName: name}, NotBefore: now.Add(-early), NotAfter: now.Add(authorityLife),
		IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
	})
	if err != nil {
		return nil, err
	}
	if err := writeKey(filepath.Join(dir, caKeyFile), a.key); err != nil { // another process was the first
		return nil, err
	}
	return a, errors.Join(writePEM(filepath.Join(dir, caFile), certBlock, a.cert.Raw),
		os.Mkdir(filepath.Join(dir, issuedName), 0o700), a.writeRevoked(nil, 1, now))
}

func Open(dir string) (*Authority, error) {
	if err := checkPrivate(dir); err != nil {
		return nil, err
	}
	cert, err := readCert(filepath.Join(dir, caFile))
	if err != nil {
		return nil, fmt.Errorf("%w; calib cert init makes a certificate authority", err)
	}
	key, err := readKey(filepath.Join(dir, caKeyFile))
	if err != nil {
		return nil, fmt.Errorf("%w; only the directory that calib cert init made can issue and revoke", err)
	}
	return &Authority{dir: dir, cert: cert, key: key}, nil
}

type Request struct {
	Name  string // of the host or person
	Role  Role
	Addrs []string // of an agent: the names and addresses by which hosts files call it
	Life  time.Duration
}

// Issue makes a key and its certificate in a directory that is new or empty, with all that its owner needs.
func (a *Authority) Issue(r Request, out string, now time.Time) (*x509.Certificate, error) {
	usage, ok := usages[r.Role]
	switch {
	case !ok:
		return nil, fmt.Errorf("a certificate for a %q: want %s or %s", r.Role, Agent, Coordinator)
	case r.Name == "":
		return nil, errors.New("a certificate without a name")
	case r.Role == Agent && len(r.Addrs) == 0:
		return nil, fmt.Errorf("certificate of agent %s: give the names or addresses by which hosts files call it", r.Name)
	case r.Life <= 0 || now.Add(r.Life).After(a.cert.NotAfter):
		return nil, fmt.Errorf("certificate of %s: it would end %v, and the authority ends %v: choose a shorter life, "+
			"or make a new authority", r.Name, now.Add(r.Life).Format(time.DateOnly), a.cert.NotAfter.Format(time.DateOnly))
	}
	t := &x509.Certificate{
		Subject: pkix.Name{CommonName: r.Name}, NotBefore: now.Add(-early), NotAfter: now.Add(r.Life),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{usage}, BasicConstraintsValid: true,
	}
	for _, addr := range r.Addrs {
		if ip := net.ParseIP(addr); ip != nil {
			t.IPAddresses = append(t.IPAddresses, ip)
		} else {
			t.DNSNames = append(t.DNSNames, addr)
		}
	}
	cert, key, err := a.sign(t)
	if err != nil {
		return nil, err
	}
	if err := makePrivate(out); err != nil {
		return nil, err
	}
	crl, err := files.Read(filepath.Join(a.dir, crlFile), maxFile)
	if err != nil {
		return nil, err
	}
	// What is not listed cannot be revoked.
	listed := filepath.Join(a.dir, issuedName, Serial(cert)+".pem")
	if err := writePEM(listed, certBlock, cert.Raw); err != nil {
		return nil, err
	}
	if err := writeKey(filepath.Join(out, keyFile), key); err != nil { // another process was the first
		return nil, errors.Join(err, os.Remove(listed))
	}
	return cert, errors.Join(writePEM(filepath.Join(out, certFile), certBlock, cert.Raw),
		writePEM(filepath.Join(out, caFile), certBlock, a.cert.Raw), files.Replace(filepath.Join(out, crlFile), crl))
}

// sign makes a key, and a certificate for it as t says, which the authority signs; its own is signed by itself.
func (a *Authority) sign(t *x509.Certificate) (*x509.Certificate, ed25519.PrivateKey, error) {
	public, key, _ := ed25519.GenerateKey(rand.Reader) // never fails (crypto/rand)
	serial := make([]byte, 16)
	rand.Read(serial)     // nor does this
	serial[0] &= 1<<7 - 1 // 127 bits
	t.SerialNumber = new(big.Int).SetBytes(serial)
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = t, key
	}
	der, err := x509.CreateCertificate(rand.Reader, t, parent, public, signer)
	if err != nil {
		return nil, nil, err
	}
	cert, err := x509.ParseCertificate(der)
	return cert, key, err
}

// Issued lists all that was issued, the earliest first, and what of it is revoked, which Revoked reads.
func (a *Authority) Issued() (all []*x509.Certificate, revoked *x509.RevocationList, err error) {
	paths, _ := fs.Glob(os.DirFS(a.dir), issuedName+"/*.pem") // a pattern that is good
	for _, p := range paths {
		c, err := readCert(filepath.Join(a.dir, p))
		if err != nil {
			return nil, nil, err
		}
		all = append(all, c)
	}
	slices.SortFunc(all, func(x, y *x509.Certificate) int {
		return cmp.Or(x.NotBefore.Compare(y.NotBefore), x.SerialNumber.Cmp(y.SerialNumber))
	})
	revoked, err = readRevoked(a.RevocationList(), a.cert)
	return all, revoked, err
}

// Serial names a certificate in files and on the screen.
func Serial(c *x509.Certificate) string { return fmt.Sprintf("%032x", c.SerialNumber) }

// RoleOf is what a certificate is for, empty where it is for nothing here.
func RoleOf(c *x509.Certificate) Role {
	for role, usage := range usages {
		if slices.Contains(c.ExtKeyUsage, usage) {
			return role
		}
	}
	return ""
}

// Revoke puts every certificate of that name, or with that serial number, on the revocation list, and returns them.
// Agents and coordinators obey the list once it lies in their directories.
func (a *Authority) Revoke(name string, now time.Time) ([]*x509.Certificate, error) {
	// One process at a time, where the file system has locks.
	lock, _ := files.Lock(a.RevocationList(), syscall.LOCK_EX, func() (*os.File, error) {
		return os.OpenFile(a.RevocationList(), os.O_RDWR, 0)
	})
	defer lock.Close() // nil has nothing to close
	all, list, err := a.Issued()
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
		if !Revoked(list, c) {
			entries = append(entries, x509.RevocationListEntry{SerialNumber: c.SerialNumber, RevocationTime: now})
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("no certificate was issued to %q, and none has that serial number; "+
			"calib cert list shows them", name)
	}
	return found, a.writeRevoked(entries, list.Number.Int64()+1, now)
}

// RevocationList is the path of the list, which every agent and coordinator needs a copy of.
func (a *Authority) RevocationList() string { return filepath.Join(a.dir, crlFile) }

func (a *Authority) writeRevoked(entries []x509.RevocationListEntry, number int64, now time.Time) error {
	der, err := x509.CreateRevocationList(rand.Reader, &x509.RevocationList{
		Number: big.NewInt(number), ThisUpdate: now.Add(-early), NextUpdate: a.cert.NotAfter,
		RevokedCertificateEntries: entries,
	}, a.cert, a.key)
	if err != nil {
		return fmt.Errorf("sign the revocation list: %w", err)
	}
	return writePEM(a.RevocationList(), crlBlock, der)
}

func Revoked(l *x509.RevocationList, c *x509.Certificate) bool {
	return slices.ContainsFunc(l.RevokedCertificateEntries, func(e x509.RevocationListEntry) bool {
		return e.SerialNumber.Cmp(c.SerialNumber) == 0
	})
}
