package export

import (
	"bytes"
	"fmt"
	"math"
	"slices"

	"calib/reports/export/input"
)

const (
	dimemasMB = 1 << 20 // B
	// wholeBuses is the relative error by rounding the buses of which users need not be warned.
	wholeBuses = 0.05
)

// busesOf returns how many messages of beta [s/B] the network carries at once, 0 for any number, with what a reader
// must know of it, and a warning where whole buses are far from the fit.
func busesOf(in *input.Input, beta float64) (buses int, note string, warnings []string, err error) {
	bc, ok := in.Found("b_c")
	if !ok || !(bc > 0) {
		return 0, "Buses 0, no limit: the run found no network that its hosts share (b_c).", nil, nil
	}
	n := math.Max(1, math.Round(beta/bc))
	if n > input.MaxHosts {
		return 0, "", nil, fmt.Errorf("%g buses, for a message's own %g s/B over b_c = %g s/B: %w: want at most %d", n, beta, bc, ErrLimit, input.MaxHosts)
	}
	if off := n*bc/beta - 1; math.Abs(off) > wholeBuses {
		warnings = []string{fmt.Sprintf("buses are whole: with all of them busy the network's rate is %+.0f%% off", 100*off)}
	}
	return int(n), fmt.Sprintf("Buses %.0f: a message's own time per byte over the network's, %g s/B over b_c = %g s/B.", n, beta, bc), warnings, nil
}

// writeDimemas writes a configuration of Dimemas in the format that begins with #DIMEMAS_CONFIGURATION: one record a
// line (Simulator/input/new_configuration.c, cfgs/ideal.cfg of bsc-performance-tools/dimemas). Times are in s,
// bandwidths in MB/s of 2^20 bytes (Simulator/model/communic.c). The sender is busy for the startup of a message, which
// then takes the output link of one node, the input link of the other and a bus for x/bandwidth; the receiver is busy
// for a startup from when it starts to receive, also where the message is there already:
//
//	T(x) = startup + x/bandwidth.
//
// Buses say how many messages the network carries at once; 0 is any number. n pairs on a medium of b_c a byte take
// n·b_c, and so need b/b_c buses of a message's own rate.
func writeDimemas(b *bytes.Buffer, in *input.Input) ([]string, error) {
	a, err := affineOf(in)
	if err != nil {
		return nil, err
	}
	nodes, err := in.HostCount()
	if err != nil {
		return nil, err
	}
	buses, note, warnings, err := busesOf(in, a.beta)
	if err != nil {
		return nil, err
	}
	notes, off := compareWithMeasured(in, "latency + size/bandwidth", a.at)
	warnings = append(slices.Concat(in.SlowPairs(), off, warnings),
		"the sender is busy for the whole startup, and so is the receiver from when it starts to receive: short messages from several senders to one "+
			"host come a startup apart. Dimemas does not split it into overheads and latency")
	notes = append(notes, note,
		"Not measured by calib: processors (1 a node, at the speed of the trace's), communication within a node (none), the model of",
		"collectives (3, logarithmic, without a fine-tuning file), the wide area network (none), and the file system (ideal).")
	fmt.Fprintln(b, "#DIMEMAS_CONFIGURATION")
	in.WriteHeader(b, "// ", append(a.from, "b_c"), notes, warnings)
	fmt.Fprintf(b, `
"wide area network information" {"", 1, 0, 4, 0.0, 0.0, 1};;
"environment information" {"calib", 0, "", %[1]d, %[2]s, %[3]d, 3};;
"multi node information" {0, %[1]d, "", 1, 1.0, 0.0, 0.0, 0, 1, 1, %[4]s, 1, 1, 0.0};;
"predefined mapping information" {"1 TASKS_PER_NODE"};;
"configuration files" {"", "", "", ""};;
"file system parameters" {0.0, 0.0, 8.0, 0, 1.0};;
`, nodes, input.Number(1/a.beta/dimemasMB), buses, input.Number(a.alpha))
	return warnings, nil
}
