package lsq

import (
	"bufio"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// openSTRD opens a problem of the Statistical Reference Datasets.
func openSTRD(t *testing.T, name string) *os.File {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "strd", name+".dat"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
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

// digits is NIST's LRE, the number of significant digits in which got agrees with want: −log10(|got − want|/|want|),
// between 0 and cap.
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
