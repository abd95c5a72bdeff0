package lab

import "encoding/binary"

// Protocol numbers and TCP flags that decide how a packet passes.
const (
	protoHopByHop = 0
	protoTCP      = 6
	protoUDP      = 17
	protoRouting  = 43
	protoFragment = 44
	protoDestOpts = 60

	flagFIN = 0x01
	flagRST = 0x04

	optEnd        = 0
	optNop        = 1
	optTimestamps = 8
)

// parse is what the headers of an IP packet say; false for one that is not IP or is cut short. Lengths come from the IP
// header and are checked against the packet.
func parse(b []byte) (packet, bool) {
	if len(b) < 20 {
		return packet{}, false
	}
	switch b[0] >> 4 {
	case 4:
		return parse4(b)
	case 6:
		return parse6(b)
	}
	return packet{}, false
}

func parse4(b []byte) (packet, bool) {
	header, total := int(b[0]&15)*4, int(binary.BigEndian.Uint16(b[2:]))
	if header < 20 || total < header || total > len(b) {
		return packet{}, false
	}
	p := packet{dst: int32(hostOf4(b[16:20]))}
	later := binary.BigEndian.Uint16(b[6:])&0x1fff != 0 // a fragment behind the first has no transport header
	return p.transport(b[9], b[header:total], later)
}

func parse6(b []byte) (packet, bool) {
	if len(b) < 40 || 40+int(binary.BigEndian.Uint16(b[4:])) > len(b) {
		return packet{}, false
	}
	p := packet{dst: int32(hostOf6(b[24:40]))}
	next, rest, later := b[6], b[40:40+int(binary.BigEndian.Uint16(b[4:]))], false
	for next == protoHopByHop || next == protoRouting || next == protoDestOpts || next == protoFragment {
		if len(rest) < 8 {
			return packet{}, false
		}
		size := 8
		if next == protoFragment {
			later = later || binary.BigEndian.Uint16(rest[2:])&0xfff8 != 0
		} else {
			size += 8 * int(rest[1])
		}
		if len(rest) < size {
			return packet{}, false
		}
		next, rest = rest[0], rest[size:]
	}
	return p.transport(next, rest, later)
}

// transport finishes p from what the IP header carries.
func (p packet) transport(proto byte, b []byte, later bool) (packet, bool) {
	p.payload = int32(len(b))
	switch {
	case later:
	case proto == protoTCP:
		if len(b) < 20 || int(b[12]>>4)*4 < 20 || int(b[12]>>4)*4 > len(b) {
			return packet{}, false
		}
		p.payload = int32(len(b) - int(b[12]>>4)*4)
		p.stamp, p.stamped = timestamp(b[20 : int(b[12]>>4)*4])
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

// timestamp finds TSval among TCP options (RFC 7323, section 3.2).
func timestamp(opts []byte) (uint32, bool) {
	for len(opts) > 0 && opts[0] != optEnd {
		if opts[0] == optNop {
			opts = opts[1:]
			continue
		}
		if len(opts) < 2 || opts[1] < 2 || int(opts[1]) > len(opts) {
			return 0, false
		}
		if opts[0] == optTimestamps && opts[1] == 10 {
			return binary.BigEndian.Uint32(opts[2:]), true
		}
		opts = opts[opts[1]:]
	}
	return 0, false
}
