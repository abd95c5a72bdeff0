package reports

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"

	"calib/internal/dataset"
	"calib/internal/params"
)

// dialect is the JSON Schema version of everything calib publishes.
const dialect = "https://json-schema.org/draft/2020-12/schema"

// Schemas returns the JSON Schemas of the documents this package and those below it define, by name: "params"
// (params.json), "header" and "sample" (the first and every later line of samples.jsonl) and "result" (what --json
// prints). That of run.json is published by its own package.
func Schemas() (map[string]*jsonschema.Schema, error) {
	file, err := params.JSONSchema()
	if err != nil {
		return nil, fmt.Errorf("schema of params: %w", err)
	}
	header, err := SchemaOf[dataset.Header]("header", dataset.Schema, "First line of samples.jsonl.", nil)
	if err != nil {
		return nil, err
	}
	sample, err := SchemaOf[dataset.Sample]("sample", "", "Every later line of samples.jsonl: one measured batch, raw "+
		"timings in nanoseconds.", nil)
	if err != nil {
		return nil, err
	}
	sample.Properties["exp"].MinLength = jsonschema.Ptr(1)
	point := sample.Properties["point"] // null: an experiment without factors
	point.Type, point.Types = "", []string{"object", "null"}
	result, err := resultSchema(file)
	if err != nil {
		return nil, err
	}
	return map[string]*jsonschema.Schema{"params": file, "header": header, "sample": sample, "result": result}, nil
}

// SchemaOf derives the schema of T and heads it with a name and a description; version, unless empty, is the only value
// its member "schema" may have.
func SchemaOf[T any](name, version, description string, types map[reflect.Type]*jsonschema.Schema) (*jsonschema.Schema, error) {
	s, err := jsonschema.For[T](&jsonschema.ForOptions{TypeSchemas: types})
	if err != nil {
		return nil, fmt.Errorf("schema of %s: %w", name, err)
	}
	s.Schema = dialect
	s.ID = "https://calib.invalid/schema/" + name + "-1.json"
	s.Title = "calib " + name
	s.Description = description
	if version != "" {
		s.Properties["schema"].Const = jsonschema.Ptr[any](version)
	}
	return s, nil
}

func resultSchema(file *jsonschema.Schema) (*jsonschema.Schema, error) {
	inner := file.CloneSchemas()
	inner.ID, inner.Schema = "", "" // one document, one resource
	s, err := SchemaOf[Result]("result", ResultSchema, "What --json prints, whatever the command and however it ended.",
		map[reflect.Type]*jsonschema.Schema{reflect.TypeFor[params.Params](): inner})
	if err != nil {
		return nil, err
	}
	for _, exit := range slices.Sorted(maps.Keys(outcomes)) {
		s.Properties["outcome"].Enum = append(s.Properties["outcome"].Enum, outcomes[exit])
	}
	return s, nil
}
