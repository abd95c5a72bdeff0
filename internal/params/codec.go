package params

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"calib/internal/files"
)

// ErrParams reports a params.json that cannot be read or contradicts itself.
var ErrParams = errors.New("not a valid params.json")

// maxParams bounds a params.json: the pair matrix of 1,000 hosts needs about 120 MB.
const maxParams = 512 << 20

// Encode writes p as indented JSON. Equal Params are equal bytes. Numbers that are not finite are written as null, or
// left out where null has no meaning, each with a finding; p itself is not changed.
func Encode(w io.Writer, p *Params) error {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(p.finite()); err != nil {
		return fmt.Errorf("encode params: %w", err)
	}
	_, err := w.Write(buf.Bytes())
	return err
}

// Decode reads a params.json of this version. Errors are of class ErrParams and name the line or the parameter. Members
// that this build does not know are ignored.
func Decode(r io.Reader) (*Params, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxParams+1))
	if err != nil {
		return nil, fmt.Errorf("read params: %w", err)
	}
	if len(b) > maxParams {
		return nil, fmt.Errorf("%w: larger than %d B", ErrParams, maxParams)
	}
	var head struct {
		Schema *string `json:"schema"`
	}
	if err := json.Unmarshal(b, &head); err != nil {
		return nil, decodeError(b, err)
	}
	p := &Params{}
	switch {
	case head.Schema == nil:
		return nil, fmt.Errorf("%w: no member \"schema\"; fit the run again for a new one", ErrParams)
	case *head.Schema == Schema:
		err = json.Unmarshal(b, p)
	default:
		return nil, fmt.Errorf("%w: schema %q, this build reads %q; fit the run again, which writes it anew from the samples",
			ErrParams, *head.Schema, Schema)
	}
	if err != nil {
		return nil, decodeError(b, err)
	}
	if err := p.check(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrParams, err)
	}
	if at, err := p.checkRange(); err != nil {
		return nil, fmt.Errorf("%w: line %d: %w", ErrParams, at.line(b), err)
	}
	p.Distribute()
	return p, nil
}

// Distribute gives every fit the parameters and functions of its model, under their plain names.
func (p *Params) Distribute() {
	for _, f := range p.Fits {
		f.Parameters, f.Functions = map[string]Parameter{}, map[string]Function{}
		for name, q := range p.Parameters {
			if q.Model == f.Model {
				f.Parameters[strings.TrimPrefix(name, f.Model+".")] = q
			}
		}
		for name, fn := range p.Functions {
			if fn.Model == f.Model {
				f.Functions[strings.TrimPrefix(name, f.Model+".")] = fn
			}
		}
	}
}

// decodeError puts an error of encoding/json into words. Points and bounds have a decoder of their own, in which offsets
// begin anew: they have a path, but no line.
func decodeError(b []byte, err error) error {
	at := ""
	kind := (*json.UnmarshalTypeError)(nil)
	if errors.As(err, &kind) && kind.Field != "" && !strings.Contains(kind.Field, ".points") &&
		!strings.HasSuffix(kind.Field, ".bound") {
		at = fmt.Sprintf("line %d: ", lineAt(b, kind.Offset))
	}
	return fmt.Errorf("%w: %s%w", ErrParams, at, files.Fault(b, err))
}

func lineAt(b []byte, offset int64) int {
	return 1 + bytes.Count(b[:min(max(offset-1, 0), int64(len(b)))], []byte("\n"))
}

// check rejects what no build of calib writes.
func (p *Params) check() error {
	for _, name := range slices.Sorted(maps.Keys(p.Parameters)) {
		if err := p.Parameters[name].check(); err != nil {
			return fmt.Errorf("parameter %s: %w", name, err)
		}
	}
	for i, c := range p.Correlations {
		if err := c.check(p); err != nil {
			return fmt.Errorf("correlations[%d]: %w", i, err)
		}
	}
	for i, f := range p.Fits {
		if f == nil || f.Model == "" {
			return fmt.Errorf("fits[%d]: no model", i)
		}
	}
	return nil
}

// JSONSchema returns the JSON Schema (2020-12) of params.json. It is derived from the Go types, so it cannot fall
// behind them; what types cannot say (constants, enumerations, where null may stand) is added here.
func JSONSchema() (*jsonschema.Schema, error) {
	types := map[reflect.Type]*jsonschema.Schema{}
	for of, add := range map[reflect.Type]func(*jsonschema.Schema){
		reflect.TypeFor[Residual]():  residualSchema,
		reflect.TypeFor[Parameter](): parameterSchema,
		reflect.TypeFor[Function]():  functionSchema,
	} {
		s, err := jsonschema.ForType(of, &jsonschema.ForOptions{})
		if err != nil {
			return nil, err
		}
		add(s)
		types[of] = s
	}
	s, err := jsonschema.For[Params](&jsonschema.ForOptions{TypeSchemas: types})
	if err != nil {
		return nil, err
	}
	s.Schema = "https://json-schema.org/draft/2020-12/schema"
	s.ID = "https://calib.invalid/schema/params-2.json"
	s.Title = "calib parameters"
	s.Description = "Cost-model parameters of a network. All numbers are in SI units: seconds, bytes, seconds per byte."
	s.Properties["schema"].Const = jsonschema.Ptr[any](Schema)
	for _, name := range []string{"fits", "validation", "pairs"} {
		alwaysArray(s.Properties[name])
	}
	alwaysArray(s.Properties["run"].Properties["hosts"])
	alwaysArray(s.Properties["run"].Properties["versions"])
	return s, nil
}

func residualSchema(s *jsonschema.Schema) {
	for _, name := range []string{"x", "measured", "lo", "hi", "fitted"} {
		nullable(s.Properties[name])
	}
}

// nullable lets a number be null too.
func nullable(s *jsonschema.Schema) { s.Type, s.Types = "", []string{"number", "null"} }

func parameterSchema(s *jsonschema.Schema) {
	enumerate(s.Properties["status"])
	bound := s.Properties["bound"]
	bound.Description = "what the data allow, where there is no value; null is no limit on that side"
	nullable(bound.Items)
	s.Properties["source"].Description = "paper and equation"
	s.Properties["label"].Description = "the parameter in words"
	// A number is to be used or withheld, by the status.
	s.If = &jsonschema.Schema{Properties: map[string]*jsonschema.Schema{"status": {Enum: []any{StatusOK, StatusProvisional}}}}
	s.Then = &jsonschema.Schema{Properties: map[string]*jsonschema.Schema{"value": {Type: "number"}}}
	s.Else = &jsonschema.Schema{Properties: map[string]*jsonschema.Schema{"value": {Type: "null"}}}
}

func functionSchema(s *jsonschema.Schema) {
	enumerate(s.Properties["status"])
	s.Properties["status"].Description = "absent in older files, where it means ok"
	s.Properties["why"].Description = "why the status is not ok"
}

// enumerate allows every status.
func enumerate(status *jsonschema.Schema) {
	for _, v := range Statuses {
		status.Enum = append(status.Enum, v)
	}
}

// alwaysArray forbids null for an array that is always written.
func alwaysArray(s *jsonschema.Schema) { s.Type, s.Types = "array", nil }
