package export

import (
	"fmt"
	"math"
	"strings"

	"calib/params"
)

// affine is the time of a message of x bytes on an idle network, α + β·x, from handing it over to having it.
type affine struct {
	alpha, beta float64 // s, s/B
	from        []string
}

func (a affine) at(x float64) float64 { return a.alpha + a.beta*x }

// affineOf takes α and β of Hockney's model of T(x); without it LogGP's L + o_s + o_r + (x−1)·G, which has that form
// too.
func affineOf(in *input) (a affine, err error) {
	a.from = []string{"alpha", "beta"}
	v, err := in.needAll(a.from...)
	a.alpha, a.beta = v[0], v[1]
	if err != nil { // ping-pong is quicker to measure than LogGP: its error is given
		a.from = []string{"L", "o_s", "o_r", "G"}
		v, other := in.needAll(a.from...)
		if other != nil {
			return a, err
		}
		a.alpha, a.beta = v[0]+v[1]+v[2]-v[3], v[3]
	}
	if a.alpha < 0 || !(a.beta > 0) {
		return a, fmt.Errorf("a message takes %g s + %g s/B by %s: %w: it must not be negative, and must grow with the size",
			a.alpha, a.beta, strings.Join(a.from, ", "), ErrLimit)
	}
	return a, nil
}

const tolerated = 0.1 // the largest relative error of a model of which its users need not be warned

// compareWithMeasured compares the times of a target's model with the measured T(x): the outcome is a note, or a
// warning where the model is off by more than a tenth somewhere.
func compareWithMeasured(in *input, what string, at func(bytes float64) float64) {
	points := in.Params.Times()
	if len(points) == 0 {
		return
	}
	sum, worst, where := 0.0, 0.0, 0.0
	for _, q := range points {
		e := at(q.X)/q.Measured - 1
		if sum += math.Abs(e); math.Abs(e) > math.Abs(worst) {
			worst, where = e, q.X
		}
	}
	say := in.notef
	if math.Abs(worst) > tolerated {
		say = in.warnf
	}
	say("against the measured T(x), %s is off by %.1f%% on average, and by %+.1f%% at most, at %.0f bytes", what,
		100*sum/float64(len(points)), 100*worst, where)
}

// logGP is LogGP in seconds: a message of s bytes takes
//
//	T(s) = L + o_s + o_r + (s−1)·G,
//
// and one host's messages start max(o, g + (s−1)·G) apart. Source: Alexandrov, Ionescu, Schauser, Scheiman 1997.
type logGP struct {
	l, os, or, g, gb float64 // L, o_s, o_r, g in s, G in s/B
	perByte          float64 // of o_s, s/B; 0 where it cannot be told from zero
}

// logGPOf returns the model, and warns of what a simulator with one gap and one overhead cannot say of it.
func logGPOf(in *input) logGP {
	names := []string{"L", "o_s", "o_r", "g", "G"}
	in.showUsed(names...)
	v, err := in.needAll(names...)
	in.fail(err)
	m := logGP{l: v[0], os: v[1], or: v[2], g: v[3], gb: v[4]}
	if f, ok := in.function("o_s"); ok && f.Form == params.Line && f.CI95["c1"][0] > 0 {
		m.perByte = f.Coeff["c1"]
	}
	switch {
	case m.oneByte() <= 0:
		in.failf("way of one byte, L + o_s + o_r = %g s: %w: it must be positive", m.oneByte(), ErrLimit)
	case m.g < 0 || !(m.gb > 0):
		in.failf("g = %g s, G = %g s/B: %w: g must not be negative, G must be positive", m.g, m.gb, ErrLimit)
	case m.oneByte() < 2*m.o():
		in.failf("latency L = %g s: %w: it must not be negative", m.l, ErrLimit)
	}
	in.warnOfSlowPairs()
	if m.os+m.or < 0 {
		in.warnf("o_s + o_r = %g s is below zero within the noise: o is 0, and L holds the difference", m.os+m.or)
	}
	if m.os > m.g || m.o() > m.g {
		in.warnf("o_s is longer than g: the simulator sends short messages o apart, and o is the mean of o_s and o_r")
	}
	if m.perByte > m.gb {
		in.warnf("o_s grows by %g s a byte, more than G: the file has G there", m.perByte)
		m.perByte = m.gb
	}
	if _, _, ok := in.pieces("gap"); ok {
		in.warnf("gap(s) of this run is not one line: g is of its first segment, G of its last, and sizes between them " +
			"are off")
	}
	return m
}

// o is the overhead of a simulator that has one for both ends: the mean of o_s and o_r, so that a message takes as
// long.
func (m logGP) o() float64 { return math.Max(0, (m.os+m.or)/2) }

// oneByte is the time of a message of one byte, L + o_s + o_r [s].
func (m logGP) oneByte() float64 { return m.l + m.os + m.or }

func (m logGP) at(s float64) float64 { return m.oneByte() + (s-1)*m.gb }

// logGOPS are the parameters of LogGOPSim in a unit of time of its user's choice.
type logGOPS struct {
	l, o, g, perByte int64   // L, o, g, O
	gb               float64 // G, a whole number
	unit             float64 // s
}

// eagerAlways is an S above any message, the largest int: over sockets no message waits for its receive.
const eagerAlways = math.MaxInt32

// round rounds to the nearest integer; what is far beyond any int of LogGOPSim ends at 10^18.
func round(v float64) int64 { return int64(math.Min(math.Round(v), 1e18)) }

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
func writeAstraSim(in *input) []byte {
	a, err := affineOf(in)
	in.fail(err)
	npus := in.hostCount()
	bandwidth, latency := 1/a.beta/astraGB, a.alpha/astraHops/nanosecond // GB/s, ns
	if math.IsInf(latency, 0) || math.IsInf(1/bandwidth, 0) || math.IsInf(bandwidth, 0) {
		in.failf("a message takes %g s + %g s/B: %w in GB/s and ns", a.alpha, a.beta, ErrLimit)
	}
	in.showUsed(a.from...)
	in.warnOfSlowPairs()
	compareWithMeasured(in, "latency + size/bandwidth", a.at)
	in.warnf("the congestion-aware backend stores and forwards a chunk at the switch and counts its bytes twice: " +
		"the file is for the congestion-unaware one")
	return in.render("astra-sim", map[string]any{
		"alpha": a.alpha, "beta": a.beta, "npus": npus, "bandwidth": bandwidth, "latency": latency,
	})
}

// writeAtlahs writes the configuration of the LogGOPSim in ATLAHS: YAML with L, o, g, O, S as integers and G as a
// fraction, in ns (scripts/run_simulator.py, scripts/configs/lgs_hpc_config.yaml, sim/LogGOPSim/simulator.ggo of
// spcl/atlahs).
//
// Its rules differ from LogGOPSim's: the receiver is charged g for every message before its o, so that a message takes
// 2·o + L + g + (s−1)·G, and several to one host come g apart, not g + (s−1)·G. L is written less g, which makes a
// message as long as by LogGP. O delays the message there, and is 0.
func writeAtlahs(in *input) []byte {
	m := logGPOf(in)
	o, g, gb := round(m.o()/nanosecond), round(m.g/nanosecond), m.gb/nanosecond
	l := round(m.oneByte()/nanosecond) - 2*o - g
	if l < 0 && in.zero("L") { // an L that is taken for zero cannot be g less
		in.warnf("every message takes %d ns longer than by LogGP: ATLAHS charges g to its receiver", -l)
		l = 0
	}
	switch {
	case l < 0 || max(l, o, g) > math.MaxInt32:
		in.failf("latency less gap, L − g = %d ns: %w: ATLAHS charges g to the receiver of every message, "+
			"and L must be 0 to 2^31−1 ns without it", l, ErrLimit)
	case gb > math.MaxInt32:
		in.failf("gap per byte G = %g s/B: %w: G must be below 2^31 ns", m.gb, ErrLimit)
	}
	compareWithMeasured(in, "LogGP", m.at)
	in.warnf("messages from several senders to one host come g apart, however long they are: ATLAHS charges G to the " +
		"sender only")
	return in.render("atlahs", map[string]any{"L": l, "o": o, "g": g, "G": gb, "S": eagerAlways})
}

const (
	dimemasMB  = 1 << 20 // B
	wholeBuses = 0.05    // the relative error by rounding the buses of which users need not be warned
)

// busesOf returns how many messages of beta [s/B] the network carries at once, 0 for any number. It notes what a reader
// must know of it, and warns where whole buses are far from the fit.
func busesOf(in *input, beta float64) int {
	bc, ok := in.found("b_c")
	if !ok || !(bc > 0) {
		in.notef("Buses 0, no limit: the run found no network that its hosts share (b_c).")
		return 0
	}
	n := math.Max(1, math.Round(beta/bc))
	if n > maxHosts {
		in.failf("%g buses, for a message's own %g s/B over b_c = %g s/B: %w: want at most %d", n, beta, bc, ErrLimit,
			maxHosts)
	}
	if off := n*bc/beta - 1; math.Abs(off) > wholeBuses {
		in.warnf("buses are whole: with all of them busy the network's rate is %+.0f%% off", 100*off)
	}
	in.notef("Buses %.0f: a message's own time per byte over the network's, %g s/B over b_c = %g s/B.", n, beta, bc)
	return int(n)
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
func writeDimemas(in *input) []byte {
	a, err := affineOf(in)
	in.fail(err)
	nodes := in.hostCount()
	in.showUsed(append(a.from, "b_c")...)
	in.warnOfSlowPairs()
	compareWithMeasured(in, "latency + size/bandwidth", a.at)
	buses := busesOf(in, a.beta)
	in.warnf("the sender is busy for the whole startup, and so is the receiver from when it starts to receive: " +
		"short messages from several senders to one host come a startup apart. Dimemas does not split it into overheads " +
		"and latency")
	return in.render("dimemas", map[string]any{
		"nodes": nodes, "bandwidth": 1 / a.beta / dimemasMB, "buses": buses, "startup": a.alpha,
	})
}

const goodG = 500 // units; half a unit of rounding is then 0.1%

// exponents of the units of time [powers of ten of a second]: 1 ps, then from fine to coarse 1 fs to 1 ns, what
// LogGOPSim's own defaults are in.
var exponents = [...]int{-12, -15, -14, -13, -12, -11, -10, -9}

// chooseUnit returns the parameters in ps where that keeps G to 0.1%, else in the finest unit that they fit.
func chooseUnit(m logGP) (logGOPS, error) {
	least := float64(goodG)
	for _, exp := range exponents {
		per := math.Pow10(-exp)
		q := logGOPS{unit: math.Pow10(exp), o: round(m.o() * per), g: round(m.g * per), gb: math.Round(m.gb * per),
			perByte: round(m.perByte * per)}
		q.l = max(0, round(m.oneByte()*per)-2*q.o)
		if max(q.l, q.o, q.g, q.perByte) <= math.MaxInt32 && q.gb <= math.MaxInt32 && q.gb >= least {
			return q, nil
		}
		least = 1
	}
	return logGOPS{}, fmt.Errorf("latency L = %g s and gap per byte G = %g s/B in one unit of time: %w: LogGOPSim reads "+
		"integers below 2^31; target atlahs has G as a fraction", m.l, m.gb, ErrLimit)
}

// writeLogGOPSim writes the command line of LogGOPSim, which takes -L -o -g -G -O -S as int (loggopsim_cmdline.ggo).
// The unit of time is its user's: ps, or where G would lose digits in them the finest power of ten in which all fit.
//
// LogGOPSim has one o. It is the mean of o_s and o_r, and -L is rounded last, so that L + 2·o is L + o_s + o_r to half
// a unit. O is the slope of o_s where that is above zero.
func writeLogGOPSim(in *input) []byte {
	m, n := logGPOf(in), in.hostCount()
	q, err := chooseUnit(m)
	in.fail(err)
	if q.gb < goodG {
		in.warnf("G is %g units of %g s, off by %.2g%%: LogGOPSim reads integers below 2^31, and L allows no finer unit",
			q.gb, q.unit, 100*math.Abs(q.gb*q.unit/m.gb-1))
	}
	compareWithMeasured(in, "LogGP", m.at)
	return in.render("loggopsim", map[string]any{
		"unit": q.unit, "hosts": n, "L": q.l, "o": q.o, "g": q.g, "G": q.gb, "O": q.perByte, "S": eagerAlways,
	})
}
