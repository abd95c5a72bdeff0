package params

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"calib/internal/glossary"
	"calib/internal/lists"
)

// PointsFile is the name of the file with the measured points, beside params.json. PointsSchema names its version.
// ReadPoints reads the one before, too, which has the series of fits only.
const (
	PointsFile                = "points.json"
	PointsSchema, olderPoints = "calib.points/2", "calib.points/1"
)

// Points is a whole points.json.
type Points struct {
	Schema     string            `json:"schema" jsonschema:"version of this format"`
	Run        string            `json:"run" jsonschema:"name of the run, as in params.json"`
	Fits       []Fit             `json:"fits" jsonschema:"by model: all of what params.json has in short"`
	Validation []Validation      `json:"validation,omitempty" jsonschema:"predictions of patterns that no fit has seen, by all models"`
	Losses     []*Loss           `json:"losses,omitempty" jsonschema:"segments sent again between two hosts, by the place of the pair in params.json"`
	Numbers    map[string]Behind `json:"numbers,omitempty" jsonschema:"where parameters and functions are from, by name; T() is the function T"`
}

// Behind is what only reports show of a parameter or a function.
type Behind struct {
	Label  string `json:"label" jsonschema:"what it is, in words"`
	Budget []Term `json:"budget,omitempty" jsonschema:"what the width of ci95 is made of"`
}

// split takes from p what points.json holds, and returns it. Predictions look at patterns of one simulation only.
func (p *Params) split() Points {
	out := Points{PointsSchema, p.Run.ID, []Fit{}, p.Validation, nil, map[string]Behind{}}
	p.eachBehind(func(name string, b Behind) Behind {
		out.Numbers[name] = b
		return Behind{}
	})
	for _, f := range p.Fits {
		out.Fits = append(out.Fits, *f)
		f.Quality, f.Rounds = nil, 0
		f.Findings = lists.Where(f.Findings, func(x Finding) bool { return x.Level != Note || x.Code == NetworkUnknown })
	}
	for i, q := range p.Pairs {
		out.Losses = append(out.Losses, q.Loss)
		p.Pairs[i].Loss = nil
	}
	if best, ok := BestSimulation(p.Validation); ok {
		p.Validation = lists.Where(p.Validation, func(v Validation) bool { return v.Model == best.Model })
	}
	return out
}

// EncodePoints writes what EncodeShort leaves out of p as a points.json. Equal points are equal bytes. Numbers that are
// not finite are null.
func EncodePoints(w io.Writer, p *Params) error {
	out := p.finite().split()
	for i, f := range p.Fits {
		out.Fits[i].Series = f.Series
	}
	finite, _ := (&cleaner{}).clean(reflect.ValueOf(out), "")
	return encode(w, finite.Interface(), false)
}

// ReadPoints reads a points.json, and gives p what it holds. Points of another run are left alone. Errors are of class
// ErrParams.
func (p *Params) ReadPoints(r io.Reader) error {
	b, err := readAll(r)
	if err != nil {
		return err
	}
	var in Points
	if err := json.Unmarshal(b, &in); err != nil {
		return decodeError(b, err)
	}
	if in.Schema != PointsSchema && in.Schema != olderPoints {
		return fmt.Errorf("%w: schema %q of the points, this build reads %q", ErrParams, in.Schema, PointsSchema)
	}
	if in.Run != p.Run.ID {
		return nil
	}
	for _, own := range in.Fits {
		for i := range own.Series {
			if s := &own.Series[i]; s.Symbol == "L" { // of an older file
				s.Symbol, s.Name = "L_cluster", strings.Replace(s.Name, "L(m,", "L_cluster(m, ", 1)
			}
		}
		if i := slices.IndexFunc(p.Fits, func(f *Fit) bool { return f.Model == own.Model }); i >= 0 {
			if in.Schema == olderPoints {
				p.Fits[i].Series = own.Series
			} else {
				p.Fits[i] = &own
			}
		}
	}
	if in.Validation != nil {
		p.Validation = in.Validation
	}
	for i := range p.Pairs[:min(len(in.Losses), len(p.Pairs))] {
		p.Pairs[i].Loss = in.Losses[i]
	}
	p.eachBehind(func(name string, own Behind) Behind {
		if b, ok := in.Numbers[name]; ok {
			return b
		}
		return own
	})
	p.Distribute()
	if err := p.check(); err != nil {
		return fmt.Errorf("%w: %w", ErrParams, err)
	}
	return nil
}

// label gives parameters and functions without a label the first sentence of the glossary.
func (p *Params) label() {
	p.eachBehind(func(name string, b Behind) Behind {
		n, _ := glossary.All().Lookup(strings.TrimSuffix(name, "()"))
		is, _, _ := strings.Cut(n.Is, ".")
		return Behind{cmp.Or(b.Label, is), b.Budget}
	})
	p.Distribute()
}

// eachBehind replaces the label and the budget of each parameter, and the label of each function, by what of returns.
// name is that in points.json.
func (p *Params) eachBehind(of func(name string, b Behind) Behind) {
	for name, q := range p.Parameters {
		b := of(name, Behind{q.Label, q.Budget})
		q.Label, q.Budget = b.Label, b.Budget
		p.Parameters[name] = q
	}
	for name, f := range p.Functions {
		f.Label = of(name+"()", Behind{Label: f.Label}).Label
		p.Functions[name] = f
	}
}
