package reports_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"calib/params"
	"calib/reports"
)

// A row with a slow host is shown and says so; what is said of the models leaves it out.
func TestValidationWithASlowHost(t *testing.T) {
	b, err := os.ReadFile("../params/testdata/params.json")
	if err != nil {
		t.Fatal(err)
	}
	p, err := params.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	text := func() string {
		var b strings.Builder
		if err := reports.ValidationText(&b, p, reports.Options{Width: 200}); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	if s := text(); !strings.Contains(s, "badly gathers off by 50.0%") || strings.Contains(s, "slow host") {
		t.Errorf("without slow hosts:\n%s", s)
	}
	p.Validation[2].SlowHost = true
	if s := text(); strings.Contains(s, "gathers") || !strings.Contains(s, "Unseen traffic: broadcasts off by 3.1% "+
		"(model sim)") ||
		!strings.Contains(s, "gather-direct, slow host") {
		t.Errorf("with one:\n%s", s)
	}
	for i := range p.Validation {
		p.Validation[i].SlowHost = true
	}
	if s := text(); !strings.Contains(s, "a slow host took part in all of it") {
		t.Errorf("with one everywhere:\n%s", s)
	}
}
