package export

import (
	"fmt"
	"io"
	"math"
	"strconv"

	"calib/fit"
)

// atlahsTarget is the configuration of the LogGOPSim in ATLAHS: YAML with L, o, g, O, S as integers and G as a fraction, in ns
// (scripts/run_simulator.py, scripts/configs/lgs_hpc_config.yaml, sim/LogGOPSim/simulator.ggo of spcl/atlahs).
//
// Its rules differ from LogGOPSim's: the receiver is charged g for every message before its o, so that a message takes
// 2·o + L + g + (s−1)·G. L is written less g, which makes a message as long as by LogGP. O delays the message there, and is 0.
func atlahsTarget() Target {
	return Target{
		Name: "atlahs", File: "atlahs.yaml", NoHosts: true,
		About: "ATLAHS: configuration of its LogGOPSim, in ns, with G as a fraction",
		Write: writeAtlahs, Check: checkAtlahs,
	}
}

const nanosecond = 1e-9

func atlahsOf(m logGP) (logGOPS, error) {
	q := logGOPS{unit: nanosecond, gapOnReceipt: true, o: round(m.o() / nanosecond), g: round(m.g / nanosecond), gb: m.gb / nanosecond}
	q.l = round(m.way()/nanosecond) - 2*q.o - q.g
	if q.l < 0 || max(q.l, q.o, q.g) > math.MaxInt32 {
		return q, fmt.Errorf("latency less gap, L − g = %d ns: %w: ATLAHS charges g to the receiver of every message, and L must be 0 to 2^31−1 ns without it",
			q.l, ErrLimit)
	}
	return q, nil
}

func writeAtlahs(w io.Writer, p *fit.Params, o Options) ([]string, error) {
	m, warnings, err := logGPOf(p)
	if err != nil {
		return nil, err
	}
	m.perByte = 0
	q, err := atlahsOf(m)
	if err != nil {
		return nil, err
	}
	off, more := against(p, "LogGP", m.at)
	warnings = append(warnings, more...)
	notes := append(off,
		"Times in ns, rounded to 1 ns; G in ns a byte as it is.",
		"o is the mean of o_s and o_r. L is L + o_s + o_r − 2·o − g: ATLAHS charges g to the receiver of every message too.",
		"S is the largest there is: over sockets every message is eager. O is 0: it would delay messages, which LogGP has in G.")
	if err := comment(w, "# ", header(p, o, logGPNames[:], notes, warnings)); err != nil {
		return nil, err
	}
	_, err = fmt.Fprintf(w, "L: %d\no: %d\ng: %d\nG: %s\nO: 0\nS: %d\n", q.l, q.o, q.g, decimal(q.gb, -1), eagerAlways)
	return warnings, err
}

func readAtlahs(file []byte) (logGOPS, error) {
	m, err := flatYAML(file)
	if err != nil {
		return logGOPS{}, err
	}
	q := logGOPS{unit: nanosecond, gapOnReceipt: true}
	var eager int64
	for key, v := range map[string]*int64{"L": &q.l, "o": &q.o, "g": &q.g, "O": &q.perByte, "S": &eager} {
		if *v, err = strconv.ParseInt(m[key], 10, 32); err != nil || *v < 0 {
			return q, syntax("L, o, g, O and S must all be there, each from 0 to 2^31−1: %s is %q", key, m[key])
		}
	}
	if q.gb, err = finiteNumber(m["G"]); err != nil || !(q.gb > 0) || q.gb > math.MaxInt32 {
		return q, syntax("G must be there, positive, and below 2^31: it is %q", m["G"])
	}
	return q, nil
}

func checkAtlahs(file []byte, p *fit.Params, _ Options) error {
	q, err := readAtlahs(file)
	if err != nil {
		return err
	}
	m, _, err := logGPOf(p)
	if err != nil {
		return err
	}
	m.perByte = 0
	return q.compare(m)
}
