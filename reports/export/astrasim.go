package export

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"calib/fit"
)

// astraSimTarget is the network configuration of ASTRA-sim's analytical backend: one dimension of topology Switch, with
// npus_count, bandwidth and latency, each a list (input/Switch.yml, common/network-parser/NetworkParser.cpp of
// astra-sim/astra-network-analytical). A GB is 2^30 bytes there (common/NetworkFunction.cpp), and a switch is two hops, so that
// in the congestion-unaware backend a chunk of x bytes takes
//
//	2·latency + x/bandwidth, cut off to whole ns (congestion_unaware/basic-topology/BasicTopology.cpp).
func astraSimTarget() Target {
	return Target{
		Name: "astra-sim", File: "network.yml",
		About: "ASTRA-sim: network of its analytical backend, a switch with bandwidth and latency",
		Write: writeAstraSim, Check: checkAstraSim,
	}
}

const (
	astraGB   = 1 << 30 // B
	astraHops = 2       // host to switch to host
)

func writeAstraSim(w io.Writer, p *fit.Params, o Options) ([]string, error) {
	a, err := affineOf(p)
	if err != nil {
		return nil, err
	}
	n, err := o.hosts(p)
	if err != nil {
		return nil, err
	}
	notes, off := against(p, "latency + size/bandwidth", a.at)
	warnings := append(append(uniform(p), off...), "the congestion-aware backend stores and forwards a chunk at the switch and counts its bytes twice: "+
		"the file is for the congestion-unaware one")
	notes = append(notes,
		fmt.Sprintf("A message of x bytes takes %s s + %s s/B · x: latency is half of the first, for a switch is two hops;", number(a.alpha), number(a.beta)),
		"bandwidth is in GB/s of 2^30 bytes.")
	if err := comment(w, "# ", header(p, o, a.from, notes, warnings)); err != nil {
		return nil, err
	}
	_, err = fmt.Fprintf(w, "topology: [ Switch ]\nnpus_count: [ %d ]\nbandwidth: [ %s ]  # GB/s\nlatency: [ %s ]  # ns\n",
		n, decimal(1/a.beta/astraGB, -1), decimal(a.alpha/astraHops/nanosecond, -1))
	return warnings, err
}

// astraSim is what the file says of a switch.
type astraSim struct {
	npus               int
	bandwidth, latency float64 // GB/s, ns
}

// at returns the time [ns] of a chunk of x bytes in the congestion-unaware backend.
func (a astraSim) at(x float64) float64 {
	perNS := a.bandwidth * astraGB / 1e9
	return math.Trunc(astraHops*a.latency + x/perNS)
}

func readAstraSim(file []byte) (astraSim, error) {
	m, err := flatYAML(file)
	if err != nil {
		return astraSim{}, err
	}
	var entry [4]string
	for i, key := range []string{"topology", "npus_count", "bandwidth", "latency"} {
		if entry[i], err = only(m[key]); err != nil {
			return astraSim{}, syntax("%s: %v", key, err)
		}
	}
	var a astraSim
	var errs [3]error
	a.npus, errs[0] = strconv.Atoi(entry[1])
	a.bandwidth, errs[1] = finiteNumber(entry[2])
	a.latency, errs[2] = finiteNumber(entry[3])
	switch err := errors.Join(errs[:]...); {
	case err != nil:
		return a, syntax("%v", err)
	case entry[0] != "Switch":
		return a, syntax("topology %q, want Switch", entry[0])
	case a.npus <= 1 || !(a.bandwidth > 0) || !(a.latency >= 0):
		return a, syntax("npus_count %d must be above 1, bandwidth %g positive, latency %g not negative", a.npus, a.bandwidth, a.latency)
	}
	return a, nil
}

func checkAstraSim(file []byte, p *fit.Params, o Options) error {
	a, err := readAstraSim(file)
	if err != nil {
		return err
	}
	want, err := affineOf(p)
	if err != nil {
		return err
	}
	if n, err := o.hosts(p); err != nil || n != a.npus {
		return mismatch("npus_count", float64(a.npus), float64(n), "hosts")
	}
	for _, x := range checkedSizes {
		if got := a.at(x) * nanosecond; !within(got, want.at(x), nanosecond) {
			return mismatch(fmt.Sprintf("the time of %g bytes", x), got, want.at(x), "s")
		}
	}
	return nil
}

// checkedSizes are the message sizes [B] that a file is evaluated at.
var checkedSizes = [...]float64{1, 64, 1448, 65536, 1 << 20, 4 << 20}
