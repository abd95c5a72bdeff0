package export

import (
	"errors"
	"strings"
	"testing"

	"calib/fit/params"
)

// Every target marks what is provisional and refuses, or marks, what is withheld.
func TestStatuses(t *testing.T) {
	for _, target := range Targets() {
		if target.Rules { // choices, and none of the run's numbers
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
			if !errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), "not to be used (inconsistent") || !strings.Contains(err.Error(), "measure again") {
				t.Errorf("%s: withheld numbers: %v, want ErrMissing with the reason and what to do", target.Name, err)
			}
		}
	}
}
