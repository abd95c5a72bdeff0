package pattern

import (
	"fmt"
	"os"
	"regexp"
	"testing"
)

// docs/reference/experiments.md says of every pattern what its M bytes are, and where it is from.
func TestMeasuring(t *testing.T) {
	text, err := os.ReadFile("../../docs/reference/experiments.md")
	if err != nil {
		t.Fatal(err)
	}
	table := `\| pattern \| name \| M: bytes \| \|\n\|---\|---\|---\|---\|\n`
	for _, p := range All {
		table += fmt.Sprintf("\\| %d \\| `%s` \\| [^|]+ \\| [^|]+ \\|\\n", p.ID, p.Name())
	}
	if !regexp.MustCompile(table).Match(text) {
		t.Errorf("docs/reference/experiments.md, section pattern, has no table that fits this:\n%s", table)
	}
}
