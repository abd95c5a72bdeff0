package export

import (
	"math"
	"strconv"
	"strings"
)

// flatYAML reads what calib writes of YAML: one "key: value" a line, with comments. A parser of all of YAML was rejected: it takes
// more than these files may hold, and those for Go do not withstand every file.
func flatYAML(file []byte) (map[string]string, error) {
	out := map[string]string{}
	for i, line := range strings.Split(string(file), "\n") {
		line = " " + line
		line, _, _ = strings.Cut(line, " #") // a comment begins the line or follows a space
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		key, value, ok := strings.Cut(line, ": ")
		if _, twice := out[key]; !ok || twice {
			return nil, syntax("line %d: %q", i+1, line)
		}
		out[key] = strings.TrimSpace(value)
	}
	return out, nil
}

// only returns the one entry of a flow sequence, "[ 8 ]".
func only(list string) (string, error) {
	inner, ok := strings.CutPrefix(list, "[")
	inner, end := strings.CutSuffix(inner, "]")
	if inner = strings.TrimSpace(inner); !ok || !end || inner == "" || strings.ContainsAny(inner, ",[]{}") {
		return "", syntax("%q is not a list of one entry", list)
	}
	return inner, nil
}

// finiteNumber reads a number that is finite.
func finiteNumber(s string) (float64, error) {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, syntax("%q is not a number", s)
	}
	return v, nil
}
