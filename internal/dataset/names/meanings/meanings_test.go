package meanings

import (
	"os"
	"strings"
	"testing"

	"calib/internal/dataset/names"
)

// docs/FORMATS.md holds the tables word for word.
func TestFormats(t *testing.T) {
	text, err := os.ReadFile("../../../../docs/FORMATS.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), Markdown()) {
		t.Errorf("docs/FORMATS.md, section samples.jsonl, does not hold these tables:\n%s", Markdown())
	}
}

// No table lists a name twice.
func TestTables(t *testing.T) {
	seen := map[string]bool{}
	add := func(key string) {
		if seen[key] {
			t.Errorf("%s is listed twice", key)
		}
		seen[key] = true
	}
	for _, p := range Phases {
		add("phase " + p.Experiment + " " + p.Name)
	}
	for _, n := range Factors {
		add("factor " + n.Name)
	}
	for _, n := range AuxValues {
		add("aux " + n.Name)
	}
}

func TestUnknown(t *testing.T) {
	good := map[string]int64{names.FactorBytes: 1}
	for _, c := range []struct {
		exp, phase string
		factors    map[string]int64
		aux        map[string]float64
		want       string
	}{
		{names.Paired, names.PhaseBurst, good, map[string]float64{names.AuxDirection: 1}, ""},
		{names.Paired, names.PhaseGap, good, nil, `no phase "gap"`},
		{names.Paired, names.PhaseBurst, map[string]int64{"size": 1}, nil, `factor "size"`},
		{names.Paired, names.PhaseBurst, good, map[string]float64{"way": 1}, `auxiliary value "way"`},
	} {
		err := Unknown(c.exp, c.phase, c.factors, c.aux)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: got %v, want %q", c.exp, c.phase, err, c.want)
		}
	}
}
