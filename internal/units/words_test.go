package units

import (
	"math"
	"testing"
)

func TestPlural(t *testing.T) {
	for want, n := range map[string]int{"0 runs": 0, "1 run": 1, "2 runs": 2, "1,000 runs": 1000} {
		if got := Plural(n, "run"); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

func TestGrouped(t *testing.T) {
	for want, n := range map[string]int64{"0": 0, "999": 999, "1,000": 1000, "-999": -999, "-12,345": -12345,
		"1,234,567":                  1234567,
		"-9,223,372,036,854,775,808": math.MinInt64} {
		if got := Grouped(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}
