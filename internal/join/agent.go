package join

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"regexp"
)

// Server is an agent that can serve a coordinator over a pair of byte streams.
type Server interface {
	ServeStream(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error
}

// Serve announces the agent of a host on out, connects to the coordinator that answers on in, and lets s serve it. The
// agent ends with the connection, with ctx, and with in, which is the step's: it closes when the coordinator ends.
func Serve(ctx context.Context, s Server, host, name string, in io.Reader, out io.Writer) error {
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
	if err = s.ServeStream(ctx, conn, conn); ctx.Err() != nil {
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
	port, want, err := readInvitation(line)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, handshakeTime)
	defer cancel()
	d := tls.Dialer{Config: settings(cert, func(hash string) bool { return hash == want })}
	return d.DialContext(ctx, "tcp", net.JoinHostPort(host, port))
}

var invitation = regexp.MustCompile(`^([1-9][0-9]{0,4}) ([0-9a-f]{64})\n$`)

func readInvitation(line string) (port, hash string, err error) {
	m := invitation.FindStringSubmatch(line)
	if m == nil {
		return "", "", fmt.Errorf("%.100q does not say where the coordinator is: want a port and a hash", line)
	}
	return m[1], m[2], nil
}
