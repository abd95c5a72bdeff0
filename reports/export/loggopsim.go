package export

import (
	"bytes"
	"fmt"
	"math"

	"calib/reports/export/input"
)

// Powers of ten of a second that the unit of time is chosen from.
const (
	usualUnit    = -12 // 1 ps
	finestUnit   = -15 // 1 fs
	coarsestUnit = -9  // 1 ns, what LogGOPSim's own defaults are in
	goodG        = 500 // units; half a unit of rounding is then 0.1%
)

// logGOPSOf rounds LogGP to a unit of 10^exp seconds.
func logGOPSOf(m logGP, exp int) logGOPS {
	per := math.Pow10(-exp)
	q := logGOPS{unit: math.Pow10(exp), o: round(m.o() * per), g: round(m.g * per), gb: math.Round(m.gb * per), perByte: round(m.perByte * per)}
	q.l = max(0, round(m.oneByte()*per)-2*q.o)
	return q
}

// fits reports whether all parameters are an int.
func (q logGOPS) fits() bool {
	return max(q.l, q.o, q.g, q.perByte) <= math.MaxInt32 && q.gb <= math.MaxInt32
}

// chooseUnit returns the parameters in ps where that keeps G to 0.1%, else in the finest unit that they fit.
func chooseUnit(m logGP) (logGOPS, error) {
	if q := logGOPSOf(m, usualUnit); q.fits() && q.gb >= goodG {
		return q, nil
	}
	for exp := finestUnit; exp <= coarsestUnit; exp++ {
		if q := logGOPSOf(m, exp); q.fits() {
			if q.gb < 1 {
				break
			}
			return q, nil
		}
	}
	return logGOPS{}, fmt.Errorf("latency L = %g s and gap per byte G = %g s/B in one unit of time: %w: LogGOPSim reads integers below 2^31; target atlahs has G as a fraction",
		m.l, m.gb, ErrLimit)
}

// writeLogGOPSim writes the command line of LogGOPSim, which takes -L -o -g -G -O -S as int (loggopsim_cmdline.ggo).
// The unit of time is its user's: ps, or where G would lose digits in them the finest power of ten in which all fit.
//
// LogGOPSim has one o. It is the mean of o_s and o_r, and -L is rounded last, so that L + 2·o is L + o_s + o_r to half
// a unit. O is the slope of o_s where that is above zero.
func writeLogGOPSim(b *bytes.Buffer, in *input.Input) ([]string, error) {
	m, warnings, err := logGPOf(in)
	if err != nil {
		return nil, err
	}
	n, err := in.HostCount()
	if err != nil {
		return nil, err
	}
	q, err := chooseUnit(m)
	if err != nil {
		return nil, err
	}
	if q.gb < goodG {
		warnings = append(warnings, fmt.Sprintf("G is %g units of %g s, off by %.2g%%: LogGOPSim reads integers below 2^31, and L allows no finer unit",
			q.gb, q.unit, 100*math.Abs(q.gb*q.unit/m.gb-1)))
	}
	notes, off := compareWithMeasured(in, "LogGP", m.at)
	warnings = append(warnings, off...)
	notes = append(notes,
		"unit: "+input.Number(q.unit)+" s. All times of LogGOPSim are in it: scale the calc times of the schedule to it, and its results back.",
		"o is the mean of o_s and o_r, and L + 2·o = L + o_s + o_r, so that a message takes as long as by LogGP.",
		"S is the largest there is: over sockets every message is eager. LogGOPSim knows no contention: see a_c, b_c and B_L of the run.",
		fmt.Sprintf("A schedule: schedgen --commsize %d --datasize 1024 --ptrn binomialtreebcast -o bcast.goal && txt2bin -i bcast.goal -o bcast.bin", n))
	fmt.Fprintln(b, "#!/bin/sh")
	in.WriteHeader(b, "# ", logGPNames(), notes, warnings)
	fmt.Fprintf(b, "exec LogGOPSim -L %d -o %d -g %d -G %.0f -O %d -S %d -f \"${1:?usage: loggopsim.sh SCHEDULE.bin}\"\n",
		q.l, q.o, q.g, q.gb, q.perByte, eagerAlways)
	return warnings, nil
}
