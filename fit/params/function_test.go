package params

import "testing"

func TestCoeffUnit(t *testing.T) {
	for _, c := range []struct{ form, coeff, want string }{
		{LineForm, "c0", "s"}, {LineForm, "c1", "s/B"}, {LineForm, "c2", ""}, {FloorForm, "floor", "s"}, {FloorForm, "c1", "s/B"},
		{SegmentsForm, "c0_1", "s"}, {SegmentsForm, "c1_12", "s/B"}, {SegmentsForm, "from_2", "B"},
		{BilinearForm, "l1", "s"}, {TransferForm, "tau", "s/B"}, {TransferForm, "N", "B/s"}, {"another", "c0", ""},
	} {
		if got := (Function{Form: c.form, Unit: "s"}).CoeffUnit(c.coeff); got != c.want {
			t.Errorf("%s in %q: %q, want %q", c.coeff, c.form, got, c.want)
		}
	}
}
