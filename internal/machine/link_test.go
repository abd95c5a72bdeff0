package machine

import (
	"maps"
	"testing"
	"testing/fstest"
)

// Counters of errors that are not zero are facts, and so is the port of a switch that LLDP names.
func TestLink(t *testing.T) {
	c := collector{root: fstest.MapFS{
		"sys/class/net/eth0/statistics/rx_errors":     {Data: []byte("7\n")},
		"sys/class/net/eth0/statistics/tx_errors":     {Data: []byte("0\n")},
		"sys/class/net/eth0/statistics/rx_bytes":      {Data: []byte("12\n")},
		"sys/class/net/eth1/statistics/rx_crc_errors": {Data: []byte("9\n")},
	}}
	seen := c.errors("eth0", map[string]uint64{"fec_uncorrectable": 3, "rx_packets": 5, "tx_symbol_err": 0})
	port := switchPort("lldp.eth0.via=LLDP\nlldp.eth0.chassis.name=sw3\nlldp.eth0.chassis.descr=a=b\n"+
		"lldp.eth0.port.ifname=swp12\n", "eth0")
	if !maps.Equal(seen, map[string]uint64{"fec_uncorrectable": 3, "rx_errors": 7}) || port != "sw3 port swp12" {
		t.Errorf("%v, %q", seen, port)
	}
	if none := c.errors("eth2", nil); len(none) > 0 || switchPort("no such thing", "eth2") != "" {
		t.Errorf("%v of nothing", none)
	}
}

func TestGrown(t *testing.T) {
	type counters = map[string]uint64
	for _, c := range []struct {
		before, after counters
		want          string
	}{
		{nil, nil, ""}, {counters{"a": 1}, counters{"a": 1}, ""}, {nil, counters{"": 3}, " +3"},
		{counters{"a": 5, "b": 1}, counters{"a": 1, "b": 4, "c": 2}, "b +3, c +2"},
	} {
		if got := Grown(c.before, c.after); got != c.want {
			t.Errorf("%v, %v: %q, want %q", c.before, c.after, got, c.want)
		}
	}
}
