package certs

import (
	"bufio"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"time"
)

// The agents of a step, which were started together, get a connection each. A scheduler starts all tasks of a step by
// one command, whose streams serve all of them: what is written there reaches every task, and what tasks print there is
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

const handshakeTime = 10 * time.Second

// ErrStranger reports an end of a connection that is not the one that was announced.
var ErrStranger = errors.New("its certificate is not the one announced")

// identity is a key pair for one run. Its certificate says nothing: the hash is what counts.
func identity() (cert tls.Certificate, hash string, err error) {
	now := time.Now()
	own, key, err := new(Authority).sign(&x509.Certificate{NotBefore: now.Add(-early), NotAfter: now.Add(time.Hour)})
	if err != nil {
		return cert, "", fmt.Errorf("make a certificate: %w", err)
	}
	return tls.Certificate{Certificate: [][]byte{own.Raw}, PrivateKey: key}, hashOf(own.Raw), nil
}

func hashOf(raw []byte) string { return fmt.Sprintf("%x", sha256.Sum256(raw)) }

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

// Join announces the agent of a host on out, connects to the coordinator that answers on in, and lets serve answer it.
// The agent ends with the connection, with ctx, and with in, which is the step's: it closes when the coordinator ends.
func Join(ctx context.Context, serve func(context.Context, io.ReadCloser, io.WriteCloser) error, host, name string,
	in io.Reader, out io.Writer) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	lines := bufio.NewReader(in)
	conn, err := connect(ctx, host, name, lines, out)
	if err != nil {
		return fmt.Errorf("%s joins its coordinator: %w", name, err)
	}
	go func() {
		_, _ = io.Copy(io.Discard, lines) // an error is an end like any other
		stop()
	}()
	if err = serve(ctx, conn, conn); ctx.Err() != nil {
		return nil // it was to end
	}
	return err
}

func connect(ctx context.Context, host, name string, in *bufio.Reader, out io.Writer) (net.Conn, error) {
	cert, hash, err := identity()
	if err != nil {
		return nil, err
	}
	if _, err := fmt.Fprintf(out, "calib-launch %s join %s\n", name, hash); err != nil {
		return nil, err
	}
	line, err := in.ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("read where the coordinator is: %w", err)
	}
	m := invitation.FindStringSubmatch(line)
	if m == nil {
		return nil, fmt.Errorf("%.100q does not say where the coordinator is: want a port and a hash", line)
	}
	ctx, cancel := context.WithTimeout(ctx, handshakeTime)
	defer cancel()
	d := tls.Dialer{Config: settings(cert, func(hash string) bool { return hash == m[2] })}
	return d.DialContext(ctx, "tcp", net.JoinHostPort(host, m[1]))
}

var invitation = regexp.MustCompile(`^([1-9][0-9]{0,4}) ([0-9a-f]{64})\n$`)
