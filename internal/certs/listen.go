package certs

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"syscall"
	"time"
)

const (
	// maxOpen bounds the connections that have not shown yet who they are.
	maxOpen = 256
	// shortTime is how long each of them has where others wait. Agents wait for handshakeTime.
	shortTime = handshakeTime / 10
)

// Serve has each connection taken until the listener is closed, which alone ends it.
func Serve(l net.Listener, take func(net.Conn)) {
	for {
		if c, err := l.Accept(); err == nil {
			take(c)
		} else if errors.Is(err, net.ErrClosed) {
			return
		} else {
			time.Sleep(10 * time.Millisecond) // until the system has a descriptor left again
		}
	}
}

type Listener struct {
	tcp     net.Listener
	cert    tls.Certificate
	hash    string
	accept  sync.WaitGroup
	awaited sync.Map // by hash: a chan net.Conn, which takes one connection
}

// Ports are those that a site's firewall passes, from First to Last; none means any.
type Ports struct{ First, Last int }

// Listen takes a port of every address of this host. Agents that were announced with Expect can connect until Close.
func Listen(p Ports) (*Listener, error) {
	cert, hash, err := identity()
	if err != nil {
		return nil, err
	}
	tcp, err := p.listen()
	if err != nil {
		return nil, fmt.Errorf("listen for agents: %w", err)
	}
	l := &Listener{tcp: tcp, cert: cert, hash: hash}
	l.accept.Go(l.serve)
	return l, nil
}

func (p Ports) listen() (l net.Listener, err error) {
	for port := p.First; port <= p.Last; port++ {
		if l, err = net.Listen("tcp", ":"+strconv.Itoa(port)); err == nil || !errors.Is(err, syscall.EADDRINUSE) {
			return l, err
		}
	}
	return l, err
}

func (l *Listener) Port() int { return l.tcp.Addr().(*net.TCPAddr).Port }

func (l *Listener) Invitation() string { return strconv.Itoa(l.Port()) + " " + l.hash + "\n" }

// Expect announces an agent by the hash that it printed.
func (l *Listener) Expect(hash string) { l.awaited.Store(hash, make(chan net.Conn, 1)) }

func (l *Listener) place(hash string) chan net.Conn {
	place, _ := l.awaited.Load(hash)
	c, _ := place.(chan net.Conn)
	return c
}

// Await returns the connection of an agent that was announced.
func (l *Listener) Await(ctx context.Context, hash string) (net.Conn, error) {
	place := l.place(hash)
	if place == nil {
		return nil, errors.New("it was not announced")
	}
	select {
	case c := <-place:
		return c, nil
	case <-ctx.Done():
		select {
		case c := <-place: // it was there in time
			return c, nil
		default:
		}
		return nil, context.Cause(ctx)
	}
}

// Close ends listening. Connections that Await has returned stay; others are closed.
func (l *Listener) Close() error {
	err := l.tcp.Close()
	l.accept.Wait()
	for _, place := range l.awaited.Range {
		select {
		case c := <-place.(chan net.Conn):
			err = errors.Join(err, c.Close())
		default:
		}
	}
	return err
}

// serve ends with the listener, and ends the handshakes that it began.
func (l *Listener) serve() {
	all, stop := context.WithCancel(context.Background())
	var greeting sync.WaitGroup
	var open []func() // each waits for a handshake to end, and ends it where its short time is over; oldest first
	Serve(l.tcp, func(c net.Conn) {
		if len(open) == maxOpen {
			open[0]()
			open = open[1:]
		}
		ctx, end := context.WithTimeout(all, handshakeTime)
		short := time.After(shortTime)
		open = append(open, func() {
			select {
			case <-ctx.Done():
			case <-short:
				end()
			}
		})
		greeting.Go(func() {
			defer end()
			l.greet(ctx, c)
		})
	})
	stop()
	greeting.Wait()
}

// greet hands over the connection of an agent that is awaited, once, and closes any other.
func (l *Listener) greet(ctx context.Context, c net.Conn) {
	s := tls.Server(c, settings(l.cert, func(hash string) bool { return l.place(hash) != nil }))
	if s.HandshakeContext(ctx) == nil {
		select {
		case l.place(hashOf(s.ConnectionState().PeerCertificates[0].Raw)) <- s:
			return
		default: // it has connected before
		}
	}
	c.Close()
}
