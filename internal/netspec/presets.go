package netspec

import "sort"

// presets are the papers' own clusters.
func presets() map[string]Spec {
	const us = 1e-6
	return map[string]Spec{
		// Stoica, Sultan, Keyes 1994, section 4: SparcstationELC, SunOS 4.1.3, p4 1.3, shared Ethernet.
		"sparc1994": {
			Name: "sparc1994", Hosts: 8, Mode: Shared, MSS: 1448, Seed: 1994,
			Host:   Block{A: 859.52 * us, B: 1.42 * us},
			Medium: Block{A: 345.60 * us, B: 0.92 * us},
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
