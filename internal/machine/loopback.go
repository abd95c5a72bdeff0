package machine

import (
	"net"
	"time"
)

// Loopback measures the rate of a stream from the host to itself [bit/s]; 0 where the host has no loopback.
func Loopback() float64 {
	const long = 30 * time.Millisecond
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0
	}
	defer l.Close()
	begun := time.Now()
	go func() {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			l.Close()
			return
		}
		defer c.Close()
		_ = c.SetDeadline(begun.Add(long))
		for block := make([]byte, 64<<10); err == nil; {
			_, err = c.Write(block)
		}
	}()
	c, err := l.Accept()
	if err != nil {
		return 0
	}
	defer c.Close()
	_ = c.SetDeadline(begun.Add(2 * long))
	bytes := 0
	for block := make([]byte, 64<<10); err == nil; {
		var n int
		n, err = c.Read(block)
		bytes += n
	}
	return 8 * float64(bytes) / time.Since(begun).Seconds()
}
