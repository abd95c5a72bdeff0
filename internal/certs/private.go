package certs

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"calib/internal/files"
)

const (
	certBlock = "CERTIFICATE"
	keyBlock  = "PRIVATE KEY"
	crlBlock  = "X509 CRL"
)

// maxFile bounds a file of certificates [B]: a list of ten thousand revoked ones is below.
const maxFile = 4 << 20

// makePrivate makes a directory of one's own, or takes one that is there and empty.
func makePrivate(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := checkPrivate(dir); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err == nil && len(entries) > 0 {
		err = fmt.Errorf("%s is not empty: keys are not replaced; choose another directory, or remove this one", dir)
	}
	return err
}

// checkPrivate refuses a directory that somebody else may read or exchange.
func checkPrivate(dir string) error {
	err := files.Alone(dir, 0o077)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w; keys are kept in a directory of one's own, of mode 0700: issue new ones if others have had "+
			"access", err)
	}
	return err
}

// readPEM reads a file that is to hold one block of a type.
func readPEM[T any](path, kind string, parse func(der []byte) (T, error)) (v T, err error) {
	b, err := files.Read(path, maxFile)
	if err != nil {
		return v, err
	}
	p, _ := pem.Decode(b)
	if p == nil || p.Type != kind {
		return v, fmt.Errorf("%s: no PEM block %q", path, kind)
	}
	if v, err = parse(p.Bytes); err != nil {
		return v, fmt.Errorf("%s: %w", path, err)
	}
	return v, nil
}

func readCert(path string) (*x509.Certificate, error) {
	return readPEM(path, certBlock, x509.ParseCertificate)
}

func readKey(path string) (ed25519.PrivateKey, error) {
	return readPEM(path, keyBlock, func(der []byte) (ed25519.PrivateKey, error) {
		k, err := x509.ParsePKCS8PrivateKey(der)
		key, ok := k.(ed25519.PrivateKey)
		if err == nil && !ok {
			err = errors.New("no Ed25519 key")
		}
		return key, err
	})
}

func readRevoked(path string, ca *x509.Certificate) (*x509.RevocationList, error) {
	parse := func(der []byte) (*x509.RevocationList, error) { return parseRevoked(der, ca) }
	l, err := readPEM(path, crlBlock, parse)
	if err != nil {
		return nil, fmt.Errorf("%w; copy the authority's %s there", err, crlFile)
	}
	return l, nil
}

func parseRevoked(der []byte, ca *x509.Certificate) (*x509.RevocationList, error) {
	l, err := x509.ParseRevocationList(der)
	if err != nil {
		return nil, err
	}
	if err := l.CheckSignatureFrom(ca); err != nil {
		return nil, fmt.Errorf("not signed by this authority: %w", err)
	}
	if l.Number == nil || !l.Number.IsInt64() {
		return nil, errors.New("a revocation list without a number")
	}
	return l, nil
}

func writePEM(path, kind string, der []byte) error {
	return files.Replace(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

// writeKey writes a key that was not there before.
func writeKey(path string, key ed25519.PrivateKey) error {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(pem.EncodeToMemory(&pem.Block{Type: keyBlock, Bytes: der}))
	return errors.Join(err, f.Sync(), f.Close())
}
