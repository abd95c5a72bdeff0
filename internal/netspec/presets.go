package netspec

import (
	"maps"
	"slices"
)

// slowdown2000 is how many times slower the preset hku2000 is than its original, the cluster of Tam and Wang (2000) at
// the University of Hong Kong (HKU), so that one process can emulate it.
const slowdown2000 = 20

func presets() map[string]Spec {
	const us = 1e-6
	perPacket := func(fixed, perByte, least float64) Block { // [µs, µs/B, µs], slowed
		return Block{A: fixed * us * slowdown2000, B: (perByte + fixed/1448) * us * slowdown2000, Min: least * us * slowdown2000}
	}
	receive := perPacket(0, 0.0038, 0)
	return map[string]Spec{
		// Stoica, Sultan, Keyes 1994, section 4: SparcstationELC, SunOS 4.1.3, p4 1.3, shared Ethernet.
		"sparc1994": {
			Name: "sparc1994", Hosts: 8, Mode: Shared, MSS: 1448, Seed: 1994,
			Host:   Block{A: 859.52 * us, B: 1.42 * us},
			Medium: Block{A: 345.60 * us, B: 0.92 * us},
		},
		// Tam and Wang 2000, table 1: 16 PCs on a Fast Ethernet switch, slowdown2000 times slower. The host's block is
		// g_s, the port g_r; with cut-through, a packet of m bytes then takes 4.986 + 0.0788·m µs in the port, 11.698
		// µs in the delay and 0.0038·m µs at the receiver. Their sum is L of table 1, 16.684 + 0.0826·m µs, without its
		// terms 1.556·p and 90 B/µs, which are the fabric's.
		"hku2000": {
			Name: "hku2000", Hosts: 8, Mode: Switched, MSS: 1448, Seed: 2000, Slowdown: slowdown2000, CutThrough: true,
			Host: perPacket(3.027, 0.0796, 6.73), Medium: perPacket(4.986, 0.0788, 6.73), Receive: &receive,
			L: 11.698 * us * slowdown2000, Buffer: 1935,
			Fabric: &Fabric{PerHost: 1.556 * us * slowdown2000, Tau: 0.0826 * us * slowdown2000, Rate: 90 / us / slowdown2000, Window: 0.05},
		},
		// A switch of today, slowed so that one process can emulate it: T does not depend on the number of pairs.
		"switch": {
			Name: "switch", Hosts: 8, Mode: Switched, MSS: 1448, Seed: 7,
			Host:   Block{A: 400 * us, B: 0.60 * us},
			Medium: Block{A: 200 * us, B: 0.35 * us},
		},
	}
}

func PresetNames() []string {
	return slices.Sorted(maps.Keys(presets()))
}
