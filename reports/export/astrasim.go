package export

import (
	"bytes"
	"fmt"
	"math"

	"calib/reports/export/input"
)

const (
	astraGB   = 1 << 30 // B
	astraHops = 2       // host to switch to host
)

// writeAstraSim writes the network configuration of ASTRA-sim's analytical backend: one dimension of topology Switch,
// with npus_count, bandwidth and latency, each a list (input/Switch.yml, common/network-parser/NetworkParser.cpp of
// astra-sim/astra-network-analytical). A GB is 2^30 bytes there (common/NetworkFunction.cpp), and a switch is two hops,
// so that in the congestion-unaware backend a chunk of x bytes takes
//
//	2·latency + x/bandwidth, cut off to whole ns (congestion_unaware/basic-topology/BasicTopology.cpp).
func writeAstraSim(b *bytes.Buffer, in *input.Input) ([]string, error) {
	a, err := affineOf(in)
	if err != nil {
		return nil, err
	}
	n, err := in.HostCount()
	if err != nil {
		return nil, err
	}
	bandwidth, latency := 1/a.beta/astraGB, a.alpha/astraHops/nanosecond // GB/s, ns
	if math.IsInf(latency, 0) || math.IsInf(1/bandwidth, 0) || math.IsInf(bandwidth, 0) {
		return nil, fmt.Errorf("a message takes %g s + %g s/B: %w in GB/s and ns", a.alpha, a.beta, ErrLimit)
	}
	notes, off := compareWithMeasured(in, "latency + size/bandwidth", a.at)
	warnings := append(append(in.SlowPairs(), off...), "the congestion-aware backend stores and forwards a chunk at the switch and counts its bytes twice: "+
		"the file is for the congestion-unaware one")
	notes = append(notes,
		fmt.Sprintf("A message of x bytes takes %s s + %s s/B · x: latency is half of the first, for a switch is two hops;",
			input.Number(a.alpha), input.Number(a.beta)),
		"bandwidth is in GB/s of 2^30 bytes.")
	in.WriteHeader(b, "# ", a.from, notes, warnings)
	fmt.Fprintf(b, "topology: [ Switch ]\nnpus_count: [ %d ]\nbandwidth: [ %s ]  # GB/s\nlatency: [ %s ]  # ns\n",
		n, input.Decimal(bandwidth, -1), input.Decimal(latency, -1))
	return warnings, nil
}
