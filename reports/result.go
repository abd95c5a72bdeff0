package reports

import (
	"bytes"
	"encoding/json"
	"io"

	"calib/fit/params"
)

// ResultSchema names the version of the document that --json prints.
const ResultSchema = "calib.result/1"

// Outcome of a command, one for each exit code.
const (
	OutcomeDone         = "done"
	OutcomeFailed       = "failed"
	OutcomeUsage        = "usage"
	OutcomeRegression   = "regression"
	OutcomePartial      = "partial"
	OutcomeInconclusive = "inconclusive"
	OutcomeInterrupted  = "interrupted"
)

// OutcomeOf returns the outcome that an exit code stands for. An unknown code is a failure.
func OutcomeOf(exit int) string {
	switch exit {
	case 0:
		return OutcomeDone
	case 2:
		return OutcomeUsage
	case 3:
		return OutcomeRegression
	case 4:
		return OutcomePartial
	case 5:
		return OutcomeInconclusive
	case 130:
		return OutcomeInterrupted
	}
	return OutcomeFailed
}

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
	r.Schema, r.Outcome = ResultSchema, OutcomeOf(r.Exit)
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
