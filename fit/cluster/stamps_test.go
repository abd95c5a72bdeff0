package cluster_test

import (
	"errors"
	"math"
	"testing"

	"calib/fit"
	"calib/fit/cluster"
	"calib/fit/fittest"
	"calib/fit/form"
	"calib/fit/params"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
)

func fitStamps(t *testing.T, d *dataset.Dataset) *params.Fit {
	t.Helper()
	f, err := cluster.Stamps{}.Fit(fit.Prepare(d, fit.Settings{Replicates: 100}))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// finding returns the first finding of a code, about a subject where one is named.
func finding(t *testing.T, f *params.Fit, code params.Code, subject string) params.Finding {
	t.Helper()
	for _, found := range f.Findings {
		if found.Code == code && (subject == "" || found.Subject == subject) {
			return found
		}
	}
	t.Fatalf("no finding %s about %q in %+v", code, subject, f.Findings)
	return params.Finding{}
}

// The parts are found again, whatever the offset of the clocks, and add up to half the round trip.
func TestStamps(t *testing.T) {
	w := fittest.Stamps()
	w.Noise, w.NIC = 0.01, true
	f := fitStamps(t, w.Dataset())
	sum := func(c ...form.Cost) form.Cost {
		var out form.Cost
		for _, q := range c {
			out.C0, out.C1 = out.C0+q.C0, out.C1+q.C1
		}
		return out
	}
	for name, want := range map[string]form.Cost{
		"stamps_O_s": sum(w.Send, form.Cost{C0: w.Cost}), "stamps_queue": w.Queue, "stamps_L": w.Way, "stamps_wakeup": sum(w.Take, w.Wake),
		"stamps_U_r": w.Receive, "stamps_O_r": w.Take, "stamps_nic": {C0: w.Way.C0 / 2, C1: w.Way.C1 / 2},
	} {
		c, err := f.Functions[name].Cost()
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range []float64{1, 1401} {
			if got := c.Of(m); math.Abs(got-want.Of(m)) > 0.005*want.Of(m)+20e-9 {
				t.Errorf("%s(%g) = %g s, want %g", name, m, got, want.Of(m))
			}
		}
	}
	if v := *f.Parameters["identity_stamps"].Value; math.Abs(v) > 0.002 {
		t.Errorf("identity_stamps = %g", v)
	}
	if v := *f.Parameters["stamps_cost"].Value; math.Abs(v-w.Cost) > 50e-9 {
		t.Errorf("stamps_cost = %g s, want %g", v, w.Cost)
	}
	if got := finding(t, f, params.StampSum, ""); got.Level != params.Note || got.Values["worst"] > 0.005 {
		t.Errorf("%+v", got)
	}
	parts := finding(t, f, params.StampParts, "")
	total := 0.0
	for _, name := range []string{"stamps_O_s", "stamps_queue", "stamps_L", "stamps_wakeup", "stamps_U_r"} {
		total += parts.Values[name]
	}
	if math.Abs(total/parts.Values["half"]-1) > 0.005 {
		t.Errorf("the parts of %+v are %g s", parts, total)
	}
	if want := w.Cost / (parts.Values["half"] - w.Cost); math.Abs(finding(t, f, params.StampSum, "").Values["plain"]/want-1) > 0.3 {
		t.Errorf("%+v, want plain about %g", finding(t, f, params.StampSum, ""), want)
	}
}

// Without overhead and load the parts stand alone; with them each stands beside the fitted cost.
func TestStampsBeside(t *testing.T) {
	w := fittest.Stamps()
	finding(t, fitStamps(t, w.Dataset()), params.StampsAlone, "")
	both := fittest.TableOne(1)
	both.Hosts = 2
	d := both.Dataset()
	d.Samples = append(d.Samples, w.Dataset().Samples...)
	f := fitStamps(t, d)
	for name, want := range map[string][2]float64{
		"O_s": {both.Os.Of(1), w.Send.Of(1) + w.Cost}, "U_r": {both.Ur.Of(1), w.Receive.Of(1)}, "L": {both.L.At(1, 2), w.Way.Of(1)},
	} {
		got := finding(t, f, params.StampsBeside, "stamps_"+name).Values
		if math.Abs(got["fitted"]-want[0]) > 0.01*want[0]+20e-9 || math.Abs(got["stamped"]-want[1]) > 0.01*want[1]+20e-9 {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// A batch during which the wall clock was set does not count.
func TestStampsOfASetClock(t *testing.T) {
	w := fittest.Stamps()
	d := w.Dataset()
	for i := range d.Samples {
		s := &d.Samples[i]
		if s.Round == 2 && s.Phase == names.PhaseSend {
			s.Flags = []string{dataset.FlagStep}
			for k := range s.NS {
				s.NS[k] += 1e9
			}
		}
	}
	f := fitStamps(t, d)
	if f.LeftOutWhy[dataset.FlagStep] == 0 {
		t.Errorf("left out: %v", f.LeftOutWhy)
	}
	if c, err := f.Functions["stamps_O_s"].Cost(); err != nil || math.Abs(c.Of(1)-w.Send.Of(1)-w.Cost) > 50e-9 {
		t.Errorf("O_s of 1 byte is %g s, %v", c.Of(1), err)
	}
}

// Hosts without stamps are no fit, and the reason says so.
func TestStampsMissing(t *testing.T) {
	w := fittest.Stamps()
	d := w.Dataset()
	kept := d.Samples[:0]
	for _, s := range d.Samples {
		if s.Phase == names.PhasePlain {
			kept = append(kept, s)
		}
	}
	d.Samples = kept
	if _, err := (cluster.Stamps{}).Fit(fit.Prepare(d, fit.Settings{})); !errors.Is(err, fit.ErrNeeds) {
		t.Errorf("%v, want ErrNeeds", err)
	}
}

// The areas of the plot lie on top of each other, up to the sum.
func TestStampsPlot(t *testing.T) {
	w := fittest.Stamps()
	f := fitStamps(t, w.Dataset())
	plots := cluster.Stamps{}.Plots(f)
	if len(plots) != 2 || len(plots[0].Areas) != 5 {
		t.Fatalf("%+v", plots)
	}
	areas := plots[0].Areas
	for k := range areas {
		for i := range areas[k].X {
			base := 0.0
			if k > 0 {
				base = areas[k-1].Y[i]
			}
			if areas[k].Lo[i] != base || areas[k].Hi[i] != areas[k].Y[i] {
				t.Errorf("area %d at %g: %g to %g, want from %g", k, areas[k].X[i], areas[k].Lo[i], areas[k].Hi[i], base)
			}
		}
	}
	top := areas[len(areas)-1].Y
	for i, p := range f.Named("half(m)").Points {
		if math.Abs(top[i]-p.Fitted) > 1e-12 {
			t.Errorf("the areas end at %g, the sum is %g", top[i], p.Fitted)
		}
	}
}
