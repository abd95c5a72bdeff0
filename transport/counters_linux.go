package transport

import (
	"bytes"
	"os"
	"strconv"

	"calib/internal/dataset"

	"golang.org/x/sys/unix"
)

// tcpEstablished is the kernel's TCP_ESTABLISHED (net/tcp_states.h).
const tcpEstablished = 1

func sysEstablished(fd int) bool {
	info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
	return err == nil && info.State == tcpEstablished
}

// sysCounters reads TCP_INFO (tcp_get_info in the kernel; fields an older one lacks are 0), the granted buffers, and
// the calling thread's involuntary context switches.
func sysCounters(fd int) (dataset.TCP, error) {
	info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
	if err != nil {
		return dataset.TCP{}, err
	}
	c := dataset.TCP{
		SegsOut: int64(info.Segs_out), SegsIn: int64(info.Segs_in),
		DataSegsOut: int64(info.Data_segs_out), DataSegsIn: int64(info.Data_segs_in),
		Retrans:     int64(info.Total_retrans),
		RwndLimited: int64(info.Rwnd_limited), SndbufLimit: int64(info.Sndbuf_limited),
		Busy: int64(info.Busy_time),
		Cwnd: int64(info.Snd_cwnd), MSS: int64(info.Snd_mss),
		RTT: int64(info.Rtt), MinRTT: int64(info.Min_rtt),
	}
	snd, rcv, err := granted(fd)
	if err != nil {
		return c, err
	}
	c.SndBuf, c.RcvBuf = int64(snd), int64(rcv)
	if c.Congestion, err = grantedCongestion(fd); err != nil {
		return c, err
	}
	var usage unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_THREAD, &usage); err != nil {
		return c, err
	}
	c.Involuntary = int64(usage.Nivcsw)
	return c, nil
}

// stealTicks returns the steal time of all CPUs since boot [clock ticks]; 0 where /proc is not there to read.
func stealTicks() int64 {
	f, err := os.Open("/proc/stat")
	if err != nil {
		return 0
	}
	defer f.Close()
	var buf [512]byte
	n, err := f.Read(buf[:])
	if err != nil {
		return 0
	}
	return parseSteal(buf[:n])
}

// parseSteal reads the eighth number of the line "cpu user nice system idle iowait irq softirq steal ..." (proc(5)).
func parseSteal(stat []byte) int64 {
	line, _, _ := bytes.Cut(stat, []byte("\n"))
	f := bytes.Fields(line)
	if len(f) < 9 || string(f[0]) != "cpu" {
		return 0
	}
	n, err := strconv.ParseInt(string(f[8]), 10, 64)
	if err != nil {
		return 0
	}
	return n
}
