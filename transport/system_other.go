//go:build !linux

package transport

import (
	"context"
	"net/netip"
	"syscall"
	"time"

	"calib/internal/units"
)

// Elsewhere than on Linux no socket is ever opened: sysConnect and sysListen say why, and the rest is not reached.

func monotonicAt(time.Time) units.Nanos { return 0 }

func sleepUntil(t units.Nanos) error {
	time.Sleep(time.Duration(t - Now()))
	return nil
}

// Pin needs Linux.
func Pin(int) (restore func() error, err error) { return nil, ErrUnsupported }

// Yield needs Linux.
func Yield() error { return ErrUnsupported }

func sendFlags(bool) uintptr { return 0 }

func sysSendNow(int, []byte, uintptr) int { return 0 }

func sysSend(int, []byte, uintptr) (int, syscall.Errno) { return 0, syscall.EPIPE }

const (
	dontWait = 0
	waitAll  = 0
)

func sysRecv(int, []byte, uintptr) (int, syscall.Errno) { return 0, syscall.EPIPE }

func sysShutdown(int) {}

func sysClose(int) {}

func sysTimeouts(int, units.Nanos, units.Nanos) error { return ErrUnsupported }

func sysOptions(int, Options) error { return ErrUnsupported }

func sysListenBuffers(int, Options, Options) error { return ErrUnsupported }

func sysBufferDefaults(int) (Options, error) { return Options{}, ErrUnsupported }

func sysPace(int, units.Bytes) error { return ErrUnsupported }

func sysConnect(context.Context, netip.AddrPort, Options) (int, error) { return -1, ErrUnsupported }

func sysListen(netip.AddrPort) (int, netip.AddrPort, error) {
	return -1, netip.AddrPort{}, ErrUnsupported
}

func sysAccept(int) (int, netip.AddrPort, bool, error) {
	return -1, netip.AddrPort{}, false, ErrUnsupported
}

func sysEstablished(int) bool { return false }

func sysCounters(int) (Counters, error) { return Counters{}, ErrUnsupported }

type stamper struct{}

func newStamper(int) (*stamper, error) { return nil, ErrUnsupported }

func (*stamper) recv(int, []byte, uintptr) (int, units.Nanos, syscall.Errno) {
	return 0, 0, syscall.EPIPE
}

type stealReader struct{}

func newStealReader() *stealReader { return &stealReader{} }

func (*stealReader) ticks() int64 { return 0 }

func (*stealReader) close() {}

type poller struct{}

func (*poller) reset() {}

func (*poller) add(int) {}

func (*poller) ready(int) bool { return false }

func (*poller) clear(int) {}

func (*poller) wait(units.Nanos) (int, syscall.Errno) { return 0, syscall.EPIPE }

func waitRead(int, units.Nanos) syscall.Errno { return syscall.EPIPE }

func waitWrite(int, units.Nanos) syscall.Errno { return syscall.EPIPE }

func sysPending(int) (int, error) { return 0, ErrUnsupported }

func sysUnacked(int) (int, error) { return 0, ErrUnsupported }

func sysEnded(int) bool { return true }

func sysPort(netip.AddrPort) (int, error) { return -1, ErrUnsupported }

func sysStampDatagrams(int, bool) error { return ErrUnsupported }

func sysDrain(int) {}

func sysDropped(int) uint32 { return 0 }

func sysEnds(int) (here, there netip.AddrPort, err error) { return here, there, ErrUnsupported }

type inbox struct{}

func (*inbox) recv(int, []byte) (int, units.Nanos, syscall.Errno) { return 0, 0, syscall.EPIPE }

func (*inbox) dropped(uint32) uint32 { return 0 }

func (*inbox) source() source { return source{} }

type outbox struct{}

func newOutbox(route) *outbox { return nil }

func (*outbox) send(int, []byte) syscall.Errno { return syscall.EPIPE }
