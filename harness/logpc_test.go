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
		latency, send, receive = 21.0, 15.0, 122.0 // table 1, two arguments
		cn, cr, bytes          = 23.0, send + receive, 1000.0
		syncMeasured           = 486.0 // table 4
		asyncMeasured          = 151.0
		longMeasured           = 2.03 // figure 6
		by, paper              = "Machine.Cost", "the paper's equation"
		withCr, withBoth       = "Machine.Cost, and the paper's C_r", "Machine.Cost, and the paper's C_n and C_r"
	)
	short := loggp.Machine{OneWay: always(send + latency + receive), Gap: always(0), Busy: send + receive}
	async := short.Cost(loggp.Remap{Hosts: 2, Bytes: 1, Among: 1, UnderWay: loggp.Unlimited}).Interval
	logp := short.Cost(loggp.Remap{Hosts: 2, Bytes: 1, Among: 1, Sync: true}).Interval
	logpc := logp + 2*cn + cr
	// An interface moves one message at a time, in or out, at G = 0.5 (table 2): 2GB (section 5.1.3). A channel carries a
	// byte a cycle.
	size := func(m float64) float64 { return m }
	long := func(c loggp.Cube) float64 {
		m, err := loggp.Machine{OneWay: size, Gap: size}.On(c)
		if err != nil {
			panic(err)
		}
		return m.Cost(loggp.Remap{Hosts: 32, Bytes: bytes, Among: 1, UnderWay: 1}).Interval / bytes
	}
	mesh := loggp.Cube{Dimension: 2, Distance: (meshDistance(8) + meshDistance(4)) / 2}
	two := loggp.Cube{Dimension: 2, Distance: 2}
	above, below := logpc/syncMeasured-1, asyncMeasured/async-1
	return []row{
		{"Table 4, synchronous", "LogP", "2 (o_s + L + o_r) = 316 cycles", is(logp), by, ""},
		{"", "C_r", "o_r + o_s = 137 cycles", is(cr), paper, ""},
		{"", "LoPC", "453 cycles", is(logp + cr), withCr, ""},
		{"", "LoGPC, with C_n = 23", "2 (o_s + L + C_n + o_r) + C_r = 499 cycles", is(logpc), withBoth, ""},
		{"Table 4, asynchronous", "LogP", "o_s + o_r = 137 cycles", is(async), by, ""},
		{"", "LoPC", "137 cycles", is(async), by, ""},
		{"", "LoGPC", "137 cycles", is(async), by, ""},
		{"Eq. 11", "2 k_d, drawn destinations", "3.875", is(2 * mesh.Distance), paper, ""},
		{"Eq. 12", "2 k_dl, processors i − 1 and i + 1", "1.875", is(neighbourHops(8, 4)), paper, ""},
		{"Eq. 13, 14", "T_c/T, k_d = 3.875/2", "2.2", is(long(mesh)), by, ""},
		{"Figure 6, section 5.1.3", "interval a byte, k_d = 2", "2.22 cycles", is(long(two)), by, ""},
		{"", "interval a byte, k_d = 3.875/2", "2.22 cycles", is(long(mesh)), by,
			"the paper's 2.22 follows with k_d = 2; its own average distance, eq. 11, gives 2.17"},
		{"Section 5.1.1", "LoGPC above the measured 486", "3 %", is(above), withBoth, ""},
		{"", "C_r, of the measured 486", "28 %", is(cr / syncMeasured), paper, ""},
		{"Section 5.1.2", "the measured 151 above LoGPC", "10 %", is(below), by, ""},
		{"Section 7", "largest error of the remaps", "at most 12 %", is(max(above, below, long(two)/longMeasured-1)),
			"the rows above", ""},
	}
}

// always is a time that does not depend on the size.
func always(v float64) func(float64) float64 { return func(float64) float64 { return v } }

// meshDistance is k_d of k nodes in a dimension without end-around channels, (k²−1)/3k, destinations being drawn (eq.
// 11).
func meshDistance(k float64) float64 { return (k*k - 1) / (3 * k) }

// neighbourHops is the mean number of hops between nodes of successive numbers in a mesh of x by y, numbered along x:
// n·k_dl of a processor i that sends to i+1 or i−1 (eq. 12). Those that the first and the last node lack are taken, as
// the paper's 1.875 of 8 by 4 is, as the nodes that a further row would have.
func neighbourHops(x, y int) float64 {
	hops := func(p, q int) int {
		row := func(i int) int {
			if i < 0 {
				return -1
			}
			return i / x
		}
		abs := func(i int) int { return max(i, -i) }
		return abs((p-row(p)*x)-(q-row(q)*x)) + abs(row(p)-row(q))
	}
	sum := 0
	for p := range x * y {
		sum += hops(p, p-1) + hops(p, p+1)
	}
	return float64(sum) / 2 / float64(x*y)
}
