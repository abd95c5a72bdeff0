package export

import (
	"math"
	"strconv"
	"strings"
)

// readLogGOPSim reads the command line, as LogGOPSim's option parser does, and the unit of the comment.
func readLogGOPSim(file []byte) (simulator, error) {
	var q simulator
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

func checkLogGOPSim(file []byte, in *input) error {
	q, err := readLogGOPSim(file)
	if err != nil {
		return err
	}
	m := logGPOf(in)
	if err := in.err; err != nil {
		return err
	}
	return q.compare(m)
}
