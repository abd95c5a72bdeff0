package reports

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"

	"calib/internal/params"
)

// ResultSchema names the version of the document that --json prints.
const ResultSchema = "calib.result/1"

// outcomes are how a command ends, by exit code. An unknown code is a failure.
var outcomes = map[int]string{0: "done", 1: "failed", 2: "usage", 3: "regression", 4: "partial", 5: "inconclusive", 130: "interrupted"}

// Result is the one document that --json prints, whatever the command and however it ended.
type Result struct {
	Schema  string `json:"schema"`
	Command string `json:"command"` // "run", "lab up"
	Outcome string `json:"outcome"`
	Exit    int    `json:"exit"`
	Error   string `json:"error,omitempty"` // what was attempted, where, and what to do about it
	Run     string `json:"run,omitempty"`   // the run directory
	// Files are the paths of what was written, by name ("params.json").
	Files    map[string]string `json:"files,omitempty"`
	Warnings []string          `json:"warnings,omitempty"`
	Params   *params.Params    `json:"params,omitempty"`
	Plan     *Plan             `json:"plan,omitempty"`
	// Data is the result of a command without params or plan, in a form of its own.
	Data any `json:"data,omitempty"`
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

// WriteJSON writes v as one indented JSON document.
func WriteJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
