package agent

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
)

// SchemeUnix and SchemeTLS are how daemons are named: calib+unix:///run/calib/agent.sock, calib://host:port.
const (
	SchemeUnix = "calib+unix://"
	SchemeTLS  = "calib://"
)

// Dial reaches a running daemon: over the unix socket of a path, or, given host:port, over TLS with what credentials
// says for the host. Either may have its scheme before it.
func Dial(ctx context.Context, host, addr string, credentials func(host string) *tls.Config, o ClientOptions) (*Client, error) {
	ctx, cancel := context.WithTimeout(ctx, helloLimit)
	defer cancel()
	var conn net.Conn
	var err error
	if path := strings.TrimPrefix(addr, SchemeUnix); strings.HasPrefix(path, "/") {
		conn, err = dialUnix(ctx, path)
	} else {
		conn, err = dialTLS(ctx, strings.TrimPrefix(addr, SchemeTLS), credentials)
	}
	if err != nil {
		return nil, fmt.Errorf("agent %s: %w", host, err)
	}
	return NewClient(host, conn, o), nil
}

const notRunning = "%w (is calib agent --listen running there?)"

func dialUnix(ctx context.Context, path string) (net.Conn, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", path)
	if err != nil {
		return nil, fmt.Errorf(notRunning, err)
	}
	if _, err := sameUser(conn); err != nil && os.Geteuid() != 0 {
		conn.Close()
		return nil, fmt.Errorf("socket %s: %w: it is not this user's agent", path, err)
	}
	return conn, nil
}

func dialTLS(ctx context.Context, addr string, credentials func(host string) *tls.Config) (net.Conn, error) {
	name, _, err := net.SplitHostPort(addr)
	switch {
	case err != nil:
		return nil, fmt.Errorf("address %q: want %shost:port or %s/path", addr, SchemeTLS, SchemeUnix)
	case credentials == nil:
		return nil, fmt.Errorf("%s%s: a daemon on TCP asks for a certificate: give --cert DIR, which calib cert issue has made", SchemeTLS, addr)
	}
	var d net.Dialer
	raw, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf(notRunning, err)
	}
	conn := tls.Client(raw, credentials(name))
	if err := conn.HandshakeContext(ctx); err != nil {
		raw.Close()
		return nil, fmt.Errorf("%s%s: no trust: %w", SchemeTLS, addr, explainTLS(err))
	}
	return conn, nil
}

func explainTLS(err error) error {
	var record tls.RecordHeaderError
	if errors.As(err, &record) {
		return fmt.Errorf("%w: what listens there does not speak TLS", err)
	}
	return err
}
