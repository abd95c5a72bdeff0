package lab

import "encoding/binary"

// Protocol numbers and TCP flags that decide how a packet passes.
const (
	protoTCP = 6
	protoUDP = 17

	flagFIN = 0x01
	flagRST = 0x04

	// stampHead is what Linux begins TCP options with, except in a SYN: two fillers, and timestamps of 10 bytes (RFC
	// 7323, section 3.2).
	stampHead = 0x0101080a
)

// parse is what the headers of an IPv4 packet say; false for one that is none or is cut short. Lengths come from the IP
// header and are checked against the packet.
func parse(b []byte) (packet, bool) {
	if len(b) < 20 || b[0]>>4 != 4 {
		return packet{}, false
	}
	header, total := int(b[0]&15)*4, int(binary.BigEndian.Uint16(b[2:]))
	if header < 20 || total < header || total > len(b) {
		return packet{}, false
	}
	p := packet{dst: int32(hostOf(b[16:20]))}
	later := binary.BigEndian.Uint16(b[6:])&0x1fff != 0 // a fragment behind the first has no transport header
	return p.transport(b[9], b[header:total], later)
}

func (p packet) transport(proto byte, b []byte, later bool) (packet, bool) {
	p.payload = int32(len(b))
	switch {
	case later:
	case proto == protoTCP:
		if len(b) < 20 || int(b[12]>>4)*4 < 20 || int(b[12]>>4)*4 > len(b) {
			return packet{}, false
		}
		p.payload = int32(len(b) - int(b[12]>>4)*4)
		if opts := b[20 : int(b[12]>>4)*4]; len(opts) >= 12 && binary.BigEndian.Uint32(opts) == stampHead {
			p.stamp, p.stamped = binary.BigEndian.Uint32(opts[4:]), true
		}
		if p.payload == 0 && b[13]&(flagFIN|flagRST) != 0 {
			p.pass = ordered
			return p, true
		}
	case proto == protoUDP:
		if len(b) < 8 {
			return packet{}, false
		}
		p.payload = int32(len(b) - 8)
	}
	if p.payload == 0 {
		p.pass = free
	}
	return p, true
}
