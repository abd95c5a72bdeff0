package files

import (
	"bytes"
	"encoding/csv"
	"slices"
	"strconv"
	"strings"
	"testing"

	"calib/internal/units"
)

func TestCell(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "node1": "node1", "a=b": "a=b", "-1.5e-06": "-1.5e-06", "+3": "+3", "-Inf": "-Inf", "'x": "'x",
		"=1+1": "'=1+1", `=HYPERLINK("http://x")`: `'=HYPERLINK("http://x")`, "+x": "'+x", "-x": "'-x", "@SUM(A1)": "'@SUM(A1)",
		"\t=1": "'\t=1", "\r=1": "·=1", "-": "'-", "-1+1": "'-1+1", "h\x1b[31m\u202e\u009b": "h·[31m··",
	} {
		if got := cell(in); got != want {
			t.Errorf("%q is written as %q, want %q", in, got, want)
		}
	}
}

// What is read back begins no formula, and is what was written but for the '.
func FuzzCell(f *testing.F) {
	f.Add("=1", "-2.5", "a,\"b\"")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		row := []string{a, b, "x" + c}
		var buf bytes.Buffer
		if err := NewSheet(&buf).WriteAll([][]string{row}); err != nil {
			t.Fatal(err)
		}
		got, err := csv.NewReader(&buf).Read()
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range got {
			if s != "" && slices.Contains([]byte("=+-@\t\r"), s[0]) {
				if _, err := strconv.ParseFloat(s, 64); err != nil {
					t.Errorf("%q is read as a formula: %q", row[i], s)
				}
			}
			if want := units.Printable(row[i]); s != want && strings.TrimPrefix(s, "'") != want {
				t.Errorf("%q is read as %q", row[i], s)
			}
		}
	})
}
