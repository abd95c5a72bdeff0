package netspec

import "sort"

// hkuSlow is how many times slower than the paper's cluster preset hku2000 is, so that one process can play it.
const hkuSlow = 20

// presets are the papers' own clusters.
func presets() map[string]Spec {
	const us = 1e-6
	perPacket := func(fixed, perByte, least float64) Block { // [µs, µs/B, µs], slowed
		return Block{A: fixed * us * hkuSlow, B: (perByte + fixed/1448) * us * hkuSlow, Min: least * us * hkuSlow}
	}
	receive := perPacket(0, 0.0038, 0)
	return map[string]Spec{
		// Stoica, Sultan, Keyes 1994, section 4: SparcstationELC, SunOS 4.1.3, p4 1.3, shared Ethernet.
		"sparc1994": {
			Name: "sparc1994", Hosts: 8, Mode: Shared, MSS: 1448, Seed: 1994,
			Host:   Block{A: 859.52 * us, B: 1.42 * us},
			Medium: Block{A: 345.60 * us, B: 0.92 * us},
		},
		// Tam, Wang 2000, table 1: 16 PCs on a Fast Ethernet switch, hkuSlow times slower. The host's block is g_s, the port
		// g_r; with cut-through, a packet of m bytes then takes 4.986 + 0.0788·m in the port, 11.698 in the delay and 0.0038·m
		// at the receiver, which is L's 16.684 + 0.0826·m; the fabric has its 1.556·p and its limit of 90 B/µs.
		"hku2000": {
			Name: "hku2000", Hosts: 8, Mode: Switched, MSS: 1448, Seed: 2000, Slowdown: hkuSlow, CutThrough: true,
			Host: perPacket(3.027, 0.0796, 6.73), Medium: perPacket(4.986, 0.0788, 6.73), Receive: &receive,
			L: 11.698 * us * hkuSlow, Buffer: 1935,
			Fabric: &Fabric{PerHost: 1.556 * us * hkuSlow, Tau: 0.0826 * us * hkuSlow, Rate: 90 / us / hkuSlow, Window: 0.05},
		},
		// A switch of today slowed to where one process can play it: T does not depend on the number of pairs.
		"switch": {
			Name: "switch", Hosts: 8, Mode: Switched, MSS: 1448, Seed: 7,
			Host:   Block{A: 400 * us, B: 0.60 * us},
			Medium: Block{A: 200 * us, B: 0.35 * us},
		},
	}
}

// PresetNames lists the presets.
func PresetNames() []string {
	var names []string
	for n := range presets() {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}
