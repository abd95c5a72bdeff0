package transport

import (
	"net"
	"testing"
)

// The way to a host of this machine is its loopback.
func TestRoute(t *testing.T) {
	lo, err := net.InterfaceByName("lo")
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range loopbacks() {
		groups := opened(t, testMeshes(t, host, 2, nil), 0)
		r, err := groups[0].Route(1)
		if err != nil {
			t.Fatalf("%s: %v", host, err)
		}
		if r.Device != lo.Index || r.MTU < 1280 || r.MTU > lo.MTU {
			t.Errorf("%s: %+v, want the loopback: interface %d, packets of up to %d B", host, r, lo.Index, lo.MTU)
		}
	}
}
