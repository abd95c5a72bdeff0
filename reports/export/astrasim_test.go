package export

import (
	"bytes"
	"fmt"
	"math"
	"testing"

	"github.com/goccy/go-yaml"
)

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

// readAstraSim reads a configuration.
func readAstraSim(file []byte) (astraSim, error) {
	var c struct {
		Topology  []string  `yaml:"topology"`
		NPUsCount []int     `yaml:"npus_count"`
		Bandwidth []float64 `yaml:"bandwidth"`
		Latency   []float64 `yaml:"latency"`
	}
	if err := yaml.NewDecoder(bytes.NewReader(file), yaml.Strict()).Decode(&c); err != nil {
		return astraSim{}, syntax("%v", err)
	}
	for _, n := range []int{len(c.Topology), len(c.NPUsCount), len(c.Bandwidth), len(c.Latency)} {
		if n != 1 {
			return astraSim{}, syntax("every setting must be a list of one entry: %v", c)
		}
	}
	a := astraSim{npus: c.NPUsCount[0], bandwidth: c.Bandwidth[0], latency: c.Latency[0]}
	switch {
	case c.Topology[0] != "Switch":
		return a, syntax("topology %q, want Switch", c.Topology[0])
	case a.npus <= 1 || !(a.bandwidth > 0) || !(a.latency >= 0) || math.IsInf(a.bandwidth+a.latency, 0):
		return a, syntax("npus_count %d must be above 1, bandwidth %g positive, latency %g not negative", a.npus, a.bandwidth,
			a.latency)
	}
	return a, nil
}

func checkAstraSim(file []byte, in *input) error {
	a, err := readAstraSim(file)
	if err != nil {
		return err
	}
	want, err := affineOf(in)
	if err != nil {
		return err
	}
	if n := in.hostCount(); in.err != nil || n != a.npus {
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

// TestLogGPFallback: without ping-pong, T(x) is LogGP's.
func TestLogGPFallback(t *testing.T) {
	p := fixture()
	delete(p.Parameters, "alpha")
	file, _, err := lookup(t, "astra-sim").Export(p, Options{})
	if err != nil {
		t.Fatal(err)
	}
	a, err := readAstraSim(file)
	if err != nil {
		t.Fatal(err)
	}
	in := newInput(p, Options{})
	m := logGPOf(in)
	if err := in.err; err != nil {
		t.Fatal(err)
	}
	if got, want := a.at(1448)*1e-9, m.at(1448); !within(got, want, 1e-9) {
		t.Errorf("1,448 bytes take %g s, LogGP %g s", got, want)
	}
}
