package lab

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"
)

// The tests' own program is also the lab's helpers, and the programs that run on the lab's hosts.
func TestMain(m *testing.M) {
	if len(os.Args) < 3 || os.Args[1] != "lab" {
		os.Exit(m.Run())
	}
	var err error
	switch os.Args[2] {
	case "wire":
		err = RunWire(os.Stdin, os.Stdout)
	case "digest":
		err = digest(os.Args[3])
	case "send":
		err = send(os.Args[3])
	case "sink":
		err = sink(os.Args[3])
	case "blast":
		err = blast(os.Args[3], os.Args[4])
	case "environment":
		err = environment(os.Args[3])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

const testBytes = 20_000

// digest takes one connection and answers what it sends with its hash.
func digest(addr string) error {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	conn, err := l.Accept()
	if err != nil {
		return err
	}
	defer conn.Close()
	h := sha256.New()
	if _, err := io.CopyN(h, conn, testBytes); err != nil {
		return err
	}
	_, err = conn.Write(h.Sum(nil))
	return err
}

// send sends to a digest, tries until it listens, and checks the answer.
func send(addr string) error {
	data := make([]byte, testBytes)
	for i := range data {
		data[i] = byte(i * i >> 3)
	}
	var conn net.Conn
	var err error
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if conn, err = net.Dial("tcp", addr); err == nil {
			break
		}
	}
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		return err
	}
	if _, err := conn.Write(data); err != nil {
		return err
	}
	var got [sha256.Size]byte
	if _, err := io.ReadFull(conn, got[:]); err != nil {
		return err
	}
	if got != sha256.Sum256(data) {
		return errors.New("the data arrived changed")
	}
	return nil
}

// environment checks what Run gives its command, and ends with exit code 7.
func environment(hosts string) error {
	text, err := os.ReadFile(hosts)
	if err != nil {
		return err
	}
	if hosts != os.Getenv(EnvHosts) || !bytes.Contains(text, []byte("-h1 addr=10.77.0.2 cpu=none\n")) {
		return fmt.Errorf("hosts file %s (%s): %s", hosts, os.Getenv(EnvHosts), text)
	}
	if !strings.HasSuffix(os.Getenv(EnvLaunch), "ip netns exec {host}") {
		return fmt.Errorf("launch prefix %q", os.Getenv(EnvLaunch))
	}
	if _, err := ReadStats(os.Getenv(EnvStats)); err != nil {
		return err
	}
	os.Exit(7)
	return nil
}
