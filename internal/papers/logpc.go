package main

import (
	"math"

	"calib/fit/logpc"
)

var cycles = printed{"cycles", 1}

// Alewife, in cycles and bytes: tables 1 (two arguments) and 2.
var (
	alewifeShort = logpc.LogGP{L: 21, Os: 15, Or: 122}
	alewifeLong  = logpc.LogGP{L: 8, Os: 25, Or: 129, G: 0.5}
)

// logpcPaper rebuilds Moritz, Frank 2001.
func logpcPaper(string, measurements) (paper, error) {
	return paper{
		title:    "LoGPC",
		citation: "Moritz, Frank 2001 (TPDS)",
		words: "Its machine: the MIT Alewife, a mesh of 8 by 4 without end-around channels, interrupts and DMA. The lab has no copy of it: it plays\n" +
			"switches and shared media, not wormhole routers. All rows are formulas, in cycles, with the paper's parameters of tables 1 and 2",
		rows:    join(remapRows(), distanceRows(), boundRows(), errorRows()),
		missing: logpcMissing,
	}, nil
}

// remapRows are table 4: an iteration of the all-to-all remap of short messages, with the paper's C_n.
func remapRows() []row {
	const cn = 23
	p := alewifeShort
	cr := p.HandlerContention()
	return join(
		at("Table 4, synchronous",
			row{what: "LogP", golden: "logpc.remap_short_2arg.sync.LogP", paper: num("316", cycles).of("2 (o_s + L + o_r)"), ours: computed(p.SyncRemap(0, 0)), how: "LogGP.SyncRemap"},
			row{what: "C_r", golden: "logpc.remap_short_2arg.sync.C_r", paper: num("137", cycles).of("o_r + o_s"), ours: computed(cr), how: "LogGP.HandlerContention"},
			row{what: "LoPC", golden: "logpc.remap_short_2arg.sync.LoPC", paper: num("453", cycles), ours: computed(p.SyncRemap(0, cr)), how: "LogGP.SyncRemap"},
			row{what: "LoGPC, with C_n = 23", golden: "logpc.remap_short_2arg.sync.LoGPC", paper: num("499", cycles).of("2 (o_s + L + C_n + o_r) + C_r"), ours: computed(p.SyncRemap(cn, cr)), how: "LogGP.SyncRemap"}),
		at("Table 4, asynchronous",
			row{what: "LogP", golden: "logpc.remap_short_2arg.async.LogP", paper: num("137", cycles).of("o_s + o_r"), ours: computed(p.AsyncRemap()), how: "LogGP.AsyncRemap"},
			row{what: "LoPC", golden: "logpc.remap_short_2arg.async.LoPC", paper: num("137", cycles), ours: computed(p.AsyncRemap()), how: "LogGP.AsyncRemap"},
			row{what: "LoGPC", golden: "logpc.remap_short_2arg.async.LoGPC", paper: num("137", cycles), ours: computed(p.AsyncRemap()), how: "LogGP.AsyncRemap"}),
	)
}

// distanceRows are the average distances of section 3.3.
func distanceRows() []row {
	mesh := logpc.Mesh(8, 4)
	return join(
		at("Eq. 11", row{what: "2 k_d, drawn destinations", golden: "logpc.avg_distance_4x8", paper: num("3.875", plain), ours: computed(mesh.Dimension * mesh.Distance), how: "logpc.Mesh"}),
		at("Eq. 12", row{what: "2 k_dl, processors i − 1 and i + 1", golden: "logpc.avg_distance_local", paper: num("1.875", plain), ours: computed(logpc.NeighbourHops(8, 4)), how: "logpc.NeighbourHops"}),
	)
}

// boundRows are the bound of section 3.4 and the remap of long messages, which is the same with G = 0.5.
func boundRows() []row {
	const bytes = 1000
	interval := alewifeLong.LongRemap(bytes)
	own, two := logpc.Mesh(8, 4), logpc.Cube{Dimension: 2, Distance: 2}
	return join(
		at("Eq. 13, 14",
			row{what: "T_c/T, k_d = 3.875/2", golden: "logpc.upper_bound_inflation", paper: num("2.2", plain), ours: computed(own.Inflation(interval, bytes)), how: "Cube.Inflation"}),
		at("Figure 6, section 5.1.3",
			row{what: "interval a byte, k_d = 2", golden: "logpc.remap_long.predicted_cycles_per_byte", paper: num("2.22", cycles), ours: computed(two.Interval(interval, bytes) / bytes), how: "Cube.Interval"},
			row{what: "interval a byte, k_d = 3.875/2", paper: num("2.22", cycles), ours: computed(own.Interval(interval, bytes) / bytes), how: "Cube.Interval",
				cause: "the paper's 2.22 follows with k_d = 2; its own average distance, eq. 11, gives 2.17"}),
	)
}

// errorRows are the paper's predictions against what it measured, with our predictions.
func errorRows() []row {
	const syncMeasured, asyncMeasured, longMeasured = 486, 151, 2.03 // table 4, figure 6
	p := alewifeShort
	cr := p.HandlerContention()
	sync := p.SyncRemap(23, cr)/syncMeasured - 1
	async := asyncMeasured/p.AsyncRemap() - 1
	const bytes = 1000
	long := logpc.Cube{Dimension: 2, Distance: 2}.Interval(alewifeLong.LongRemap(bytes), bytes)/bytes/longMeasured - 1
	return join(
		at("Section 5.1.1",
			row{what: "LoGPC above the measured 486", golden: "", paper: num("3", percent), ours: computed(sync), how: "LogGP.SyncRemap"},
			row{what: "C_r, of the measured 486", paper: num("28", percent), ours: computed(cr / syncMeasured), how: "LogGP.HandlerContention"}),
		at("Section 5.1.2", row{what: "the measured 151 above LoGPC", paper: num("10", percent), ours: computed(async), how: "LogGP.AsyncRemap"}),
		at("Section 7", row{what: "largest error of the remaps", golden: "logpc.max_error", paper: atMost("12"), ours: computed(math.Max(sync, math.Max(async, long))), how: "the rows above"}),
	)
}

// logpcMissing is what belongs to the Alewife.
var logpcMissing = []missing{
	{place: "Table 1", shows: "L 21; o_s 9, 12, 15; o_r 117, 119, 122 cycles",
		golden: []string{"logpc.short.null.L", "logpc.short.null.o_s", "logpc.short.null.o_r", "logpc.short.1arg.L", "logpc.short.1arg.o_s", "logpc.short.1arg.o_r",
			"logpc.short.2arg.L", "logpc.short.2arg.o_s", "logpc.short.2arg.o_r"},
		why: "measured on the Alewife; the rows above take those of two arguments"},
	{place: "Table 2", shows: "L 8, o_sl 25, o_rl 129, G 0.5", golden: []string{"logpc.long.L", "logpc.long.o_sl", "logpc.long.o_rl", "logpc.long.G_cycles_per_byte"},
		why: "measured on the Alewife; the rows above take them"},
	{place: "Table 3", shows: "the notation", why: "no numbers"},
	{place: "Table 4, columns C_n and measured", shows: "C_n 23 and 31; 486 and 151 measured",
		golden: []string{"logpc.remap_short_2arg.sync.C_n", "logpc.remap_short_2arg.async.C_n", "logpc.remap_short_2arg.sync.measured", "logpc.remap_short_2arg.async.measured"},
		why:    "C_n needs the bytes of a short message in the network, which the paper does not state: 45 B at m = 1/(o_s + o_r) give 31 (test of fit/logpc). The rest was measured on the Alewife"},
	{place: "Figures 1, 2, 7, 8, 10", shows: "layers, network interface, schedules, program text", why: "drawings without numbers"},
	{place: "Figures 3, 4", shows: "eq. 1 takes over from eq. 2 at about 1,000 B", why: "the paper has no value of G_m and a; LogGP.LongMessage and PipelinedMessage are held by the tests of fit/logpc"},
	{place: "Figure 5", shows: "bandwidth by size", why: "only drawn"},
	{place: "Figure 6, measured", shows: "2.03 cycles a byte", golden: []string{"logpc.remap_long.measured"}, why: "measured on the Alewife"},
	{place: "Figure 9, eq. 15", shows: "Diamond DAG: model within 3.14%, up to 56% and 31% slower by mapping", why: "an application on the Alewife; calib has no model of it"},
	{place: "Figure 11", shows: "EM3D, 20% faster without hot spots", why: "an application on the Alewife; calib has no model of it"},
}
