package units

import "testing"

// A number without a unit has no prefix, which would be read as one: "4.308 m" is a length.
func TestFormatWithoutUnit(t *testing.T) {
	for v, want := range map[float64]string{4.308e-3: "0.004308", 12e6: "1.2e+07", 0: "0", -0.5: "-0.5"} {
		for _, unit := range []string{"1", ""} {
			if got := Format(v, unit); got != want {
				t.Errorf("Format(%g, %q) = %q, want %q", v, unit, got, want)
			}
		}
	}
}

func TestScaleAxis(t *testing.T) {
	for _, c := range []struct {
		size float64
		unit string
		by   float64
		name string
	}{
		{2e-5, "s", 1e-6, "µs"}, {-2e-5, "s", 1e-6, "µs"}, {5000, "s", 1, "s"}, {5000, "s/B", 1, "s/B"},
		{0, "s", 1e-15, "fs"},
		{1.2e8, "B/s", 1e6, "MB/s"}, {5000, "B", 1024, "KiB"}, {1000, "B", 1, "B"}, {0.5, "B", 1, "B"},
		{1 << 41, "B", 1 << 40, "TiB"},
		{5000, "1", 1, ""}, {5000, "%", 1, "%"}, {5000, "", 1, ""}, {5000, "packets", 1, "packets"},
	} {
		if by, name := ScaleAxis(c.unit, c.size); by != c.by || name != c.name {
			t.Errorf("ScaleAxis(%q, %v) = %v, %q; want %v, %q", c.unit, c.size, by, name, c.by, c.name)
		}
	}
}
