package machine

import (
	"net"
	"time"
)

// Loopback measures the rate of a stream from the host to itself [bit/s]; 0 where the host has no loopback.
func Loopback() float64 {
	const long, longest = 30 * time.Millisecond, 5 * time.Second // the second is for a host that is busy
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0
	}
	defer l.Close()
	go func() {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			l.Close()
			return
		}
		defer c.Close()
		for begun, block := time.Now(), make([]byte, 64<<10); err == nil; {
			if _, err = c.Write(block); time.Since(begun) > long {
				return
			}
		}
	}()
	c, err := l.Accept()
	if err != nil {
		return 0
	}
	defer c.Close()
	begun, bytes := time.Now(), 0
	_ = c.SetDeadline(begun.Add(longest))
	for block := make([]byte, 64<<10); err == nil; {
		var n int
		n, err = c.Read(block)
		bytes += n
	}
	return 8 * float64(bytes) / time.Since(begun).Seconds()
}
