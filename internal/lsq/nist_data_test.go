package lsq

import (
	"bufio"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// strdFile finds a problem among those of the repository, and then in CALIB_NIST_DIR. It returns "" where there is
// none.
func strdFile(name string) string {
	for _, dir := range []string{filepath.Join("testdata", "strd"), os.Getenv("CALIB_NIST_DIR")} {
		path := filepath.Join(dir, name+".dat")
		if _, err := os.Stat(path); dir != "" && err == nil {
			return path
		}
	}
	return ""
}

// openSTRD opens a problem of the repository.
func openSTRD(t *testing.T, name string) *os.File {
	t.Helper()
	f, err := os.Open(strdFile(name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// strd is a parsed non-linear problem of the NIST Statistical Reference Datasets.
type strd struct {
	start         [2][]float64
	coef, se      []float64
	rss           float64
	y             []float64
	x             [][]float64 // one row of predictors per observation
	params, cases int
}

// readSTRD parses a .dat file: parameter lines "b1 = start1 start2 value sd",
// the certified residual sum of squares, then rows "y x…" after "Data:  y".
func readSTRD(t *testing.T, name string) *strd {
	t.Helper()
	d := &strd{}
	sc := bufio.NewScanner(openSTRD(t, name))
	inData := false
	for sc.Scan() {
		line := strings.TrimSpace(sc.Text())
		field := strings.Fields(line)
		switch {
		case inData && len(field) >= 2:
			v := numbers(t, field)
			d.y, d.x = append(d.y, v[0]), append(d.x, v[1:])
		case strings.HasPrefix(line, "Data:") && len(field) > 2 && field[1] == "y":
			inData = true
		case strings.HasPrefix(line, "Residual Sum of Squares:"):
			d.rss = numbers(t, field[len(field)-1:])[0]
		case strings.HasPrefix(line, "Number of Observations:"):
			d.cases = int(numbers(t, field[len(field)-1:])[0])
		case len(field) == 6 && strings.HasPrefix(field[0], "b") && field[1] == "=":
			v := numbers(t, field[2:])
			d.start[0], d.start[1] = append(d.start[0], v[0]), append(d.start[1], v[1])
			d.coef, d.se = append(d.coef, v[2]), append(d.se, v[3])
		}
	}
	d.params = len(d.coef)
	if sc.Err() != nil || len(d.y) != d.cases || d.params == 0 || d.rss == 0 {
		t.Fatalf("%s: parsed %d parameters, %d of %d observations: %v", name, d.params, len(d.y), d.cases, sc.Err())
	}
	return d
}

// readLinear reads the certified coefficients and the y and x columns of a linear problem, as decimal strings so that
// the reference solution can be computed from the exact data.
func readLinear(t *testing.T, name string) (certified, y []string, x [][]string) {
	t.Helper()
	sc := bufio.NewScanner(openSTRD(t, name))
	inData := false
	for sc.Scan() {
		field := strings.Fields(sc.Text())
		switch {
		case inData:
			y, x = append(y, field[0]), append(x, field[1:])
		case field[0] == "Data:":
			inData = true
		case len(field) == 3 && field[1] == "=":
			certified = append(certified, field[2])
		}
	}
	if sc.Err() != nil || len(y) == 0 || len(certified) == 0 {
		t.Fatalf("%s: %d coefficients, %d observations: %v", name, len(certified), len(y), sc.Err())
	}
	return certified, y, x
}

// numbers parses decimal fields.
func numbers(t *testing.T, field []string) []float64 {
	t.Helper()
	out := make([]float64, len(field))
	for i, s := range field {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil {
			t.Fatal(err)
		}
		out[i] = v
	}
	return out
}

// digits is NIST's LRE, the number of significant digits in which got agrees
// with want: −log10(|got − want|/|want|), between 0 and cap.
func digits(got, want, limit float64) float64 {
	diff := math.Abs(got - want)
	if want != 0 {
		diff /= math.Abs(want)
	}
	if diff == 0 {
		return limit
	}
	if math.IsNaN(diff) {
		return 0
	}
	return min(max(0, -math.Log10(diff)), limit)
}

// worst is the smallest number of digits over a vector.
func worst(got, want []float64, limit float64) float64 {
	d := limit
	if len(got) != len(want) {
		return 0
	}
	for i := range got {
		d = min(d, digits(got[i], want[i], limit))
	}
	return d
}
