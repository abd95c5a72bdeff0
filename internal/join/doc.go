// Package join gives agents that were started together a connection each. A scheduler starts all tasks of a step by one
// command, whose streams serve all of them: what is written there reaches every task, and what tasks print there is
// mixed. So each agent connects to the coordinator by TCP.
//
// The streams of the step carry no secret. Each side makes a key pair for this one run and tells the other, over those
// streams, the SHA-256 of its certificate; the connection is TLS 1.3, and each side takes no other certificate than
// that. So the connection is between the two processes that the scheduler has joined: who reads the streams learns
// nothing of use, and who wants to stand between the two has to change what the scheduler carries. One agent of the
// step cannot pose as another.
//
//	agent:        calib-launch NAME join HASH
//	coordinator:  PORT HASH                       the agent then connects to that port of the host it was given
//
// Rejected: a secret in the environment or on the command line, which others may read; the step's own streams for
// everything, since each byte for one agent would go to all, and one agent that reads nothing would stop them all.
package join

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"time"
)

// handshakeTime bounds dialling and the TLS handshake.
const handshakeTime = 10 * time.Second

// ErrStranger reports an end of a connection that is not the one that was announced.
var ErrStranger = errors.New("its certificate is not the one announced")

// identity is a key pair for one run. Its certificate says nothing: the hash is what counts.
func identity() (cert tls.Certificate, hash string, err error) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return cert, "", fmt.Errorf("make a key: %w", err)
	}
	now := time.Now()
	form := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: now.Add(-time.Hour), NotAfter: now.Add(time.Hour)}
	raw, err := x509.CreateCertificate(rand.Reader, form, form, public, private)
	if err != nil {
		return cert, "", fmt.Errorf("make a certificate: %w", err)
	}
	return tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: private}, hashOf(raw), nil
}

func hashOf(raw []byte) string {
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// settings take the peer whose certificate's hash is known. Nobody else has vouched for the certificate.
func settings(own tls.Certificate, known func(hash string) bool) *tls.Config {
	return &tls.Config{
		Certificates: []tls.Certificate{own}, MinVersion: tls.VersionTLS13, SessionTicketsDisabled: true,
		ClientAuth: tls.RequireAnyClientCert, InsecureSkipVerify: true, // VerifyConnection verifies
		VerifyConnection: func(s tls.ConnectionState) error {
			if len(s.PeerCertificates) == 0 || !known(hashOf(s.PeerCertificates[0].Raw)) {
				return ErrStranger
			}
			return nil
		},
	}
}
