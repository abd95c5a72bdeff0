package params

import (
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
)

// PointsFile is the name of the file with the measured points, beside params.json. PointsSchema names its version.
const (
	PointsFile   = "points.json"
	PointsSchema = "calib.points/1"
)

// Points is a whole points.json.
type Points struct {
	Schema string      `json:"schema" jsonschema:"version of this format"`
	Run    string      `json:"run" jsonschema:"name of the run, as in params.json"`
	Fits   []FitPoints `json:"fits" jsonschema:"by model"`
}

type FitPoints struct {
	Model  string   `json:"model" jsonschema:"name of the model, as in the fits of params.json"`
	Series []Series `json:"series" jsonschema:"measured points beside what the model says"`
}

// EncodePoints writes the points of p as a points.json. Equal points are equal bytes. Numbers that are not finite are
// null.
func EncodePoints(w io.Writer, p *Params) error {
	out := Points{Schema: PointsSchema, Run: p.Run.ID, Fits: []FitPoints{}}
	for _, f := range p.Fits {
		if len(f.Series) > 0 {
			out.Fits = append(out.Fits, FitPoints{f.Model, f.Series})
		}
	}
	finite, _ := (&cleaner{}).clean(reflect.ValueOf(out), "")
	return encode(w, finite.Interface())
}

// ReadPoints reads a points.json, and gives the fits of p their series. Points of another run are left alone. Errors
// are of class ErrParams.
func (p *Params) ReadPoints(r io.Reader) error {
	b, err := readAll(r)
	if err != nil {
		return err
	}
	var in Points
	if err := json.Unmarshal(b, &in); err != nil {
		return decodeError(b, err)
	}
	if in.Schema != PointsSchema {
		return fmt.Errorf("%w: schema %q of the points, this build reads %q", ErrParams, in.Schema, PointsSchema)
	}
	for _, own := range in.Fits {
		for i := range own.Series {
			if s := &own.Series[i]; s.Symbol == "L" { // of an older file
				s.Symbol, s.Name = "L_cluster", strings.Replace(s.Name, "L(m,", "L_cluster(m, ", 1)
			}
		}
		i := slices.IndexFunc(p.Fits, func(f *Fit) bool { return f.Model == own.Model })
		if i >= 0 && in.Run == p.Run.ID {
			p.Fits[i].Series = own.Series
		}
	}
	return nil
}
