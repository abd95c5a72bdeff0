package params

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"
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
	b = bytes.ReplaceAll(b, []byte(`"symbol": "L"`), []byte(`"symbol": "L_cluster"`)) // of an older file
	b = bytes.ReplaceAll(b, []byte(`"name": "L(m,`), []byte(`"name": "L_cluster(m, `))
	var in Points
	if err := json.Unmarshal(b, &in); err != nil {
		return decodeError(b, err)
	}
	if in.Schema != PointsSchema {
		return fmt.Errorf("%w: schema %q of the points, this build reads %q", ErrParams, in.Schema, PointsSchema)
	}
	for _, own := range in.Fits {
		i := slices.IndexFunc(p.Fits, func(f *Fit) bool { return f.Model == own.Model })
		if i >= 0 && in.Run == p.Run.ID {
			p.Fits[i].Series = own.Series
		}
	}
	return nil
}
