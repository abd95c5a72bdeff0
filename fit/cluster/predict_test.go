package cluster

import (
	"errors"
	"math"
	"testing"

	"calib/params"
)

// The cluster of Tam, Wang 2000, table 1: 16 PCs, Fast Ethernet. Costs in µs, sizes in bytes, in two ranges of m.
func tableOne(small bool) Cluster {
	const us = 1e-6
	c := Cluster{
		Os: params.Cost{C0: 6.37 * us, C1: 0.0253 * us}, Gs: params.Cost{C0: 3.027 * us, C1: 0.0796 * us},
		Gr: params.Cost{C0: 4.986 * us, C1: 0.0788 * us}, Or: params.Cost{C0: 12.176 * us, C1: 0.0429 * us},
		Ur: params.Cost{C0: 9.93 * us}, BL: 1935, MTU: 1500,
	}
	if small {
		c.Os, c.Or = params.Cost{C0: 6.308 * us, C1: 0.0291 * us}, params.Cost{C0: 12.245 * us, C1: 0.0426 * us}
		c.Gs, c.Gr = params.Cost{C0: 6.73 * us}, params.Cost{C0: 6.73 * us}
		c.MTU = 40
	}
	c.L = params.Transfer{L0: 16.684 * us, L1: 1.556 * us, Tau: 0.0826 * us, N: 90 / us, Gs: c.Gs}
	return c
}

// Expectations are worked out by hand from table 1 and the equations, in µs.
func TestBroadcastTableOne(t *testing.T) {
	for _, tc := range []struct {
		name            string
		small           bool
		p               int
		bytes           float64
		postal, cluster float64
	}{
		// m = 40: O_s 7.472, L 16.684+6.224+3.304, O_r 13.949, U_r 9.93: 57.563 a packet, two steps
		{"one small packet, 4 hosts", true, 4, 40, 115.126, 115.126},
		// (1) 2·(3·6.73 + 57.563 − 6.73); (2) 2·(6.73 + 13.949 + 9.93) + 2·57.563
		{"three small packets, 4 hosts", true, 4, 120, 142.046, 176.344},
		// m = 1500, p·m/(90·122.427) = 2.17817: L 41.58 + 123.9·2.17817 = 311.4551; 442.2311 a packet, four steps
		{"one packet, 16 hosts", false, 16, 1500, 1768.9244, 1768.9244},
		// (1) 4·(3·122.427 + 442.2311); (2) 3·(3·122.427 + 76.526 + 9.93) + 4·442.2311
		{"four packets, 16 hosts", false, 16, 6000, 3238.0484, 3130.1354},
		{"40 packets, 8 hosts", false, 8, 60000, 15208.4957, 13805.6267},
		{"the same tree for 5 hosts as for 8, but for L", false, 5, 1500, 0, 0},
	} {
		c := tableOne(tc.small)
		postal, err := c.BroadcastPostal(tc.p, tc.bytes)
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.Broadcast(tc.p, tc.bytes)
		if err != nil {
			t.Fatal(err)
		}
		if tc.postal == 0 { // three steps of L(1500, 5) = 16.684 + 7.78 + 123.9 and 44.32 + 76.526 + 9.93
			tc.postal = 3 * 279.14
			tc.cluster = tc.postal
		}
		near(t, tc.name+", eq. 1", postal, tc.postal*1e-6, 1e-7)
		near(t, tc.name+", eq. 2", got, tc.cluster*1e-6, 1e-7)
	}
	if v, err := tableOne(false).Broadcast(1, 1e6); err != nil || v != 0 {
		t.Errorf("one host: %g, %v", v, err)
	}
}

func TestTransferRatioTableOne(t *testing.T) {
	c := tableOne(false)
	a, d := 15/c.Gs.Of(1500), 1/c.Gr.Of(1500) // 15 senders of whole packets
	// β = 1935/(15/122.427 − 1/123.186) µs
	near(t, "eq. 3", Saturation(c.BL, a, d), 1935/(15/122.427-1/123.186)*1e-6, 1e-12)
	near(t, "eq. 4, 20,000 packets", TransferRatio(20000, c.BL, a, d), 122.427/(15*123.186)+1935./20000, 1e-12)
	if TransferRatio(1935, c.BL, a, d) != 1 || !math.IsInf(Saturation(c.BL, d, a), 1) {
		t.Error("a burst that fits in the buffer, or arrives more slowly than it leaves, is lost")
	}
	// the ratio reaches one where the buffer is full at the end of the burst: k = A·β
	near(t, "knee", TransferRatio(a*Saturation(c.BL, a, d), c.BL, a, d), 1, 1e-12)
}

func TestGatherWindow(t *testing.T) {
	for _, tc := range []struct {
		name         string
		change       func(*Cluster)
		senders      int
		bytes        float64
		lower, upper float64
		w            int
		optimal      bool
	}{
		// g_s/g_r = 122.427/123.186 = 0.99384; i = 100, 700 and 1000 packets: ⌊0.99384 + 1935/i⌋
		{"all at once", nil, 15, 150e3, 1, 20, 15, true},
		{"700 packets each", nil, 15, 1050e3, 1, 3, 3, true},
		{"1,000 packets each", nil, 15, 1500e3, 1, 2, 2, true},
		{"more than the buffer each", nil, 15, 6000e3, 1, 1, 1, true},
		{"small packets", func(c *Cluster) { *c = tableOne(true) }, 15, 40 * 400, 1, 5, 5, true},
		{"endless buffer", func(c *Cluster) { c.BL = math.Inf(1) }, 15, 1e9, 1, math.Inf(1), 15, true},
		// g_r = 54: g_s/g_r = 2.267, i = 1000: ⌊2.267 + 1.935⌋ = 4; rem(7,4) = 3
		{"slow senders", func(c *Cluster) { c.Gr = params.Cost{C0: 54e-6} }, 7, 1500e3, 3, 4, 4, true},
		// rem(8,4) = 0: a last group of 4
		{"groups without rest", func(c *Cluster) { c.Gr = params.Cost{C0: 54e-6} }, 8, 1500e3, 3, 4, 4, true},
		// rem(10,4) = 2 and rem(10,3) = 1 are both below G_al = 3
		{"no window fits", func(c *Cluster) { c.Gr = params.Cost{C0: 54e-6} }, 10, 1500e3, 3, 4, 4, false},
		{"fewer senders than needed", func(c *Cluster) { c.Gr = params.Cost{C0: 54e-6} }, 2, 1500e3, 3, 4, 2, false},
		{"G_al above G_au", func(c *Cluster) { c.Gr, c.BL = params.Cost{C0: 54e-6}, 1 }, 9, 1500e3, 3, 2, 2, false},
	} {
		c := tableOne(false)
		if tc.change != nil {
			tc.change(&c)
		}
		k, m := c.Packets(tc.bytes)
		if lo, hi := c.GatherLower(m), c.GatherUpper(m, k); lo != tc.lower || hi != tc.upper {
			t.Errorf("%s: G_al %g, G_au %g, want %g and %g", tc.name, lo, hi, tc.lower, tc.upper)
		}
		w, optimal, err := c.GatherWindow(tc.senders, tc.bytes)
		if err != nil || w != tc.w || optimal != tc.optimal {
			t.Errorf("%s: w = %d, optimal %v, %v, want %d, %v", tc.name, w, optimal, err, tc.w, tc.optimal)
		}
	}
}

// 64 KiB from each of 15 senders: 43 packets of 1500 bytes and one of 1036. Each message takes 5383.6208 µs at the port
// and 5349.8536 µs at its sender, the last packet 86.6228 and 85.4926 µs, and its way, with 16 hosts at work, 325.0635
// µs.
func TestGatherTableOne(t *testing.T) {
	c := tableOne(false)
	for w, want := range map[int]float64{
		15: 325.0635 + 15*5383.6208 - 86.6228,                     // the port
		4:  325.0635 + 15*5383.6208 - 86.6228,                     // the port still
		1:  325.0635 + 15*5349.8536 - 85.4926 + 14*70.2068,        // the chain of senders and 14 start signals
		99: 325.0635 + 15*5383.6208 - 86.6228,                     // no more than there are
		2:  325.0635 + max(15*5383.6208-86.6228, 8*5349.8536+600), // the port, not the chain of 8
	} {
		got, err := c.GatherTime(15, 65536, w)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "eq. 8", got, want*1e-6, 1e-8)
	}
	one, err := c.GatherTime(1, 1500, 1)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "one packet of one sender", one, 274.472e-6, 1e-12) // 44.32 + 143.696 + 76.526 + 9.93
	slow := c
	slow.Gr = params.Cost{C0: 1e-6}
	two, err := slow.GatherTime(2, 15000, 2)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "senders slower than the port", two, slow.oneWay(1500, 3)+9*c.Gs.Of(1500)+1e-6, 1e-12)
}

// 3,700 bytes are two packets of 1,500 and one of 700: gaps of 2·122.427 + 58.747 µs, the last packet's way with p
// hosts at work O_s 24.08 + L (16.684 + 1.556·p + 57.82) + O_r 42.206 + U_r 9.93 µs.
func TestScatterTableOne(t *testing.T) {
	c := tableOne(false)
	c.L.N = 0
	for _, tc := range []struct {
		p    int
		want float64
	}{
		{1, 0},
		{2, 2*122.427 + 153.832},
		{4, 3*303.601 - 58.747 + 150.72 + 4*1.556},
	} {
		got, err := c.Scatter(tc.p, 3700)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "scatter", got, tc.want*1e-6, 1e-12)
	}
	one, err := c.Scatter(2, 3000)
	if err != nil {
		t.Fatal(err)
	}
	gathered, err := c.GatherTime(1, 3000, 1)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "one message, as a gather from one", one, gathered-(c.Gr.Of(1500)-c.Gs.Of(1500)), 1e-12)
}

func TestPredictErrors(t *testing.T) {
	c := tableOne(false)
	none := Cluster{}
	calls := map[string]func() error{
		"no hosts":      func() error { _, err := c.Broadcast(0, 1); return err },
		"negative size": func() error { _, err := c.BroadcastPostal(4, -1); return err },
		"no packet":     func() error { _, err := none.Broadcast(4, 1); return err },
		"no receivers":  func() error { _, err := tableOne(false).Scatter(0, 1); return err },
		"endless":       func() error { _, err := c.GatherTime(4, math.Inf(1), 4); return err },
		"no window":     func() error { _, err := c.GatherTime(4, 1, 0); return err },
		"NaN":           func() error { _, _, err := c.GatherWindow(4, math.NaN()); return err },
		"no gaps":       func() error { _, _, err := Cluster{MTU: 1}.GatherWindow(4, 1); return err },
	}
	for name, call := range calls {
		if err := call(); !errors.Is(err, ErrPredict) {
			t.Errorf("%s: %v, want ErrPredict", name, err)
		}
	}
}

func near(t *testing.T, what string, got, want, rel float64) {
	t.Helper()
	if !(math.Abs(got-want) <= rel*math.Abs(want)) {
		t.Errorf("%s = %g, want %g within %g%%", what, got, want, 100*rel)
	}
}
