package reports

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"calib/internal/dataset"
	"calib/internal/glossary"
	"calib/internal/lists"
	"calib/internal/units"
	"calib/params"
)

const ResultSchema = "calib.result/1" // names the version of the document that --json prints

// outcomes are how a command ends, by exit code. An unknown code is a failure.
var outcomes = map[int]string{0: "done", 1: "failed", 2: "usage", 3: "regression", 4: "partial", 5: "inconclusive",
	130: "interrupted"}

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

// Schemas returns the JSON Schemas of the documents this package and those below it define, by name: "params"
// (params.json), "points" (points.json), "header" and "sample" (the first and every later line of samples.jsonl) and
// "result" (what --json prints). That of run.json is published by its own package.
func Schemas() (map[string]*jsonschema.Schema, error) {
	file, points, err := params.JSONSchemas()
	if err != nil {
		return nil, fmt.Errorf("schema of params: %w", err)
	}
	header, err1 := params.SchemaOf[dataset.Header]("header", dataset.Schema, "First line of samples.jsonl.", nil)
	sample, err2 := params.SchemaOf[dataset.Sample]("sample", "",
		"Every later line of samples.jsonl: one measured batch, raw timings in nanoseconds.", nil)
	describe(file, points, sample)
	inner := file.CloneSchemas()
	inner.ID, inner.Schema = "", "" // one document, one resource
	result, err3 := params.SchemaOf[Result]("result", ResultSchema,
		"What --json prints, whatever the command and however it ended.",
		map[reflect.Type]*jsonschema.Schema{reflect.TypeFor[params.Params](): inner})
	if err := cmp.Or(err1, err2, err3); err != nil {
		return nil, err
	}
	sample.Properties["exp"].MinLength = jsonschema.Ptr(1)
	point := sample.Properties["point"] // null: an experiment without factors
	point.Type, point.Types = "", []string{"object", "null"}
	exits := slices.Sorted(maps.Keys(outcomes))
	result.Properties["outcome"].Enum = lists.Map(exits, func(exit int) any { return outcomes[exit] })
	return map[string]*jsonschema.Schema{"params": file, "points": points, "header": header, "sample": sample,
		"result": result}, nil
}

// describe adds to the schemas of params.json, points.json and a sample what names in them mean. Others may follow.
func describe(file, points, sample *jsonschema.Schema) {
	names := glossary.Files()
	fit, whole := file.Properties["fits"].Items.Properties, points.Properties["fits"].Items.Properties
	for _, s := range []*jsonschema.Schema{file.Properties["findings"], fit["findings"], whole["findings"]} {
		s.Items.Properties["code"].AnyOf = meanings(names.Findings, func(f glossary.Finding) string { return f.Is })
	}
	for _, s := range []*jsonschema.Schema{file.Properties["measured"], whole["series"]} {
		s.Items.Properties["quantity"].AnyOf = meanings(names.Quantities, func(q glossary.Quantity) string { return q.Is })
	}
	phases, itself := map[string]string{}, func(is string) string { return is }
	for exp, own := range lists.ByKey(names.Phases) {
		for phase, is := range own {
			phases[phase] = strings.TrimPrefix(phases[phase]+"; "+exp+": "+is, "; ")
		}
	}
	sample.Properties["phase"].AnyOf = meanings(phases, itself)
	sample.Properties["flags"].Items.AnyOf = meanings(names.Flags, itself)
	for member, values := range map[string]map[string]glossary.Value{"point": names.Factors, "aux": names.Aux} {
		s := sample.Properties[member]
		s.Properties = map[string]*jsonschema.Schema{}
		for name, v := range values {
			s.Properties[name] = &jsonschema.Schema{Type: s.AdditionalProperties.Type, Description: v.String()}
		}
	}
}

// meanings are the names with what each means, and any other text. No schema may stand in two places: each has its own.
func meanings[V any](names map[string]V, is func(V) string) (out []*jsonschema.Schema) {
	for name, v := range lists.ByKey(names) {
		out = append(out, &jsonschema.Schema{Const: jsonschema.Ptr[any](name), Description: is(v)})
	}
	return append(out, &jsonschema.Schema{Type: "string"})
}

// Plan is the forecast of a run: what it will do to the network and for how long.
type Plan struct {
	Name  string `json:"name"`
	Hosts int    `json:"hosts"`
	Seed  uint64 `json:"seed"`
	// Rounds and Slots count the schedule at the start; points with wide intervals add rounds to it.
	Rounds int `json:"rounds"`
	Slots  int `json:"slots"`
	// MinutesLo is the time if no point needs more rounds, MinutesHi if every point uses up its budget.
	MinutesLo float64 `json:"minutes_lo"`
	MinutesHi float64 `json:"minutes_hi"`
	// LookSeconds is how much of that is before the first round, at most: hosts and network are looked at.
	LookSeconds float64 `json:"look_seconds,omitempty"`
	// BytesPerLink is what the busiest host's link carries at most, in one direction, without these looks.
	BytesPerLink units.Bytes `json:"bytes_per_link"`
	Network      string      `json:"network,omitempty"` // says what a probe saw; empty without one
	// RoundSeconds is the time of a round at full effort. Asked are the rounds that the plan wants at least: Rounds are
	// fewer where the budget has no room for them.
	RoundSeconds float64          `json:"round_seconds"`
	Asked        int              `json:"rounds_asked"`
	Experiments  []PlanExperiment `json:"experiments"`
	// Left names the experiments that the budget has no room for, WholeMinutes is the time of all experiments and points.
	Left         []string    `json:"left_out,omitempty"`
	Empty        []string    `json:"without_points,omitempty"` // named, but with nothing to measure on these hosts and sizes
	WholeMinutes float64     `json:"whole_minutes"`
	BurstBytes   units.Bytes `json:"burst_bytes,omitempty"` // the largest burst that is to overflow a port
}

type PlanExperiment struct {
	Name         string      `json:"name"`
	Points       int         `json:"points"`
	Whole        int         `json:"points_whole"` // without a budget
	Slots        int         `json:"slots"`
	Share        float64     `json:"share"` // of a round's time
	MinutesLo    float64     `json:"minutes_lo"`
	MinutesHi    float64     `json:"minutes_hi"`
	BytesPerLink units.Bytes `json:"bytes_per_link"`
}

// BurstText says what bursts do to a network.
func BurstText(largest units.Bytes) string {
	return fmt.Sprintf("To measure B_L, bursts of up to %v will overflow the switch port of one host at a time. "+
		"--no-flood leaves them out", largest)
}

func PlanText(w io.Writer, f Plan, o Options) error {
	p := newPage(o)
	p.line(2, "%s: %s, seed %d; %s, %s; %s; at most %s over the busiest link.", p.paint(bold, "Plan "+Clean(f.Name)),
		units.Plural(f.Hosts, "host"), f.Seed, units.Plural(f.Rounds, "round"),
		units.Plural(f.Slots, "slot"), p.paint(bold, timeRange(f.MinutesLo, f.MinutesHi)), f.BytesPerLink)
	if f.Network != "" {
		p.line(2, "%s.", strings.ToUpper(f.Network[:1])+f.Network[1:])
	}
	if f.LookSeconds > 0 {
		p.line(2, "Of the time, up to %s are looks before the first round; their bytes are not counted.",
			minutes(math.Ceil(f.LookSeconds)/60))
	}
	p.WriteByte('\n')
	if len(f.Experiments) == 0 {
		p.line(0, "Nothing to measure: no experiment has a point within these limits.")
	} else {
		g := NewGrid("experiment", "points/number", "slots/number", "share/number", "time/number", "bytes per link/number")
		for _, e := range f.Experiments {
			points := strconv.Itoa(e.Points)
			if e.Points < e.Whole {
				points += " of " + strconv.Itoa(e.Whole)
			}
			g.Add(Clean(e.Name), points, strconv.Itoa(e.Slots), fmt.Sprintf("%.0f%%", 100*e.Share),
				timeRange(e.MinutesLo, e.MinutesHi), e.BytesPerLink.String())
		}
		p.write(g)
	}
	if f.BurstBytes > 0 {
		p.WriteByte('\n')
		p.line(2, "%s.", BurstText(f.BurstBytes))
	}
	for i, l := range LeftText(f) {
		if i == 0 {
			p.WriteByte('\n')
		}
		p.line(2, "%s.", strings.ToUpper(l[:1])+l[1:])
	}
	return p.flush(w)
}

// LeftText says what a plan leaves out, a line each.
func LeftText(f Plan) (out []string) {
	var fewer []string
	for _, e := range f.Experiments {
		if e.Points < e.Whole {
			fewer = append(fewer, Clean(e.Name))
		}
	}
	if f.Rounds < f.Asked {
		rounds := units.Plural(f.Rounds, "round")
		out = append(out, fmt.Sprintf("the budget has room for %s, and the plan wants %d", rounds, f.Asked))
	}
	if len(f.Left) > 0 {
		out = append(out, "the budget has no room for "+strings.Join(f.Left, ", "))
	}
	if len(fewer) > 0 {
		out = append(out, "the budget leaves fewer points to "+strings.Join(fewer, ", "))
	}
	if len(out) > 0 {
		out = append(out, "the whole plan takes "+minutes(f.WholeMinutes))
	}
	if len(f.Empty) > 0 {
		out = append(out, "on these hosts, with these sizes, nothing is measured by "+strings.Join(f.Empty, ", "))
	}
	return out
}

// timeRange prints two bounds in minutes as "40 s to 2 min".
func timeRange(lo, hi float64) string {
	a, b := minutes(lo), minutes(hi)
	if a == b {
		return a
	}
	return a + " to " + b
}

// minutes prints a time as people plan with it: seconds below two minutes, then minutes, hours, and days.
func minutes(m float64) string {
	d := time.Duration(m * float64(time.Minute))
	switch {
	case m > 365*24*60: // also what a Duration cannot hold
		return "more than a year"
	case d >= 48*time.Hour:
		return fmt.Sprintf("%.0f days", d.Hours()/24)
	case d < 2*time.Minute:
		return fmt.Sprintf("%d s", int(d.Round(time.Second).Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min", int(d.Round(time.Minute).Minutes()))
	}
	return fmt.Sprintf("%.1f h", d.Hours())
}
