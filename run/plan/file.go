package plan

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"calib/bench"
	"calib/internal/files"
	"calib/internal/lists"
	"calib/internal/units"
	"calib/internal/yaml"
)

// planFile is a plan as people and run.json write it: sizes and times as text. examples/plan.yaml describes the fields.
type planFile struct {
	Fields   `yaml:",inline"`
	Sizes    any    `yaml:"sizes" json:"sizes,omitempty"` // "1,64,1KiB"; in YAML also a list, or one number
	MaxBytes string `yaml:"max_bytes" json:"max_bytes,omitempty"`
	AllPairs bool   `yaml:"all_pairs" json:"all_pairs"` // Pairs all
	Budget   string `yaml:"budget" json:"budget"`
}

// Fields are those of a plan that are written as they are.
type Fields Plan

// Load returns a built-in plan by its name, or reads a plan file.
func Load(arg string) (Plan, error) {
	if p, err := Builtin(arg); err == nil {
		return p, nil
	}
	text, err := files.Read(arg, yaml.Max)
	if err != nil {
		return Plan{}, fmt.Errorf("%w %q is neither a built-in plan (%s) nor a file that can be read: %w",
			ErrPlan, arg, strings.Join(BuiltinNames(), ", "), err)
	}
	return Parse(text, arg)
}

// Parse reads a plan in YAML; file is what errors call it. A field that is left out has the standard plan's value, an
// unknown one is an error, with its line and column. Validate is the caller's.
func Parse(text []byte, file string) (Plan, error) {
	base, _ := Builtin(Standard) // which there is
	f := base.file()
	f.Name, f.Experiments, f.Chosen = file, nil, true
	if err := yaml.Decode(text, &f); err != nil {
		return Plan{}, fmt.Errorf("%w %s: %w", ErrPlan, file, err)
	}
	if f.Budget == "" && f.Rounds == (Rounds{}) { // a document without a value clears what it is decoded into
		return Plan{}, fmt.Errorf("%w %s: the file is empty: write for example experiments: [pingpong]", ErrPlan, file)
	}
	if f.Experiments == nil {
		f.Experiments, f.Chosen = base.Experiments, false
	}
	p, err := f.plan()
	if err != nil {
		return Plan{}, fmt.Errorf("%w %s: %w", ErrPlan, file, err)
	}
	return p, nil
}

// MarshalJSON writes p with the fields of a plan file.
func (p Plan) MarshalJSON() ([]byte, error) { return json.Marshal(p.file()) }

// UnmarshalJSON reads what MarshalJSON wrote.
func (p *Plan) UnmarshalJSON(text []byte) error {
	var f planFile
	err := json.Unmarshal(text, &f)
	if err == nil {
		*p, err = f.plan()
	}
	return err
}

func (p Plan) file() planFile {
	f := planFile{Fields: Fields(p), AllPairs: p.Pairs == bench.AllPairs, Budget: time.Duration(p.Budget).String()}
	exact := func(b units.Bytes) string { return strconv.FormatInt(int64(b), 10) } // Bytes.String rounds
	if sizes := lists.Map(p.Limits.Sizes, exact); sizes != nil {
		f.Sizes = strings.Join(sizes, ",")
	}
	if p.Limits.MaxBytes != 0 {
		f.MaxBytes = exact(p.Limits.MaxBytes)
	}
	return f
}

func (f planFile) plan() (Plan, error) {
	p := Plan(f.Fields)
	list, err := json.Marshal(f.Sizes)
	sizes := strings.NewReplacer("[", "", "]", "", `"`, "").Replace(string(list))
	if f.Sizes != nil && sizes != "" && err == nil {
		p.Limits.Sizes, err = units.ParseSizes(sizes)
	}
	if err != nil {
		return Plan{}, fmt.Errorf("sizes: %w", err)
	}
	if f.MaxBytes != "" {
		if p.Limits.MaxBytes, err = units.ParseBytes(f.MaxBytes); err != nil {
			return Plan{}, fmt.Errorf("max_bytes: %w", err)
		}
	}
	if f.AllPairs {
		p.Limits.Pairs = bench.AllPairs
	}
	budget, err := time.ParseDuration(f.Budget)
	if err != nil {
		return Plan{}, fmt.Errorf("budget: %q: want a time such as 90s, 5m or 1h30m", f.Budget)
	}
	p.Budget = units.Nanos(budget)
	return p, nil
}
