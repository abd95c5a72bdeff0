package reports_test

import (
	"strings"
	"testing"

	"calib/fit/fittest"
	"calib/reports"
)

// A row with a slow host is shown and says so; what is said of the models leaves it out.
func TestValidationWithASlowHost(t *testing.T) {
	p := fittest.SparcParams()
	text := func() string {
		var b strings.Builder
		if err := reports.ValidationText(&b, p, reports.Options{Width: 200}); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	if s := text(); !strings.Contains(s, "not gathers (50.0% off") || strings.Contains(s, "slow host") {
		t.Errorf("without slow hosts:\n%s", s)
	}
	p.Validation[2].SlowHost = true
	if s := text(); strings.Contains(s, "gathers") || !strings.Contains(s, "4KiB, without a slow host, model sim predicts broadcasts") ||
		!strings.Contains(s, "gather-direct, slow host") {
		t.Errorf("with one:\n%s", s)
	}
	for i := range p.Validation {
		p.Validation[i].SlowHost = true
	}
	if s := text(); !strings.Contains(s, "A slow host took part in all traffic") {
		t.Errorf("with one everywhere:\n%s", s)
	}
}
