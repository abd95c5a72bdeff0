package pattern

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// docs/MEASURING.md holds the table of patterns word for word.
func TestMeasuring(t *testing.T) {
	text, err := os.ReadFile("../../docs/MEASURING.md")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("| pattern | name | M: bytes | |\n|---|---|---|---|\n")
	for _, p := range All {
		fmt.Fprintf(&b, "| %d | `%s` | %s | %s |\n", p.ID, p.Name(), p.Bytes, p.Source)
	}
	if !strings.Contains(string(text), b.String()) {
		t.Errorf("docs/MEASURING.md, section pattern, does not hold this table:\n%s", b.String())
	}
}
