package export

import (
	"fmt"
	"io"
	"math"
	"slices"

	"calib/fit"
)

// dimemasTarget is a configuration of Dimemas in the format that begins with #DIMEMAS_CONFIGURATION: one record a line
// (Simulator/input/new_configuration.c, cfgs/ideal.cfg of bsc-performance-tools/dimemas). Times are in s, bandwidths in MB/s of
// 2^20 bytes (Simulator/model/communic.c). The sender is busy for the startup of a message, which then takes the output
// link of one node, the input link of the other and a bus for x/bandwidth:
//
//	T(x) = startup + x/bandwidth.
//
// Buses say how many messages the network carries at once; 0 is any number. n pairs on a medium of b_c a byte take n·b_c, and
// so need b/b_c buses of a message's own rate.
func dimemasTarget() Target {
	return Target{
		Name: "dimemas", File: "dimemas.cfg",
		About: "Dimemas: configuration with nodes, latency, bandwidth and buses",
		Write: writeDimemas, Check: checkDimemas,
	}
}

const dimemasMB = 1 << 20 // B

// dimemas is what of a configuration bears on messages between nodes.
type dimemas struct {
	nodes     int
	bandwidth float64 // MB/s
	buses     int     // 0: no limit
	startup   float64 // s
	in, out   int     // links of a node
}

func dimemasOf(p *fit.Params, o Options) (dimemas, affine, error) {
	a, err := affineOf(p)
	if err != nil {
		return dimemas{}, a, err
	}
	n, err := o.hosts(p)
	if err != nil {
		return dimemas{}, a, err
	}
	return dimemas{nodes: n, bandwidth: 1 / a.beta / dimemasMB, buses: busesOf(p, a.beta), startup: a.alpha, in: 1, out: 1}, a, nil
}

// busesOf returns how many messages the network carries at once; 0 is any number.
func busesOf(p *fit.Params, beta float64) int {
	bc, ok := found(p, "b_c")
	if !ok || !(bc > 0) {
		return 0
	}
	return int(math.Max(1, math.Min(math.Round(beta/bc), maxHosts)))
}

// says is what a reader must know of the buses, and a warning where whole buses are far from the fit.
func (d dimemas) says(p *fit.Params, beta float64) (note string, warnings []string) {
	if d.buses == 0 {
		return "Buses 0, no limit: the run found no network that its hosts share (b_c).", nil
	}
	bc, _ := found(p, "b_c")
	if off := float64(d.buses)*bc/beta - 1; math.Abs(off) > wholeBuses {
		warnings = []string{fmt.Sprintf("buses are whole: with all of them busy the network's rate is %+.0f%% off", 100*off)}
	}
	return fmt.Sprintf("Buses %d: a message's own time per byte over the network's, %g s/B over b_c = %g s/B.", d.buses, beta, bc), warnings
}

// wholeBuses is the relative error by rounding the buses that is warned of.
const wholeBuses = 0.05

func writeDimemas(w io.Writer, p *fit.Params, o Options) ([]string, error) {
	d, a, err := dimemasOf(p, o)
	if err != nil {
		return nil, err
	}
	buses, warnings := d.says(p, a.beta)
	notes, off := against(p, "latency + size/bandwidth", a.at)
	warnings = append(slices.Concat(uniform(p), off, warnings),
		"the sender is busy for the whole startup: Dimemas does not split it into overheads and latency")
	notes = append(notes, buses,
		"Not measured by calib: processors (1 a node, at the speed of the trace's), communication within a node (none), the model of",
		"collectives (3, logarithmic, without a fine-tuning file), the wide area network (none), and the file system (ideal).")
	if _, err := fmt.Fprintln(w, "#DIMEMAS_CONFIGURATION"); err != nil {
		return nil, err
	}
	if err := comment(w, "// ", header(p, o, append(a.from, "b_c"), notes, warnings)); err != nil {
		return nil, err
	}
	_, err = fmt.Fprintf(w, `
"wide area network information" {"", 1, 0, 4, 0.0, 0.0, 1};;
"environment information" {"calib", 0, "", %d, %s, %d, 3};;
"multi node information" {0, %d, "", 1, 1.0, 0.0, 0.0, 0, 1, 1, %s, %d, %d, 0.0};;
"predefined mapping information" {"1 TASKS_PER_NODE"};;
"configuration files" {"", "", "", ""};;
"file system parameters" {0.0, 0.0, 8.0, 0, 1.0};;
`, d.nodes, number(d.bandwidth), d.buses, d.nodes, number(d.startup), d.in, d.out)
	return warnings, err
}

// transfer returns the time [s] in which n pairs of nodes that start together have each sent x bytes.
func (d dimemas) transfer(n int, x float64) float64 {
	turns := 1.0
	if d.buses > 0 {
		turns = math.Ceil(float64(n) / float64(d.buses))
	}
	return d.startup + turns*x/(d.bandwidth*dimemasMB)
}

func checkDimemas(file []byte, p *fit.Params, o Options) error {
	d, err := readDimemas(file)
	if err != nil {
		return err
	}
	want, a, err := dimemasOf(p, o)
	if err != nil {
		return err
	}
	for _, x := range checkedSizes {
		if got := d.transfer(1, x); !within(got, a.at(x), 0) {
			return mismatch(fmt.Sprintf("the time of %g bytes", x), got, a.at(x), "s")
		}
	}
	bc, ok := found(p, "b_c")
	switch {
	case d.nodes != want.nodes:
		return mismatch("the number of nodes", float64(d.nodes), float64(want.nodes), "hosts")
	case !ok && d.buses != 0:
		return mismatch("the number of buses", float64(d.buses), 0, "messages")
	case ok && bc > 0 && d.buses > 1: // half a bus is the rounding
		if perByte := a.beta / float64(d.buses); !within(perByte, bc, 0.5*bc/float64(d.buses)+0.5*bc*bc/a.beta) {
			return mismatch("the network's time per byte", perByte, bc, "s/B")
		}
	}
	return nil
}
