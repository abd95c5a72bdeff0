package lab

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"calib/internal/needs"
	"calib/internal/netspec"

	"golang.org/x/sys/unix"
)

const (
	blastSenders = 7
	blastEach    = 2000
	blastBytes   = 64
)

// blast sends datagrams as fast as the kernel takes them.
func blast(addr, count string) error {
	n, err := strconv.Atoi(count)
	if err != nil {
		return err
	}
	conn, err := net.Dial("udp", addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	b := make([]byte, blastBytes)
	for range n {
		if _, err := conn.Write(b); err != nil {
			return err
		}
	}
	return nil
}

// sink says that it is ready, takes datagrams until none has come for a while, and says how many came.
func sink(addr string) error {
	conn, err := net.ListenPacket("udp", addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := widen(conn.(*net.UDPConn)); err != nil {
		return err
	}
	fmt.Println("ready")
	b := make([]byte, 2*blastBytes)
	n := 0
	for quiet := 10 * time.Second; ; quiet = time.Second {
		if err := conn.SetReadDeadline(time.Now().Add(quiet)); err != nil {
			return err
		}
		if _, _, err := conn.ReadFrom(b); err != nil {
			break
		}
		n++
	}
	fmt.Println(n)
	return nil
}

// widen gives a socket room for all datagrams, so that a receiver that has to wait for a CPU loses none.
func widen(conn *net.UDPConn) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var set error
	err = raw.Control(func(fd uintptr) {
		set = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, blastSenders*blastEach*2048)
	})
	return errors.Join(err, set)
}

// Seven hosts send bursts to one, of which its port has room for a small part. Every datagram is accounted for: it is
// delivered, or counted as dropped by the port, and none is lost in a kernel's queue.
func TestLabBlast(t *testing.T) {
	needs.Root(t, "force the size of a socket's buffer")
	l := upOrFail(t, testSpec(switched, func(s *netspec.Spec) {
		s.Hosts, s.MSS, s.Buffer = blastSenders+1, 1448, 200
		s.Host, s.Medium = netspec.Block{A: 150e-6, B: 0.25e-6}, netspec.Block{A: 120e-6, B: 0.20e-6}
		s.Receive = &netspec.Block{A: 20e-6, B: 0.03e-6}
	}))
	addr := Addr(0).String() + ":7000"
	server := onHost(l, 0, "lab", "sink", addr)
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	lines.Scan() // ready
	var senders []*exec.Cmd
	for i := range blastSenders {
		cmd := onHost(l, i+1, "lab", "blast", addr, strconv.Itoa(blastEach))
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		senders = append(senders, cmd)
	}
	for _, cmd := range senders {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	lines.Scan()
	got, err := strconv.Atoi(strings.TrimSpace(lines.Text()))
	if err != nil {
		t.Errorf("the receiver: %v", err)
	}
	if err := server.Wait(); err != nil {
		t.Error(err)
	}
	s, err := ReadStats(l.StatsPath)
	if err != nil {
		t.Fatal(err)
	}
	dropped := int(s.Hosts[0].BufferDrops)
	t.Logf("%d delivered, %d dropped by the port; %v", got, dropped, Judge(s))
	if got+dropped != blastSenders*blastEach || dropped == 0 || got < 200 || s.Hosts[0].PortQueueMax != 200 {
		t.Errorf("%d delivered and %d dropped, %d sent; at most %d in the port", got, dropped, blastSenders*blastEach,
			s.Hosts[0].PortQueueMax)
	}
	for _, h := range s.Hosts[1:] {
		if h.SentPackets != blastEach || h.SentBytes != blastEach*blastBytes {
			t.Errorf("the wire saw %d packets of %d from %s", h.SentPackets, blastEach, h.Host)
		}
	}
	if s.Overruns+s.Refused > 0 {
		t.Errorf("%d overruns, %d refused", s.Overruns, s.Refused)
	}
}
