package lab

import (
	"encoding/binary"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// ip4 builds a packet from host 0 to dst.
func ip4(dst []byte, proto byte, fragment uint16, body ...byte) []byte {
	b := make([]byte, 20, 20+len(body))
	b[0], b[9] = 0x45, proto
	binary.BigEndian.PutUint16(b[2:], uint16(20+len(body)))
	binary.BigEndian.PutUint16(b[6:], fragment)
	copy(b[12:], Addr(0).AsSlice())
	copy(b[16:], dst)
	return append(b, body...)
}

func tcp(flags byte, options []byte, payload int) []byte {
	b := make([]byte, 20+len(options)+payload)
	b[12], b[13] = byte(20+len(options))/4<<4, flags
	copy(b[20:], options)
	return b
}

func udp(payload int) []byte { return make([]byte, 8+payload) }

// stampOptions is the option block Linux sends: two NOPs, then timestamps, of which the second is the echo.
func stampOptions(v uint32) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{1, 1, 8, 10}, v), 0, 0, 0, 0)
}

func TestParse(t *testing.T) {
	h1 := Addr(1).AsSlice()
	for _, c := range []struct {
		name string
		in   []byte
		want packet
		bad  bool
	}{
		{name: "tcp data", in: ip4(h1, 6, 0, tcp(0x18, stampOptions(7), 1448)...),
			want: packet{dst: 1, payload: 1448, stamp: 7, stamped: true}},
		{name: "tcp data without options", in: ip4(h1, 6, 0, tcp(0x10, nil, 1)...), want: packet{dst: 1, payload: 1}},
		{name: "tcp with other options", in: ip4(h1, 6, 0, tcp(0x10, []byte{5, 10, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1}, 1)...),
			want: packet{dst: 1, payload: 1}},
		{name: "tcp options cut short", in: ip4(h1, 6, 0, tcp(0x10, []byte{1, 1, 8, 10}, 1)...),
			want: packet{dst: 1, payload: 1}},
		{name: "acknowledgement", in: ip4(h1, 6, 0, tcp(0x10, stampOptions(9), 0)...),
			want: packet{dst: 1, pass: free, stamp: 9, stamped: true}},
		{name: "SYN", in: ip4(h1, 6, 0, tcp(0x02, nil, 0)...), want: packet{dst: 1, pass: free}},
		{name: "FIN", in: ip4(h1, 6, 0, tcp(0x11, nil, 0)...), want: packet{dst: 1, pass: ordered}},
		{name: "RST", in: ip4(h1, 6, 0, tcp(0x04, nil, 0)...), want: packet{dst: 1, pass: ordered}},
		{name: "FIN with data", in: ip4(h1, 6, 0, tcp(0x19, nil, 5)...), want: packet{dst: 1, payload: 5}},
		{name: "udp", in: ip4(h1, 17, 0, udp(100)...), want: packet{dst: 1, payload: 100}},
		{name: "empty udp", in: ip4(h1, 17, 0, udp(0)...), want: packet{dst: 1, pass: free}},
		{name: "first fragment", in: ip4(h1, 17, 0x2000, udp(1472)...), want: packet{dst: 1, payload: 1472}},
		{name: "later fragment", in: ip4(h1, 17, 0x00b9, make([]byte, 528)...), want: packet{dst: 1, payload: 528}},
		{name: "icmp counts whole", in: ip4(h1, 1, 0, make([]byte, 64)...), want: packet{dst: 1, payload: 64}},
		{name: "padding behind the IP length", in: append(ip4(h1, 17, 0, udp(3)...), 0, 0), want: packet{dst: 1, payload: 3}},
		{name: "to nobody", in: ip4([]byte{224, 0, 0, 1}, 17, 0, udp(3)...), want: packet{dst: -1, payload: 3}},
		{name: "empty", bad: true},
		{name: "not IP", in: make([]byte, 60), bad: true},
		{name: "IP header cut short", in: ip4(h1, 6, 0)[:19], bad: true},
		{name: "longer than the packet", in: ip4(h1, 6, 0, tcp(0x18, nil, 100)...)[:60], bad: true},
		{name: "tcp header cut short", in: ip4(h1, 6, 0, make([]byte, 12)...), bad: true},
		{name: "tcp options beyond the packet", in: ip4(h1, 6, 0, append(make([]byte, 12), 0xf0, 0, 0, 0, 0, 0, 0, 0)...),
			bad: true},
		{name: "udp header cut short", in: ip4(h1, 17, 0, 1, 2, 3)[:23], bad: true},
		{name: "IPv6", in: append([]byte{0x60}, make([]byte, 59)...), bad: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, ok := parse(c.in)
			if ok == c.bad {
				t.Fatalf("ok = %v", ok)
			}
			if diff := cmp.Diff(c.want, p, cmp.AllowUnexported(packet{})); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add(ip4(Addr(1).AsSlice(), 6, 0, tcp(0x18, stampOptions(7), 10)...))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, ok := parse(b)
		if ok && (p.payload < 0 || int(p.payload) > len(b) || p.dst > 65535) {
			t.Errorf("%+v from %d bytes", p, len(b))
		}
		if ok && (p.payload == 0) != (p.pass != charged) {
			t.Errorf("%+v: free without payload, charged with it", p)
		}
	})
}
