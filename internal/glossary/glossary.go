// Package glossary says what the numbers, experiments and words of calib mean. calib explain, the report's hover texts
// and docs/reference/glossary.md are made of glossary.yaml; calib explain and the schemas of files of formats.yaml.
package glossary

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"

	"calib/internal/yaml"
)

// Number is what some numbers of params.json mean.
type Number struct {
	Names  []string `yaml:"names" json:"names"` // in which M stands for a size, x and w for numbers
	Unit   string   `yaml:"unit" json:"unit"`   // of each of them where they differ, with commas
	From   string   `yaml:"from" json:"from"`   // the experiments that it needs, with commas; the first one times it
	Is     string   `yaml:"is" json:"is"`
	Source string   `yaml:"source" json:"source"` // paper and equation
}

func (n Number) Needs() []string { return strings.Split(n.From, ", ") }

// Experiment is how numbers are measured, and what narrows their intervals beside measuring nothing else.
type Experiment struct {
	How    string `yaml:"how"`
	Narrow string `yaml:"narrow"`
}

type Glossary struct {
	Numbers     []Number              `yaml:"numbers"`
	Experiments map[string]Experiment `yaml:"experiments"`
	Words       map[string]string     `yaml:"words"`
}

//go:embed glossary.yaml
var text []byte

var All = yaml.Embedded[Glossary](text)

// sizes are the parts of names that stand for sizes and numbers.
var sizes = []struct {
	in   *regexp.Regexp
	name string
}{
	{regexp.MustCompile(`^nagle_cost_\w+_\d+w$`), "nagle_cost_x_ww"},
	{regexp.MustCompile(`_\d+(B|[KMG]iB)$`), "_M"},
}

// Lookup finds a number by its name, such as a_c, C_n_16KiB or g_s.c0. Its unit is that of this name.
func (g Glossary) Lookup(name string) (Number, bool) {
	general, _, _ := strings.Cut(name, ".")
	for _, s := range sizes {
		general = s.in.ReplaceAllString(general, s.name)
	}
	i := slices.IndexFunc(g.Numbers, func(n Number) bool { return slices.Contains(n.Names, general) })
	if i < 0 {
		return Number{}, false
	}
	n := g.Numbers[i]
	if units := strings.Split(n.Unit, ", "); len(units) > 1 {
		n.Unit = units[slices.Index(n.Names, general)]
	}
	return n, true
}
