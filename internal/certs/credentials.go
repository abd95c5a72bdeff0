package certs

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"
)

// protocol is the application protocol of every connection (ALPN): a connection that was made for something else is
// none of these.
const protocol = "calib"

// Credentials are a key, its certificate, and who else is believed.
type Credentials struct {
	cert tls.Certificate
	ca   *x509.Certificate
	pool *x509.CertPool
	path string // of the revocation list
	now  func() time.Time

	mu   sync.Mutex
	list *x509.RevocationList // that was read last
}

func Load(dir string) (*Credentials, error) {
	if err := checkPrivate(dir); err != nil {
		return nil, err
	}
	ca, err := readCert(filepath.Join(dir, caFile))
	var leaf *x509.Certificate
	if err == nil {
		leaf, err = readCert(filepath.Join(dir, certFile))
	}
	if err != nil {
		return nil, fmt.Errorf("%w; calib cert issue makes the directory", err)
	}
	key, err := readKey(filepath.Join(dir, keyFile))
	if err != nil {
		return nil, err
	}
	c := &Credentials{
		cert: tls.Certificate{Certificate: [][]byte{leaf.Raw}, PrivateKey: key, Leaf: leaf},
		ca:   ca, pool: x509.NewCertPool(), path: filepath.Join(dir, crlFile), now: time.Now,
	}
	c.pool.AddCert(ca)
	err = leaf.CheckSignatureFrom(ca)
	if err == nil {
		err = c.Check(leaf)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, certFile), err)
	}
	return c, nil
}

func (c *Credentials) Role() Role { return RoleOf(c.cert.Leaf) }

// Server is how an agent takes connections: TLS 1.3, from who shows a coordinator's certificate.
func (c *Credentials) Server() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{c.cert}, ClientAuth: tls.RequireAndVerifyClientCert,
		ClientCAs: c.pool, NextProtos: []string{protocol}, VerifyConnection: c.verify, Time: c.now,
		SessionTicketsDisabled: true, // a session that is resumed is not asked for its certificate again
	}
}

// Client is how a coordinator reaches the agent of a host, by the name that is in the agent's certificate.
func (c *Credentials) Client(host string) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{c.cert}, RootCAs: c.pool, ServerName: host,
		NextProtos: []string{protocol}, VerifyConnection: c.verify, Time: c.now,
	}
}

// verify is asked after the chain and the name are verified.
func (c *Credentials) verify(s tls.ConnectionState) error {
	if s.NegotiatedProtocol != protocol {
		return fmt.Errorf("the connection is for %q, want %q", s.NegotiatedProtocol, protocol)
	}
	if len(s.PeerCertificates) == 0 {
		return errors.New("no certificate was shown")
	}
	return c.Check(s.PeerCertificates[0])
}

// Check reports why a certificate, which is known to be signed by the authority, does not hold at this moment: it is
// revoked, or its time is not now. Without a list that can be read none holds.
func (c *Credentials) Check(cert *x509.Certificate) error {
	name := fmt.Sprintf("the certificate of %s (serial %s)", cert.Subject.CommonName, Serial(cert))
	switch now := c.now(); {
	case now.Before(cert.NotBefore):
		return fmt.Errorf("%s is valid from %s on: check the clocks", name, cert.NotBefore.UTC().Format(time.RFC3339))
	case now.After(cert.NotAfter):
		return fmt.Errorf("%s has expired at %s: issue another with calib cert issue",
			name, cert.NotAfter.UTC().Format(time.RFC3339))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.reread(); err != nil {
		return fmt.Errorf("%s: whether it is revoked is not known: %w", name, err)
	}
	if Revoked(c.list, cert) {
		return fmt.Errorf("%s is revoked", name)
	}
	return nil
}

// reread reads the revocation list. One with a lower number than before is not believed.
func (c *Credentials) reread() error {
	l, err := readRevoked(c.path, c.ca)
	if err != nil {
		return err
	}
	if c.list != nil && l.Number.Cmp(c.list.Number) < 0 {
		return fmt.Errorf("%s is older than the list that was read before (number %d, before %d)", c.path, l.Number,
			c.list.Number)
	}
	c.list = l
	return nil
}
