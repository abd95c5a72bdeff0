package export

import (
	"bytes"
	"fmt"
	"math"

	"calib/reports/export/input"
)

// atlahsOf rounds LogGP to ns. longer is how much longer a message then takes than by LogGP [ns]: ATLAHS charges g to
// the receiver of every message, and an L that was taken for zero cannot be less that.
func atlahsOf(m logGP, zeroL bool) (q logGOPS, longer int64, err error) {
	q = logGOPS{unit: nanosecond, o: round(m.o() / nanosecond), g: round(m.g / nanosecond), gb: m.gb / nanosecond}
	q.l = round(m.oneByte()/nanosecond) - 2*q.o - q.g
	if q.l < 0 && zeroL {
		longer, q.l = -q.l, 0
	}
	switch {
	case q.l < 0 || max(q.l, q.o, q.g) > math.MaxInt32:
		return q, 0, fmt.Errorf("latency less gap, L − g = %d ns: %w: ATLAHS charges g to the receiver of every message, and L must be 0 to 2^31−1 ns without it",
			q.l, ErrLimit)
	case q.gb > math.MaxInt32:
		return q, 0, fmt.Errorf("gap per byte G = %g s/B: %w: G must be below 2^31 ns", m.gb, ErrLimit)
	}
	return q, longer, nil
}

// writeAtlahs writes the configuration of the LogGOPSim in ATLAHS: YAML with L, o, g, O, S as integers and G as a
// fraction, in ns (scripts/run_simulator.py, scripts/configs/lgs_hpc_config.yaml, sim/LogGOPSim/simulator.ggo of
// spcl/atlahs).
//
// Its rules differ from LogGOPSim's: the receiver is charged g for every message before its o, so that a message takes
// 2·o + L + g + (s−1)·G, and several to one host come g apart, not g + (s−1)·G. L is written less g, which makes a
// message as long as by LogGP. O delays the message there, and is 0.
func writeAtlahs(b *bytes.Buffer, in *input.Input) ([]string, error) {
	m, warnings, err := logGPOf(in)
	if err != nil {
		return nil, err
	}
	q, longer, err := atlahsOf(m, in.TakenForZero("L"))
	if err != nil {
		return nil, err
	}
	if longer > 0 {
		warnings = append(warnings, fmt.Sprintf("every message takes %d ns longer than by LogGP: ATLAHS charges g to its receiver", longer))
	}
	notes, off := compareWithMeasured(in, "LogGP", m.at)
	warnings = append(warnings, off...)
	warnings = append(warnings, "messages from several senders to one host come g apart, however long they are: ATLAHS charges G to the sender only")
	notes = append(notes,
		"Times in ns, rounded to 1 ns; G in ns a byte as it is.",
		"o is the mean of o_s and o_r. L is L + o_s + o_r − 2·o − g: ATLAHS charges g to the receiver of every message too.",
		"S is the largest there is: over sockets every message is eager. O is 0: it would delay messages, which LogGP has in G.")
	in.WriteHeader(b, "# ", logGPNames(), notes, warnings)
	fmt.Fprintf(b, "L: %d\no: %d\ng: %d\nG: %s\nO: 0\nS: %d\n", q.l, q.o, q.g, input.Decimal(q.gb, -1), eagerAlways)
	return warnings, nil
}
