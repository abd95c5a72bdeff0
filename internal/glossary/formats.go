package glossary

import (
	_ "embed"
	"maps"
	"slices"
	"strings"

	"calib/internal/yaml"
)

// Formats says what the names in params.json and samples.jsonl mean.
type Formats struct {
	Findings   map[string]Finding           `yaml:"findings"`
	Quantities map[string]Quantity          `yaml:"quantities"`
	Phases     map[string]map[string]string `yaml:"phases"` // by experiment
	Factors    map[string]Value             `yaml:"factors"`
	Aux        map[string]Value             `yaml:"aux"`
	Flags      map[string]string            `yaml:"flags"`
}

// Finding is a code of params.json, with the levels and values that it may have.
type Finding struct {
	Levels []string `yaml:"levels"`
	Values []string `yaml:"values"`
	Is     string   `yaml:"is"`
}

// Quantity is what the points of a series are, and the factors that such a series has.
type Quantity struct {
	Factors []string `yaml:"factors"`
	Is      string   `yaml:"is"`
}

// Value is a number in a line of samples.jsonl.
type Value struct {
	Unit string `yaml:"unit"`
	Is   string `yaml:"is"`
}

func (v Value) String() string {
	if v.Unit == "" {
		return v.Is
	}
	return v.Is + " [" + v.Unit + "]"
}

//go:embed formats.yaml
var formats []byte

// Files is what the names in files mean.
var Files = yaml.Embedded[Formats](formats)

// Lookup says what a name means in each place where it may stand.
func (f Formats) Lookup(name string) []string {
	var out []string
	add := func(where, is string) {
		if is != "" {
			out = append(out, where+": "+is+".")
		}
	}
	add("Code of a finding in params.json", f.Findings[name].Is)
	add("Quantity of a series in params.json", f.Quantities[name].Is)
	for _, phase := range slices.Sorted(maps.Keys(f.Phases[name])) {
		add(strings.TrimSuffix("Experiment in samples.jsonl, phase "+phase, ", phase "), f.Phases[name][phase])
	}
	add("Factor of a point in samples.jsonl", f.Factors[name].String())
	add("Other value in samples.jsonl", f.Aux[name].String())
	add("Flag in samples.jsonl", f.Flags[name])
	return out
}
