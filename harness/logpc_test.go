package harness

import "calib/fit/loggp"

// logpcPaper rebuilds Moritz, Frank 2001.
func logpcPaper() paper {
	return paper{key: "logpc", figures: 11, tables: 4, rows: alewifeRows()}
}

// alewifeRows are table 4, an iteration of the all-to-all remap of short messages with the paper's C_n; the average
// distances of section 3.3; the bound of section 3.4, and the remap of long messages, which is the same with G = 0.5;
// and the paper's predictions against what it measured. In cycles and bytes.
func alewifeRows() []row {
	const (
		cn, bytes                                 = 23, 1000
		syncMeasured, asyncMeasured, longMeasured = 486, 151, 2.03 // table 4, figure 6
		syncBy, asyncBy, by                       = "LogGP.SyncRemap", "LogGP.AsyncRemap", "Cube.Interval"
		contention, neighbours                    = "LogGP.HandlerContention", "logpc.NeighbourHops"
	)
	p := LogGP{L: 21, Os: 15, Or: 122} // table 1, two arguments
	interval := LogGP{L: 8, Os: 25, Or: 129, G: 0.5}.LongRemap(bytes)
	mesh, two := mesh(8, 4), loggp.Cube{Dimension: 2, Distance: 2}
	cr, async := p.HandlerContention(), is(p.AsyncRemap())
	above, below := p.SyncRemap(cn, cr)/syncMeasured-1, asyncMeasured/p.AsyncRemap()-1
	long := cubeInterval(two, interval, bytes)/bytes/longMeasured - 1
	return []row{
		{"Table 4, synchronous", "LogP", "2 (o_s + L + o_r) = 316 cycles", is(p.SyncRemap(0, 0)), syncBy, ""},
		{"", "C_r", "o_r + o_s = 137 cycles", is(cr), contention, ""},
		{"", "LoPC", "453 cycles", is(p.SyncRemap(0, cr)), syncBy, ""},
		{"", "LoGPC, with C_n = 23", "2 (o_s + L + C_n + o_r) + C_r = 499 cycles", is(p.SyncRemap(cn, cr)), syncBy, ""},
		{"Table 4, asynchronous", "LogP", "o_s + o_r = 137 cycles", async, asyncBy, ""},
		{"", "LoPC", "137 cycles", async, asyncBy, ""},
		{"", "LoGPC", "137 cycles", async, asyncBy, ""},
		{"Eq. 11", "2 k_d, drawn destinations", "3.875", is(mesh.Dimension * mesh.Distance), "logpc.Mesh", ""},
		{"Eq. 12", "2 k_dl, processors i − 1 and i + 1", "1.875", is(neighbourHops(8, 4)), neighbours, ""},
		{"Eq. 13, 14", "T_c/T, k_d = 3.875/2", "2.2", is(cubeInterval(mesh, interval, bytes) / interval), "Cube.Inflation",
			""},
		{"Figure 6, section 5.1.3", "interval a byte, k_d = 2", "2.22 cycles", is(cubeInterval(two, interval, bytes) / bytes),
			by, ""},
		{"", "interval a byte, k_d = 3.875/2", "2.22 cycles", is(cubeInterval(mesh, interval, bytes) / bytes), by,
			"the paper's 2.22 follows with k_d = 2; its own average distance, eq. 11, gives 2.17"},
		{"Section 5.1.1", "LoGPC above the measured 486", "3 %", is(above), syncBy, ""},
		{"", "C_r, of the measured 486", "28 %", is(cr / syncMeasured), contention, ""},
		{"Section 5.1.2", "the measured 151 above LoGPC", "10 %", is(below), asyncBy, ""},
		{"Section 7", "largest error of the remaps", "at most 12 %", is(max(above, below, long)), "the rows above", ""},
	}
}
