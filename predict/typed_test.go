package predict

import (
	"errors"
	"math"
	"os"
	"strings"
	"testing"

	"calib/bench/pattern"
	"calib/fit/loggp"
	"calib/params"
)

func mustType(t *testing.T, text string) *params.Params {
	t.Helper()
	p, err := Typed([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func close(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance*math.Abs(want)) {
		t.Errorf("%s is %g, want %g", what, got, want)
	}
}

// What papers print can be typed, and gives what they compute of it.
func TestTypedPapers(t *testing.T) {
	text, err := os.ReadFile("../examples/params-hku.yaml")
	if err != nil {
		t.Fatal(err)
	}
	hku := mustType(t, string(text))
	// Tam, Wang 2000, table 1: 15 senders of 1 MiB in packets of 1,500 B, eq. 3 to 7.
	g, err := Gather(hku, 16, 1500*1000, 15)
	if err != nil || g.Least != 1 || g.Most != 2 || g.Full == nil {
		t.Fatalf("%+v, %v: want G_al = ⌈122.427/123.186⌉ = 1, G_au = ⌊0.994 + 1935/1000⌋ = 2", g, err)
	}
	const gs, gr = 122.427e-6, 123.186e-6 // of 1,500 B
	close(t, "eq. 3", *g.Full, 1935/(15/gs-1/gr), 1e-9)
	close(t, "eq. 4", g.Kept, gs/(15*gr)+1935./15000, 1e-9)
	if best, err := Gather(hku, 16, 1500*1000, 0); err != nil || best.Window != 2 || best.Kept != 1 {
		t.Errorf("%+v, %v: want the window of eq. 7", best, err)
	}
	// Eq. 1: log₂p·(k·g_s + L − g_s), L = 24.32 + (16.684 + 1.556·16 + 0.0826·1500·max(1, 16·1500/(90·122.427))) + …
	q, err := New(hku, []string{Postal})
	if err != nil {
		t.Fatal(err)
	}
	tree, err := pattern.Find("bcast", "binomial")
	if err != nil {
		t.Fatal(err)
	}
	way := 6.37 + 0.0253*1500 + 16.684 + 1.556*16 + 0.0826*1500*(16*1500/(90*122.427)) + 12.176 + 0.0429*1500 + 9.93
	rows := q.Predict(Query{Pattern: tree, Hosts: 16, Bytes: 15000})
	close(t, "eq. 1", rows[0].Seconds, 4*(9*122.427+way)*1e-6, 1e-9)

	// Moritz, Frank 2001, table 4, with a cycle as a microsecond, of messages with two arguments.
	alewife := mustType(t, "hosts: 32\nL: 21us\no_s: 15us\no_r: 122us\ng: 45us\nG: 0\n")
	sync, err := Remap(alewife, loggp.Cube{}, 32, 1, true)
	if err != nil {
		t.Fatal(err)
	}
	close(t, "LogP, synchronous", sync.Alone, 316e-6, 1e-9)
	async, err := Remap(alewife, loggp.Cube{}, 32, 1, false)
	if err != nil {
		t.Fatal(err)
	}
	close(t, "LogP, asynchronous", async.Interval, 137e-6, 1e-9)
	of := func(p *params.Params, distance float64, sync bool) RemapPrediction {
		t.Helper()
		r, err := Remap(p, loggp.Cube{Dimension: 2, Distance: distance}, 32, 16384, sync)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if mesh := of(alewife, 1.9375, true); !(*mesh.Network > 0) || mesh.Interval <= sync.Interval {
		t.Errorf("on a mesh %+v", mesh)
	}
	mesh := of(alewife, 1.9375, false)
	close(t, "T_c, asynchronous on a mesh", mesh.Interval, 137e-6, 1e-9)
	close(t, "C_n, asynchronous", *mesh.Network, 31e-6, 0.02)
	// Without limit messages queue as long as hosts inject, at what gets as much as it takes: JSON has no number then.
	fast := mustType(t, "L: 5us\no_s: 3us\no_r: 3us\ng: 4us\nG: 2ns/B\n")
	if r := of(fast, 1, false); r.Interval != r.Alone || *r.Network != 0 || r.Resource != nil {
		t.Errorf("hosts of a switch that inject as fast as they can: %+v", r)
	}
	if r := of(fast, 3, false); r.Network != nil || !(*r.Resource < r.Interval*2) {
		t.Errorf("a full mesh: %+v", r)
	}

	// Strumpen 1994: γ_s = γ_h and ω = 0.2 of the transfer, no overhead of its own: G = (1 + 1)/max(1 + 0.2, 1).
	hiding := mustType(t, "overlap: {bytes: 4096, exchange: 1ms, overhead: 0.2ms}")
	o, err := NewOverlap(hiding)
	if err != nil {
		t.Fatal(err)
	}
	p, err := o.Predict(Overlapping{Hosts: 4, Messages: 1, Bytes: 4096, Work: 1e-3})
	if err != nil {
		t.Fatal(err)
	}
	close(t, "eq. 4", p.Gain.Value, 2/1.2, 1e-9)

	// Stoica, Sultan, Keyes 1994, section 3.1: a serial broadcast of a short message to N hosts takes (N+1)a + a_c.
	sparc := mustType(t, "hosts: 9\na: 859.52us\nb: 1.42us/B\na_c: 345.6us\nb_c: 0.92us/B\n")
	if q, err = New(sparc, []string{Hyperbolic}); err != nil {
		t.Fatal(err)
	}
	if tree, err = pattern.Find("bcast", "serial"); err != nil {
		t.Fatal(err)
	}
	rows = q.Predict(Query{Pattern: tree, Hosts: 9, Bytes: 1})
	close(t, "a serial broadcast", rows[0].Seconds, (9*859.52+345.6)*1e-6, 2e-3)
}

// L is LogGP's, L_cluster that of the cluster model; one with coefficients is the latter, as older files have it.
func TestTypedLs(t *testing.T) {
	const way = "{l0: 16.684us, l1: 1.556us, tau: 82.6ns/B}"
	for _, text := range []string{"L: 5us\nL_cluster: " + way, "L: " + way} {
		p := mustType(t, text)
		v, err := p.Get("L")
		if number := strings.HasPrefix(text, "L: 5us"); number != (err == nil) || number && math.Abs(v-5e-6) > 1e-15 {
			t.Errorf("%s: L %g, %v", text, v, err)
		}
		if at, err := p.Cost("L_cluster", 1000, 2); math.Abs(at-(16.684+2*1.556+82.6)*1e-6) > 1e-12 || err != nil {
			t.Errorf("%s: L_cluster(1000, 2) %g, %v", text, at, err)
		}
	}
}

func TestTypedFaults(t *testing.T) {
	for text, want := range map[string]string{
		"a: fast":                           `a: "fast": want a number from 0 on, in s`,
		"a: 3us/B":                          `a: "3us/B": want it in s`,
		"b: 3us":                            `b: "3us": want it in s/B`,
		"a: -3us":                           `a: "-3us": want a number`,
		"hosts: 1":                          "hosts: 1: want a number of hosts",
		"colour: 3":                         "colour: want hosts, overlap, or one of",
		"g_s: 3us":                          "g_s: want coefficients",
		"g_s: {c0: 3us}":                    "function g_s has c0: want c0 and c1",
		"L: {c0: 3us, c1: 0}":               "function L_cluster has c0 c1: want l0, l1 and tau",
		"O_s: {l0: 1us, l1: 1us, tau: 0}":   "function O_s has l0 l1 tau: want c0 and c1",
		"g_s: {c0: 3us, c1: 4us}":           `g_s, c1: "4us": want it in s/B`,
		"overlap: {f: 2, bytes: 1}":         "overlap: want bytes from 1",
		"overlap: {speed: 2}":               "overlap has speed",
		"overlap: {bytes: 1, exchange: 1h}": `overlap, exchange: "1h": want it in s`,
		"a: 1us\na: 2us":                    "already defined",
		"L: {l0: 1us, l1: 1us, tau: 0}\nL_cluster: {l0: 2us, l1: 1us, tau: 0}": "" +
			"both L with coefficients and L_cluster are given: want one",
	} {
		if _, err := Typed([]byte(text)); !errors.Is(err, ErrTyped) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func FuzzTyped(f *testing.F) {
	f.Add([]byte("hosts: 4\na: 3us\ng_s: {c0: 1us, c1: 2ns/B}\noverlap: {bytes: 4096, exchange: 1ms}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := Typed(text)
		if err != nil && !errors.Is(err, ErrTyped) {
			t.Fatal(err)
		}
		if err == nil {
			for name, q := range p.Parameters {
				if !(*q.Value >= 0) || math.IsInf(*q.Value, 0) {
					t.Errorf("%s is %g", name, *q.Value)
				}
			}
		}
	})
}

// Typed a_c = b_c = 0 are a switch, to the hyperbolic model and the simulation: a serial broadcast to 8 takes 9a for
// short messages and 8b for a byte of long ones (Stoica, Sultan, Keyes 1994, section 3.1). Without them the hyperbolic
// model has no network.
func TestTypedSwitch(t *testing.T) {
	const host = "hosts: 9\na: 10us\nb: 10ns/B\n"
	q, err := New(mustType(t, host+"a_c: 0\nb_c: 0\n"), []string{"sim", "hyperbolic"})
	if err != nil {
		t.Fatal(err)
	}
	serial, _ := pattern.Find("bcast", "serial")
	for bytes, want := range map[int]float64{1: 9 * 10e-6, 1 << 24: 8 << 24 * 1e-8} {
		for _, got := range q.Predict(Query{Pattern: serial, Hosts: 9, Bytes: bytes}) {
			close(t, got.Model+" of a switch "+got.Why, got.Seconds, want, 0.01)
		}
	}
	if _, err := New(mustType(t, host), []string{"hyperbolic"}); err == nil ||
		!strings.Contains(err.Error(), "a_c is missing; b_c is missing") {
		t.Errorf("without a_c and b_c: %v", err)
	}
	streams := mustType(t, host+"a_c: 0\nb_c: 1ns/B\n").Network
	if streams.Packets != params.Switch || streams.Streams != params.Shared {
		t.Errorf("a_c = 0 beside b_c: %+v", streams)
	}
}

// With a_c and b_c the network is a shared medium, to the simulation as well.
func TestTypedMedium(t *testing.T) {
	p := mustType(t, "hosts: 9\na: 859.52us\nb: 1.42us/B\na_c: 345.6us\nb_c: 0.92us/B\n")
	q, err := New(p, []string{"sim", "hyperbolic"})
	if err != nil {
		t.Fatal(err)
	}
	ring, _ := pattern.Find("neighbour", "ring")
	got := q.Predict(Query{Pattern: ring, Hosts: 9, Bytes: 65536})
	if len(got) != 2 || got[0].Seconds < 9*65536*0.92e-6 || got[1].Seconds < 9*65536*0.92e-6 {
		t.Errorf("%+v", got)
	}
}
