package export

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// dimemas is what of a configuration bears on messages between nodes.
type dimemas struct {
	nodes     int
	bandwidth float64 // MB/s
	buses     int     // 0: no limit
	startup   float64 // s
	in, out   int     // links of a node
}

// dimemasRecord is a record of one line, as sscanf takes it; a closing brace ends the fields.
var dimemasRecord = regexp.MustCompile(`^"([a-z ]+)" \{([^}]+)\};;$`)

// dimemasFields is how many fields a record of each kind has.
func dimemasFields(kind string) int {
	return map[string]int{
		"wide area network information": 7, "environment information": 7, "multi node information": 14,
		"predefined mapping information": 1, "configuration files": 4, "file system parameters": 5,
	}[kind]
}

// readDimemas reads a configuration: a first line with the magic words, then records, blank lines, lines with "//"
// anywhere, and blocks from a line with "/*" to one with "*/". Nodes must be as many as the machine has.
func readDimemas(file []byte) (dimemas, error) {
	var d dimemas
	lines := strings.Split(string(file), "\n")
	if !strings.Contains(lines[0][:min(len(lines[0]), 31)], "#DIMEMAS_CONFIGURATION") {
		return d, syntax("line 1: not #DIMEMAS_CONFIGURATION")
	}
	block, machine, defined := false, 0, map[string]int{}
	for i, line := range lines[1:] {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || strings.Contains(line, "//"):
		case strings.Contains(line, "/*"):
			block = true
		case strings.Contains(line, "*/"):
			block = false
		case !block:
			kind, fields, err := dimemasLine(line)
			if err != nil {
				return d, syntax("line %d: %v", i+2, err)
			}
			defined[kind]++
			if err := d.take(kind, fields, &machine); err != nil {
				return d, syntax("line %d: %s: %v", i+2, kind, err)
			}
		}
	}
	switch {
	case defined["wide area network information"] != 1 || defined["environment information"] != 1:
		return d, syntax("want one record of the wide area network and one of the environment")
	case d.nodes != machine:
		return d, syntax("%d nodes defined of %d", d.nodes, machine)
	}
	return d, nil
}

func dimemasLine(line string) (string, []string, error) {
	m := dimemasRecord.FindStringSubmatch(line)
	if m == nil {
		return "", nil, syntax("not a record: %q", line)
	}
	fields := strings.Split(m[2], ",")
	for i := range fields {
		fields[i] = strings.TrimSpace(fields[i])
	}
	if n := dimemasFields(m[1]); n != len(fields) {
		return "", nil, syntax("%q has %d fields, want %d", m[1], len(fields), n)
	}
	return m[1], fields, nil
}

// take reads the fields that bear on messages between nodes; machine is how many nodes the machine has.
func (d *dimemas) take(kind string, f []string, machine *int) (err error) {
	whole := func(i int) int {
		n, e := strconv.Atoi(f[i])
		if e != nil || n < 0 {
			err = syntax("field %d is %q, want a number of 0 or more", i+1, f[i])
		}
		return n
	}
	real := func(i int) float64 {
		v, e := strconv.ParseFloat(f[i], 64)
		if e != nil || !(v >= 0) {
			err = syntax("field %d is %q, want a number of 0 or more", i+1, f[i])
		}
		return v
	}
	switch kind {
	case "wide area network information":
		if n := whole(1); n != 1 {
			return syntax("%d machines, want 1", n)
		}
	case "environment information":
		*machine, d.bandwidth, d.buses = whole(3), real(4), whole(5)
	case "multi node information":
		d.nodes += whole(1)
		d.startup, d.in, d.out = real(10), whole(11), whole(12)
	}
	return err
}

// transfer returns the time [s] in which n pairs of nodes that start together have each sent x bytes.
func (d dimemas) transfer(n int, x float64) float64 {
	turns := 1.0
	if d.buses > 0 {
		turns = math.Ceil(float64(n) / float64(d.buses))
	}
	return d.startup + turns*x/(d.bandwidth*dimemasMB)
}

func checkDimemas(file []byte, in *input) error {
	d, err := readDimemas(file)
	if err != nil {
		return err
	}
	a, err := affineOf(in)
	if err != nil {
		return err
	}
	nodes := in.hostCount()
	if err := in.err; err != nil {
		return err
	}
	for _, x := range checkedSizes {
		if got := d.transfer(1, x); !within(got, a.at(x), 0) {
			return mismatch(fmt.Sprintf("the time of %g bytes", x), got, a.at(x), "s")
		}
	}
	bc, ok := in.found("b_c")
	switch {
	case d.nodes != nodes:
		return mismatch("the number of nodes", float64(d.nodes), float64(nodes), "hosts")
	case !ok && d.buses != 0:
		return mismatch("the number of buses", float64(d.buses), 0, "messages")
	case ok && bc > 0 && d.buses > 1: // half a bus is the rounding
		if perByte := a.beta / float64(d.buses); !within(perByte, bc, 0.5*bc/float64(d.buses)+0.5*bc*bc/a.beta) {
			return mismatch("the network's time per byte", perByte, bc, "s/B")
		}
	}
	return nil
}

// TestBuses: a shared medium has as many buses as it carries messages at their own rate at once.
func TestBuses(t *testing.T) {
	for _, c := range []struct {
		bc    float64
		buses int
		warns bool
	}{{2.56e-7, 1, false}, {6.4e-8, 4, false}, {5.5e-8, 5, true}, {1e-3, 1, true}} {
		p := set(fixture(), "b_c", c.bc)
		file, warnings, err := lookup(t, "dimemas").Export(p, Options{})
		if err != nil {
			t.Fatal(err)
		}
		d, err := readDimemas(file)
		if err != nil || d.buses != c.buses {
			t.Errorf("b_c = %g: %d buses, %v; want %d", c.bc, d.buses, err, c.buses)
		}
		if warns := strings.Contains(strings.Join(warnings, "\n"), "buses are whole"); warns != c.warns {
			t.Errorf("b_c = %g: warnings %q", c.bc, warnings)
		}
	}
}
