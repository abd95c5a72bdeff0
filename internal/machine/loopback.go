package machine

import (
	"net"
	"strconv"
	"time"
)

const (
	NowLoopback = "loopback_bps" // the rate of a stream from the host to itself: what its CPU and kernel allow
	NowLonger   = "longer"       // what SetSwitch and SetLoopback took, after unix_ns was read
)

// SetLoopback measures and sets it. Where the host has no loopback nothing is set.
func SetLoopback(env map[string]string) {
	const long = 30 * time.Millisecond
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return
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
		return
	}
	defer c.Close()
	_ = c.SetDeadline(begun.Add(2 * long))
	bytes := 0
	for block := make([]byte, 64<<10); err == nil; {
		var n int
		n, err = c.Read(block)
		bytes += n
	}
	set(env, nowPrefix+NowLoopback, strconv.FormatFloat(8*float64(bytes)/time.Since(begun).Seconds(), 'g', 3, 64))
}
