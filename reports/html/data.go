package html

import (
	"math"
	"strconv"

	"calib/internal/units"
	"calib/reports/figure"
)

// num is a number of a figure: ten digits are more than a screen shows. What JSON cannot hold is null, a gap.
type num float64

// MarshalJSON writes n.
func (n num) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(n)) || math.IsInf(float64(n), 0) {
		return []byte("null"), nil
	}
	return strconv.AppendFloat(nil, float64(n), 'g', 10, 64), nil
}

func nums(v []float64) []num {
	if v == nil {
		return nil
	}
	out := make([]num, len(v))
	for i, x := range v {
		out[i] = num(x)
	}
	return out
}

// The figure as the page's script reads it. The template writes it as JSON and escapes <, > and &.
type (
	axisData struct {
		Name      string   `json:"name"`
		Unit      string   `json:"unit"`
		Log       bool     `json:"log,omitempty"`
		Multiples [][2]any `json:"multiples"` // factor and name, the largest first
	}
	traceData struct {
		Name  string   `json:"name"`
		Kind  string   `json:"kind"`
		X     []num    `json:"x"`
		Y     []num    `json:"y"`
		Lo    []num    `json:"lo,omitempty"`
		Hi    []num    `json:"hi,omitempty"`
		Group int      `json:"group"`
		Text  []string `json:"text,omitempty"`
	}
	markData struct {
		X     num    `json:"x"`
		Lo    num    `json:"lo,omitempty"`
		Hi    num    `json:"hi,omitempty"`
		Label string `json:"label"`
	}
	heatData struct {
		Rows   []string `json:"rows"`
		Cols   []string `json:"cols"`
		Z      [][]num  `json:"z"`
		Values axisData `json:"values"`
		High   bool     `json:"high,omitempty"` // high is better
		Flags  []flag   `json:"flags,omitempty"`
	}
	flag struct {
		Row int    `json:"row"`
		Col int    `json:"col"`
		Why string `json:"why"`
	}
	figureData struct {
		ID     string      `json:"id"`
		X      axisData    `json:"x"`
		Y      axisData    `json:"y"`
		Traces []traceData `json:"traces,omitempty"`
		Marks  []markData  `json:"marks,omitempty"`
		Heat   *heatData   `json:"heat,omitempty"`
		Below  *figureData `json:"below,omitempty"`
	}
)

func dataOf(f *figure.Figure) *figureData {
	d := &figureData{ID: f.ID, X: axisOf(f.X), Y: axisOf(f.Y)}
	for _, t := range f.Traces {
		d.Traces = append(d.Traces, traceData{t.Name, t.Kind, nums(t.X), nums(t.Y), nums(t.Lo), nums(t.Hi), t.Group, t.Text})
	}
	for _, m := range f.Marks {
		d.Marks = append(d.Marks, markData{num(m.X), num(m.Lo), num(m.Hi), m.Label})
	}
	if f.Heat != nil {
		d.Heat = heatOf(f.Heat)
	}
	if f.Below != nil {
		d.Below = dataOf(f.Below)
	}
	return d
}

func axisOf(a figure.Axis) axisData {
	d := axisData{Name: a.Name, Unit: a.Unit, Log: a.Log}
	for _, m := range units.Multiples(a.Unit) {
		d.Multiples = append(d.Multiples, [2]any{m.Factor, m.Name})
	}
	return d
}

func heatOf(h *figure.Heat) *heatData {
	d := &heatData{Rows: h.Rows, Cols: h.Cols, Values: axisOf(figure.Axis{Unit: h.Unit}), High: h.Better == figure.BetterHigher}
	for _, row := range h.Z {
		d.Z = append(d.Z, nums(row))
	}
	for _, f := range h.Flagged {
		d.Flags = append(d.Flags, flag(f))
	}
	return d
}
