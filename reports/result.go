package reports

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"

	"calib/internal/dataset"
	"calib/internal/params"
)

const ResultSchema = "calib.result/1" // names the version of the document that --json prints

// outcomes are how a command ends, by exit code. An unknown code is a failure.
var outcomes = map[int]string{0: "done", 1: "failed", 2: "usage", 3: "regression", 4: "partial", 5: "inconclusive", 130: "interrupted"}

// Result is the one document that --json prints, whatever the command and however it ended.
type Result struct {
	Schema   string            `json:"schema"`
	Command  string            `json:"command"` // "run", "lab up"
	Outcome  string            `json:"outcome"`
	Exit     int               `json:"exit"`
	Error    string            `json:"error,omitempty"` // what was attempted, where, and what to do about it
	Run      string            `json:"run,omitempty"`   // the run directory
	Files    map[string]string `json:"files,omitempty"` // the paths of what was written, by name ("params.json")
	Warnings []string          `json:"warnings,omitempty"`
	Params   *params.Params    `json:"params,omitempty"`
	Plan     *Plan             `json:"plan,omitempty"`
	Data     any               `json:"data,omitempty"` // of a command without params or plan
}

// Encode writes r as one indented JSON document. Schema and Outcome are set from the exit code.
func (r Result) Encode(w io.Writer) error {
	r.Schema, r.Outcome = ResultSchema, cmp.Or(outcomes[r.Exit], outcomes[1])
	type plain Result
	doc := struct {
		plain
		Params json.RawMessage `json:"params,omitempty"`
	}{plain: plain(r)}
	if r.Params != nil {
		var buf bytes.Buffer
		if err := params.Encode(&buf, r.Params); err != nil { // numbers that JSON cannot hold become null there
			return err
		}
		doc.Params = buf.Bytes()
	}
	return WriteJSON(w, doc)
}

func WriteJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

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
	header, err1 := SchemaOf[dataset.Header]("header", dataset.Schema, "First line of samples.jsonl.", nil)
	sample, err2 := SchemaOf[dataset.Sample]("sample", "",
		"Every later line of samples.jsonl: one measured batch, raw timings in nanoseconds.", nil)
	inner := file.CloneSchemas()
	inner.ID, inner.Schema = "", "" // one document, one resource
	result, err3 := SchemaOf[Result]("result", ResultSchema,
		"What --json prints, whatever the command and however it ended.",
		map[reflect.Type]*jsonschema.Schema{reflect.TypeFor[params.Params](): inner})
	if err := cmp.Or(err1, err2, err3); err != nil {
		return nil, err
	}
	sample.Properties["exp"].MinLength = jsonschema.Ptr(1)
	point := sample.Properties["point"] // null: an experiment without factors
	point.Type, point.Types = "", []string{"object", "null"}
	for _, exit := range slices.Sorted(maps.Keys(outcomes)) {
		result.Properties["outcome"].Enum = append(result.Properties["outcome"].Enum, outcomes[exit])
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
