package params

import (
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"
)

// JSONSchema returns the JSON Schema (2020-12) of params.json. It is derived from the Go types, so it cannot fall
// behind them; what types cannot say (constants, enumerations, where null may stand) is added here.
func JSONSchema() (*jsonschema.Schema, error) {
	residual, err := nullable[Residual]("x", "measured", "lo", "hi", "fitted")
	if err != nil {
		return nil, err
	}
	quality, err := nullable[Quality]("mean_error", "max_error")
	if err != nil {
		return nil, err
	}
	parameter, err := parameterSchema()
	if err != nil {
		return nil, err
	}
	function, err := functionSchema()
	if err != nil {
		return nil, err
	}
	s, err := jsonschema.For[Params](&jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[Residual]():  residual,
		reflect.TypeFor[Quality]():   quality,
		reflect.TypeFor[Parameter](): parameter,
		reflect.TypeFor[Function]():  function,
	}})
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

// nullable derives the schema of T in which the named numbers may be null.
func nullable[T any](names ...string) (*jsonschema.Schema, error) {
	s, err := jsonschema.For[T](nil)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		s.Properties[name].Type, s.Properties[name].Types = "", []string{"number", "null"}
	}
	return s, nil
}

func parameterSchema() (*jsonschema.Schema, error) {
	s, err := jsonschema.For[Parameter](nil)
	if err != nil {
		return nil, err
	}
	enumerate(s.Properties["status"])
	bound := s.Properties["bound"]
	bound.Description = "what the data allow, where there is no value; null is no limit on that side"
	bound.Items.Type, bound.Items.Types = "", []string{"number", "null"}
	s.Properties["source"].Description = "paper and equation"
	s.Properties["label"].Description = "the parameter in words"
	// A number is to be used or withheld, by the status.
	s.If = &jsonschema.Schema{Properties: map[string]*jsonschema.Schema{"status": {Enum: []any{StatusOK, StatusProvisional}}}}
	s.Then = &jsonschema.Schema{Properties: map[string]*jsonschema.Schema{"value": {Type: "number"}}}
	s.Else = &jsonschema.Schema{Properties: map[string]*jsonschema.Schema{"value": {Type: "null"}}}
	return s, nil
}

func functionSchema() (*jsonschema.Schema, error) {
	s, err := jsonschema.For[Function](nil)
	if err != nil {
		return nil, err
	}
	enumerate(s.Properties["status"])
	s.Properties["status"].Description = "absent in older files, where it means ok"
	s.Properties["why"].Description = "why the status is not ok"
	return s, nil
}

// enumerate allows every status.
func enumerate(status *jsonschema.Schema) {
	for _, v := range Statuses {
		status.Enum = append(status.Enum, v)
	}
}

// alwaysArray forbids null for an array that is always written.
func alwaysArray(s *jsonschema.Schema) { s.Type, s.Types = "array", nil }
