package dataset

import "strconv"

// FactSegment is the fact of a host's fingerprint that is the payload of a full TCP segment through its interface [B].
const FactSegment = "nic.segment"

// Segment is the smallest segment of some hosts' interfaces by their fingerprints [B]. It is 0 where one of them does
// not say; missing is then its index.
func Segment(hosts []Host) (size, missing int) {
	for i, h := range hosts {
		s, err := strconv.Atoi(h.Env[FactSegment])
		if err != nil || s <= 0 {
			return 0, i
		}
		if i == 0 || s < size {
			size = s
		}
	}
	return size, -1
}
