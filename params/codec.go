package params

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"calib/internal/files"
	"calib/internal/lists"
)

// ErrParams reports a params.json that cannot be read or contradicts itself.
var ErrParams = errors.New("not a valid params.json")

// maxParams bounds a params.json: the pair matrix of 1,000 hosts needs about 120 MB.
const maxParams = 512 << 20

// Encode writes all of p but its points as JSON with one fact on a line. Equal Params are equal bytes. Numbers that are
// not finite are written as null, or left out where null has no meaning, with a finding; p itself is not changed.
func Encode(w io.Writer, p *Params) error { return encode(w, p.finite(), false) }

// EncodeShort writes p as the params.json of a run: without what EncodePoints writes, and rounded.
func EncodeShort(w io.Writer, p *Params) error {
	short := p.finite()
	short.split()
	return encode(w, short, true)
}

func encode(w io.Writer, v any, round bool) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(v); err != nil {
		return err
	}
	text := b.Bytes()
	if round {
		text = fraction.ReplaceAllFunc(text, rounded)
	}
	_, err := w.Write(joined(text))
	return err
}

// fraction is a number that is not whole, at the end of a line of indented JSON. A text ends otherwise.
var fraction = regexp.MustCompile(`(?m)-?\d+\.\d+(e[-+]\d+)?,?$`)

// rounded is a fraction to 9 digits, a second to the nanosecond, or to a whole number. It keeps the order of numbers.
func rounded(text []byte) []byte {
	number := bytes.TrimRight(text, ",")
	v, _ := strconv.ParseFloat(string(number), 64)
	out := strconv.AppendFloat(nil, v, 'g', max(9, bytes.IndexByte(number, '.')), 64)
	return append(out, text[len(number):]...)
}

// lineBytes is how long a line may be: a parameter fits into one.
const lineBytes = 240

// joined puts each list and object of indented JSON on one line, where that has at most lineBytes.
func joined(b []byte) []byte {
	var lines [][]byte
	var open []int // lines that begin what has not ended
	for line := range bytes.SplitSeq(b, []byte("\n")) {
		lines = append(lines, line)
		text := bytes.TrimLeft(line, " ")
		switch {
		case len(text) == 0:
		case bytes.HasSuffix(text, []byte("{")) || bytes.HasSuffix(text, []byte("[")):
			open = append(open, len(lines)-1)
		case text[0] == '}' || text[0] == ']':
			from := open[len(open)-1]
			open = open[:len(open)-1]
			if len(lines)-from > lineBytes {
				break
			}
			parts := lists.Map(lines[from+1:len(lines)-1], func(l []byte) []byte { return bytes.TrimLeft(l, " ") })
			if one := slices.Concat(lines[from], bytes.Join(parts, []byte(" ")), text); len(one) <= lineBytes {
				lines = append(lines[:from], one)
			}
		}
	}
	return bytes.Join(lines, []byte("\n"))
}

// Decode reads a params.json of this version or of the two before. Errors are of class ErrParams and name the line or
// the number. Members that this build does not know are ignored.
func Decode(r io.Reader) (*Params, error) {
	b, err := readAll(r)
	if err != nil {
		return nil, err
	}
	p := &Params{}
	err = json.Unmarshal(b, p)
	switch {
	case p.Schema != "" && !slices.Contains([]string{Schema, older, oldest}, p.Schema):
		return nil, fmt.Errorf("%w: schema %q, this build reads %q; fit the run again", ErrParams, p.Schema, Schema)
	case err != nil:
		return nil, decodeError(b, err)
	case p.Schema == "":
		return nil, fmt.Errorf("%w: no member \"schema\"; fit the run again", ErrParams)
	}
	for _, class := range p.classes() {
		for name, f := range class.Functions {
			class.Functions[name] = f.joined()
		}
	}
	if p.Schema == oldest {
		p.renew()
	}
	p.Schema = Schema
	if err := p.check(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrParams, err)
	}
	p.Distribute()
	return p, nil
}

func readAll(r io.Reader) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxParams+1))
	if err == nil && len(b) > maxParams {
		err = fmt.Errorf("%w: larger than %d B", ErrParams, maxParams)
	}
	return b, err
}

// Distribute gives every fit the parameters and functions of its model, and its hosts where they are all.
func (p *Params) Distribute() {
	for _, f := range p.Fits {
		if f.Hosts == nil {
			f.Hosts = p.Run.Hosts
		}
		f.Parameters, f.Functions = maps.Clone(p.Parameters), maps.Clone(p.Functions)
		maps.DeleteFunc(f.Parameters, func(_ string, q Parameter) bool { return q.Model != f.Model })
		maps.DeleteFunc(f.Functions, func(_ string, q Function) bool { return q.Model != f.Model })
	}
}

// decodeError puts an error of encoding/json into words. Points and bounds have a decoder of their own, in which
// offsets begin anew: they have a path, but no line.
func decodeError(b []byte, err error) error {
	at := ""
	if kind, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && kind.Field != "" &&
		!strings.Contains(kind.Field, ".points") && !strings.HasSuffix(kind.Field, ".bound") {
		at = fmt.Sprintf("line %d: ", 1+bytes.Count(b[:max(kind.Offset-1, 0)], []byte("\n")))
	}
	return fmt.Errorf("%w: %s%w", ErrParams, at, files.Fault(b, err))
}

// check rejects what no build of calib writes.
func (p *Params) check() error {
	for _, class := range p.classes() {
		for name, q := range lists.ByKey(class.Parameters) {
			if err := q.check(); err != nil {
				return fmt.Errorf("parameter %s: %w", name, err)
			}
		}
		for name, f := range lists.ByKey(class.Functions) {
			for c, v := range lists.ByKey(f.Coeff) {
				if err := inRange(v, f.CoeffUnit(c)); f.Usable() && err != nil {
					return fmt.Errorf("function %s, coefficient %s: %w", name, c, err)
				}
			}
		}
	}
	for _, q := range p.Pairs {
		none := new(float64)
		if err := cmp.Or(inRange(*cmp.Or(q.Latency, none), "s"), inRange(*cmp.Or(q.Rate, none), "B/s")); err != nil {
			return fmt.Errorf("pair %s → %s: %w", q.From, q.To, err)
		}
	}
	for i, v := range p.Validation {
		if err := cmp.Or(inRange(v.Measured, "s"), inRange(float64(v.Bytes), "B")); err != nil {
			return fmt.Errorf("validation[%d]: %w", i, err)
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

// SchemaOf derives the JSON Schema (2020-12) of T from its Go types, and heads it with a name and a description;
// version, unless empty, is the only value its member "schema" may have.
func SchemaOf[T any](name, version, description string, types map[reflect.Type]*jsonschema.Schema,
) (*jsonschema.Schema, error) {
	s, err := jsonschema.For[T](&jsonschema.ForOptions{TypeSchemas: types})
	if err != nil {
		return nil, fmt.Errorf("schema of %s: %w", name, err)
	}
	s.Schema = "https://json-schema.org/draft/2020-12/schema"
	s.ID = "https://calib.invalid/schema/" + name + "-1.json"
	s.Title = "calib " + name
	s.Description = description
	if version != "" {
		s.Properties["schema"].Const = jsonschema.Ptr[any](version)
	}
	return s, nil
}

// JSONSchemas returns the schemas of params.json and of points.json. What types cannot say (enumerations, where null
// may stand) is added here.
func JSONSchemas() (file, points *jsonschema.Schema, err error) {
	types := map[reflect.Type]*jsonschema.Schema{}
	statuses := lists.Map(Statuses, func(status string) any { return status })
	for of, add := range map[reflect.Type]func(*jsonschema.Schema){
		reflect.TypeFor[Residual](): func(s *jsonschema.Schema) {
			for _, name := range []string{"x", "measured", "lo", "hi", "fitted"} {
				nullable(s.Properties[name])
			}
		},
		reflect.TypeFor[Parameter](): func(s *jsonschema.Schema) {
			s.Properties["status"].Enum = statuses
			nullable(s.Properties["bound"].Items)
			// A number is to be used or withheld, by the status.
			use := &jsonschema.Schema{Enum: []any{StatusOK, StatusProvisional}}
			s.If = &jsonschema.Schema{Properties: map[string]*jsonschema.Schema{"status": use}}
			s.Then = &jsonschema.Schema{Properties: map[string]*jsonschema.Schema{"value": {Type: "number"}}}
			s.Else = &jsonschema.Schema{Properties: map[string]*jsonschema.Schema{"value": {Type: "null"}}}
		},
		reflect.TypeFor[Function](): func(s *jsonschema.Schema) { s.Properties["status"].Enum = statuses },
	} {
		s, err := jsonschema.ForType(of, &jsonschema.ForOptions{})
		if err != nil {
			return nil, nil, err
		}
		add(s)
		types[of] = s
	}
	s, err := SchemaOf[Params]("params", Schema,
		"Cost-model parameters of a network. All numbers are in SI units: seconds, bytes, seconds per byte.", types)
	points, err2 := SchemaOf[Points]("points", PointsSchema,
		"What is behind the parameters of params.json, in SI units: measured points, and all of the fits.", types)
	if err := cmp.Or(err, err2); err != nil {
		return nil, nil, err
	}
	s.ID, s.Title = "https://calib.invalid/schema/params-5.json", "calib parameters"
	run := s.Properties["run"].Properties
	for _, always := range []*jsonschema.Schema{s.Properties["fits"], s.Properties["validation"], s.Properties["pairs"],
		run["hosts"], run["versions"]} {
		always.Type, always.Types = "array", nil // never null
	}
	open(s)
	open(points)
	return s, points, nil
}

// open lets objects have members that this build does not know, as Decode does.
func open(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if len(s.Properties) > 0 {
		s.AdditionalProperties = nil
	}
	for _, member := range s.Properties {
		open(member)
	}
	open(s.Items)
	open(s.AdditionalProperties)
}

// nullable lets a number be null too.
func nullable(s *jsonschema.Schema) { s.Type, s.Types = "", []string{"number", "null"} }
