package main

import (
	"fmt"

	"calib/reports/figure"
)

// row is one number of hosts.
type row struct {
	measured
	fitted
}

// fitted is what fitting and reporting took.
type fitted struct {
	Fit    float64 // s, of the whole command
	CPU    float64 // s, of all its threads
	Peak   float64 // resident memory at its largest [B]
	Report int64   // bytes of report.html
}

const header = "| hosts | rounds | slots | timings | samples.jsonl, MB | schedule, s | tickets, s | slots, s | run.json, s | all, s | its CPU, s | live heap, MB | " +
	"fit and report, s | its CPU, s | its peak, MB | report.html, MB | simulated hosts, s |\n|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|"

func (r row) String() string {
	return fmt.Sprintf("| %d | %d | %d | %d | %.1f | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f | %.1f | %.2f | %.2f | %.0f | %.2f | %.0f |", r.Hosts, r.Rounds, r.Slots, r.Timings,
		float64(r.Samples)/1e6, r.Schedule, r.Prepare, r.Walk, r.Record, r.own(), r.measured.CPU, r.Heap/1e6, r.Fit, r.fitted.CPU, r.Peak/1e6, float64(r.Report)/1e6, r.Measuring)
}

// growth draws time and memory by the number of hosts.
func growth(rows []row) []figure.Figure {
	time := figure.Figure{ID: "scale-time", Title: "CPU time beyond the measuring, by the number of hosts", Y: figure.Axis{Name: "CPU time", Unit: "s", Log: true}}
	memory := figure.Figure{ID: "scale-memory", Title: "Memory by the number of hosts", Y: figure.Axis{Name: "memory", Unit: "B", Log: true}}
	last := rows[len(rows)-1]
	time.Says = fmt.Sprintf("Simulated hosts, plan standard at a quarter of its effort, %d rounds. Coordinating is schedule, tickets, slots, stopping and writing samples to disk. "+
		"At %d hosts it takes %.2g s of CPU time, fit and report %.2g s.", last.Rounds, last.Hosts, last.measured.CPU, last.fitted.CPU)
	memory.Says = fmt.Sprintf("Of the coordinator what is live between slots, of fit and report the resident memory at its largest. At %d hosts %.3g MB and %.3g MB.",
		last.Hosts, last.Heap/1e6, last.Peak/1e6)
	for _, c := range []struct {
		fig  *figure.Figure
		name string
		of   func(row) float64
	}{
		{&time, "coordinating", func(r row) float64 { return r.measured.CPU }},
		{&time, "fit and report", func(r row) float64 { return r.fitted.CPU }},
		{&memory, "coordinating", func(r row) float64 { return r.Heap }},
		{&memory, "fit and report", func(r row) float64 { return r.Peak }},
	} {
		c.fig.X = figure.Axis{Name: "hosts", Log: true}
		group := len(c.fig.Traces) / 2
		points := figure.Trace{Name: c.name, Kind: figure.Points, Group: group}
		for _, r := range rows {
			points.X, points.Y = append(points.X, float64(r.Hosts)), append(points.Y, c.of(r))
		}
		line := points
		line.Kind, line.Name = figure.Line, ""
		c.fig.Traces = append(c.fig.Traces, points, line)
	}
	return []figure.Figure{time, memory}
}
