package export

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"calib/fit"
)

// eagerAlways is the S of LogGOPSim above any message, the largest int: over sockets no message waits for its receive.
const eagerAlways = math.MaxInt32

// logGOPSimTarget is the command line of LogGOPSim, which takes -L -o -g -G -O -S as int (loggopsim_cmdline.ggo). The unit of
// time is its user's: ps, or where G would lose digits in them the finest power of ten in which all fit.
//
// LogGOPSim has one o. It is the mean of o_s and o_r, and -L is rounded last, so that L + 2·o is L + o_s + o_r to half a
// unit. O is the slope of o_s where that is above zero.
func logGOPSimTarget() Target {
	return Target{
		Name: "loggopsim", File: "loggopsim.sh",
		About: "LogGOPSim: command line with L, o, g, G, O, S as integers, and their unit of time",
		Write: writeLogGOPSim, Check: checkLogGOPSim,
	}
}

// Steps of the choice of unit.
const (
	usualUnit  = -12 // 1 ps
	finestUnit = -15 // 1 fs
	coarsest   = -9  // 1 ns, what LogGOPSim's own defaults are in
	goodG      = 500 // units; half a unit of rounding is then 0.1%
)

// logGOPSOf rounds LogGP to a unit of 10^exp seconds.
func logGOPSOf(m logGP, exp int) logGOPS {
	per := math.Pow10(-exp)
	q := logGOPS{unit: math.Pow10(exp), o: round(m.o() * per), g: round(m.g * per), gb: math.Round(m.gb * per), perByte: round(m.perByte * per)}
	q.l = max(0, round(m.way()*per)-2*q.o)
	return q
}

// round rounds to the nearest integer; what is far beyond any int of LogGOPSim ends at 10^18.
func round(v float64) int64 { return int64(math.Min(math.Round(v), 1e18)) }

// fits reports whether all are an int.
func (q logGOPS) fits() bool {
	return max(q.l, q.o, q.g, q.perByte) <= math.MaxInt32 && q.gb <= math.MaxInt32
}

// chooseUnit returns the parameters in ps where that keeps G to 0.1%, else in the finest unit that they fit.
func chooseUnit(m logGP) (logGOPS, error) {
	if q := logGOPSOf(m, usualUnit); q.fits() && q.gb >= goodG {
		return q, nil
	}
	for exp := finestUnit; exp <= coarsest; exp++ {
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

func writeLogGOPSim(w io.Writer, p *fit.Params, o Options) ([]string, error) {
	m, warnings, err := logGPOf(p)
	if err != nil {
		return nil, err
	}
	n, err := o.hosts(p)
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
	off, more := against(p, "LogGP", m.at)
	warnings = append(warnings, more...)
	notes := append(off,
		"unit: "+number(q.unit)+" s. All times of LogGOPSim are in it: scale the calc times of the schedule to it, and its results back.",
		"o is the mean of o_s and o_r, and L + 2·o = L + o_s + o_r, so that a message takes as long as by LogGP.",
		"S is the largest there is: over sockets every message is eager. LogGOPSim knows no contention: see a_c, b_c and B_L of the run.",
		fmt.Sprintf("A schedule: schedgen --commsize %d --datasize 1024 --ptrn binomialtreebcast -o bcast.goal && txt2bin -i bcast.goal -o bcast.bin", n))
	if _, err := fmt.Fprintln(w, "#!/bin/sh"); err != nil {
		return nil, err
	}
	if err := comment(w, "# ", header(p, o, logGPNames[:], notes, warnings)); err != nil {
		return nil, err
	}
	_, err = fmt.Fprintf(w, "exec LogGOPSim -L %d -o %d -g %d -G %.0f -O %d -S %d -f \"${1:?usage: loggopsim.sh SCHEDULE.bin}\"\n",
		q.l, q.o, q.g, q.gb, q.perByte, eagerAlways)
	return warnings, err
}

// readLogGOPSim reads the command line, as LogGOPSim's option parser does, and the unit of the comment.
func readLogGOPSim(file []byte) (logGOPS, error) {
	var q logGOPS
	seen := map[string]int64{}
	for n, line := range strings.Split(string(file), "\n") {
		if text, ok := strings.CutPrefix(line, "# unit: "); ok {
			v, _, _ := strings.Cut(text, " ")
			var err error
			if q.unit, err = strconv.ParseFloat(v, 64); err != nil || !(q.unit > 0) || math.IsInf(q.unit, 1) {
				return q, syntax("line %d: unit %q", n+1, v)
			}
			continue
		}
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		for i := 0; i+1 < len(words); i++ {
			if name, ok := strings.CutPrefix(words[i], "-"); ok && name != "f" {
				v, err := strconv.ParseInt(words[i+1], 10, 32)
				if err != nil || v < 0 || len(name) != 1 || !strings.Contains("LogGOS", name) {
					return q, syntax("line %d: option -%s %s", n+1, name, words[i+1])
				}
				seen[name] = v
				i++
			}
		}
	}
	for _, name := range []string{"L", "o", "g", "G", "O", "S"} {
		if _, ok := seen[name]; !ok {
			return q, syntax("no option -%s", name)
		}
	}
	if q.unit == 0 {
		return q, syntax("no unit of time")
	}
	q.l, q.o, q.g, q.gb, q.perByte = seen["L"], seen["o"], seen["g"], float64(seen["G"]), seen["O"]
	return q, nil
}

func checkLogGOPSim(file []byte, p *fit.Params, _ Options) error {
	q, err := readLogGOPSim(file)
	if err != nil {
		return err
	}
	m, _, err := logGPOf(p)
	if err != nil {
		return err
	}
	return q.compare(m)
}
