package export

import (
	"errors"
	"strings"
	"testing"

	"calib/params"
)

// Every target marks what is provisional and refuses, or marks, what is withheld.
func TestStatuses(t *testing.T) {
	for _, target := range Targets() {
		if target.Rules || target.Name == "slurm" { // choices, and none of the run's numbers
			continue
		}
		p := fixture()
		for name, q := range p.Parameters {
			q.Status, q.Why = params.StatusProvisional, "two rounds only"
			p.Parameters[name] = q
		}
		for name, f := range p.Functions {
			f.Status, f.Why = params.StatusProvisional, "two rounds only"
			p.Functions[name] = f
		}
		file, warnings, err := target.Export(p, Options{})
		if err != nil {
			t.Errorf("%s: provisional numbers: %v", target.Name, err)
		} else if !strings.Contains(strings.Join(warnings, "\n")+string(file), "provisional") {
			t.Errorf("%s does not mark what is provisional: %q", target.Name, warnings)
		}
		for name, q := range p.Parameters {
			q.Withhold(params.StatusInconsistent, "it contradicts another")
			p.Parameters[name] = q
		}
		for name, f := range p.Functions {
			f.Status = params.StatusInconsistent
			p.Functions[name] = f
		}
		file, _, err = target.Export(p, Options{})
		switch target.Name {
		case "csv", "gobench", "otava", "prometheus": // lists of what there is
			for name, q := range fixture().Parameters {
				if err == nil && target.Name != "csv" && q.Value != nil && strings.Contains(string(file), "name=\""+name+"\"") {
					t.Errorf("%s: %s is withheld, and written", target.Name, name)
				}
			}
			if target.Name == "csv" && !strings.Contains(string(file), "estimate,L,") {
				t.Errorf("csv does not mark what is withheld:\n%s", file)
			}
		default:
			if !errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), "cannot be used (inconsistent") ||
				!strings.Contains(err.Error(), "calib explain") {
				t.Errorf("%s: withheld numbers: %v, want ErrMissing with the reason and what to do", target.Name, err)
			}
		}
	}
}

// An L that cannot be told from zero is zero, with a warning, or the target does without it. One that is wrong beyond
// its interval is refused.
func TestLatencyNearZero(t *testing.T) {
	for _, name := range []string{"loggopsim", "atlahs", "tc", "mininet"} {
		target, err := Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		negative, bound, wrong := fixture(), fixture(), fixture()
		v, at := -1e-6, negative.Parameters["L"]
		at.Value, at.CI95, at.Status, at.Why = &v, &[2]float64{-3e-6, 1e-6}, params.StatusProvisional,
			"negative within the noise"
		negative.Parameters["L"] = at
		at = bound.Parameters["L"]
		at.Withhold(params.StatusBound, "cannot be told from zero")
		at.Bound = &params.Bound{0, 4e-6}
		bound.Parameters["L"] = at
		at = wrong.Parameters["L"]
		at.Withhold(params.StatusInconsistent, "impossible")
		wrong.Parameters["L"] = at
		for what, p := range map[string]*params.Params{"negative": negative, "bound": bound} {
			file, warnings, err := target.Export(p, Options{})
			if err != nil || !strings.Contains(strings.Join(warnings, "\n")+string(file), "L is taken for 0: it ") {
				t.Errorf("%s, %s L: %v, warnings %q", name, what, err, warnings)
			}
		}
		if _, _, err := target.Export(wrong, Options{}); (err == nil) != (name == "tc" || name == "mininet") {
			t.Errorf("%s, impossible L: %v", name, err)
		}
	}
}
