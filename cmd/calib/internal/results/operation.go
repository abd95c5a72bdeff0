package results

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"calib/bench/pattern"
	"calib/cmd/calib/internal/command"
	"calib/fit/loggp"
	"calib/internal/exit"
	"calib/internal/files"
	"calib/internal/params"
	"calib/internal/units"
	"calib/predict"
	"calib/reports/draw"
	"calib/reports/figure"
)

func operationFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "op", Usage: "`OPERATION` to predict, such as bcast"},
		&cli.StringFlag{Name: "algo", Usage: "one `ALGORITHM` of it; default all"},
		&cli.StringFlag{Name: "hosts", Usage: "numbers of hosts, `LIST` such as 4,8,16 or 2..64 (doublings); default those of the run"},
		&cli.StringFlag{Name: "model", Usage: "`MODELS`, comma separated: " + strings.Join(predict.Models, ", ") + "; default the first that predicts the algorithm"},
		&cli.BoolFlag{Name: "all-models", Usage: "what every model predicts"},
		&cli.Float64Flag{Name: "dimension", Usage: "dimension `N` of a k-ary n-cube that the hosts are nodes of (model logpc); default: what the run says they share"},
		&cli.Float64Flag{Name: "distance", Usage: "with --dimension, the mean number of hops `K` of a message in each, such as 1.94 for a mesh of 4 by 8"},
		&cli.BoolFlag{Name: "best", Usage: "name the fastest algorithm instead, by the first model that predicts it"},
		&cli.StringFlag{Name: "sweep", Usage: "also write the predictions to `FILE`.csv"},
		&cli.StringFlag{Name: "figure", Usage: "also draw them: `FILE`.svg or FILE.png"},
	}
}

func operations() []string { return append(pattern.Operations(), overlapOperation) }

const maxHosts = 4096 // bounds the teams of a prediction: the simulation runs a thread for each

type asked struct {
	operation    string
	patterns     []pattern.Pattern
	hosts, sizes []int
}

func predictOperation(c *cli.Context) error {
	_, p, err := command.ParamsArg(c)
	if err != nil {
		return err
	}
	a, err := askedOf(c, p)
	if err != nil {
		return err
	}
	var models []string
	if c.String("model") != "" {
		models = command.List(c, "model")
	}
	if c.IsSet("dimension") != c.IsSet("distance") {
		return exit.Usagef("--dimension and --distance describe a network together")
	}
	settings := predict.Settings{Seed: p.Run.Seed, Topology: loggp.Cube{Dimension: c.Float64("dimension"), Distance: c.Float64("distance")}}
	q, err := predict.New(p, models, settings)
	if err != nil {
		return exit.Usagef("predict: %w", err)
	}
	out := predicted{Notes: q.Notes()}
	if c.Bool("best") {
		return answerBest(c, q, a, out)
	}
	for _, pat := range a.patterns {
		for _, hosts := range a.hosts {
			for _, m := range a.sizes {
				rows := q.Predict(predict.Query{Pattern: pat, Hosts: hosts, Bytes: m})
				best := slices.IndexFunc(rows, func(v predict.Prediction) bool { return v.Why == "" })
				if models == nil && !c.Bool("all-models") && best >= 0 {
					rows = rows[best : best+1]
				}
				out.Predictions = append(out.Predictions, rows...)
			}
		}
	}
	if err := writeFiles(c, sweepTable(out.Predictions), sweepFigure(out.Predictions)); err != nil {
		return err
	}
	return command.Answer(c, "predict", out, out.printPredictions)
}

func askedOf(c *cli.Context, p *params.Params) (a asked, err error) {
	a.operation = c.String("op")
	var have []string
	for _, v := range pattern.OfOperation(a.operation) {
		have = append(have, v.Algorithm)
		if algo := c.String("algo"); algo == "" || v.Algorithm == algo {
			a.patterns = append(a.patterns, v)
		}
	}
	switch {
	case !slices.Contains(pattern.Operations(), a.operation):
		return a, exit.Usagef("--op %q: want one of %s", a.operation, strings.Join(operations(), ", "))
	case len(a.patterns) == 0:
		return a, exit.Usagef("--algo %q: %s has %s", c.String("algo"), a.operation, strings.Join(have, ", "))
	case c.Bool("best") && slices.ContainsFunc([]string{"algo", "all-models", "sweep", "figure"}, c.IsSet):
		return a, exit.Usagef("--best compares all algorithms and prints its choice: it goes without --algo, --all-models, --sweep and --figure")
	}
	hosts := len(p.Run.Hosts)
	if !slices.ContainsFunc(a.patterns, func(v pattern.Pattern) bool { return v.Defined(hosts) }) {
		hosts = pattern.Least
	}
	if a.hosts, err = numbers(c, "hosts", strconv.Itoa(hosts), 2, maxHosts); err == nil {
		a.sizes, err = numbers(c, "bytes", predictSizes, 1, 1<<30)
	}
	return a, err
}

// numbers reads the list of a flag, such as 4,8,16 or 1KiB..1MiB, or else one that is given.
func numbers(c *cli.Context, flag, list string, least, most int) ([]int, error) {
	sizes, err := units.ParseSizes(cmp.Or(c.String(flag), list))
	if err != nil {
		return nil, exit.Usagef("--%s: %w", flag, err)
	}
	var out []int
	for _, v := range sizes {
		if int(v) < least || int(v) > most {
			return nil, exit.Usagef("--%s: %d: want %d to %d", flag, v, least, most)
		}
		out = append(out, int(v))
	}
	return out, nil
}

func (d predicted) printPredictions(w io.Writer) error {
	t := command.NewTable(w, "algorithm", "hosts", "bytes", "model", "time", "95% interval")
	for _, v := range d.Predictions {
		if v.Why != "" { // often the same for all rows: said once
			if says := v.Model + ": " + v.Why; !slices.Contains(d.Notes, says) {
				d.Notes = append(d.Notes, says)
			}
			continue
		}
		ci := ends(v.CI95, seconds)
		if b := v.Bounds; b != nil {
			ci += fmt.Sprintf("; %s without overlap, %s with full overlap", seconds(b[0]), seconds(b[1]))
		}
		t.Row(v.Algorithm, v.Hosts, v.Bytes, v.Model, seconds(v.Seconds), ci)
	}
	return cmp.Or(t.Flush(), command.Lines(w, d.Notes))
}

func ends(ci *[2]float64, format func(float64) string) string {
	if ci == nil {
		return ""
	}
	return format(ci[0]) + " to " + format(ci[1])
}

func seconds(v float64) string { return units.Format(v, "s") }

func writeFiles(c *cli.Context, table [][]string, drawn figure.Figure) error {
	if path := c.String("sweep"); path != "" {
		if filepath.Ext(path) != ".csv" {
			return exit.Usagef("--sweep %q: want a file that ends in .csv", path)
		}
		if err := files.Write(path, func(w io.Writer) error { return files.NewSheet(w).WriteAll(table) }); err != nil {
			return err
		}
	}
	path := c.String("figure")
	if path == "" {
		return nil
	}
	format := strings.TrimPrefix(filepath.Ext(path), ".")
	if format != draw.SVG && format != draw.PNG {
		return exit.Usagef("--figure %q: want a file that ends in .svg or .png", path)
	}
	return files.Write(path, func(w io.Writer) error { return draw.Write(w, drawn, format) })
}

func sweepTable(rows []predict.Prediction) [][]string {
	lines := [][]string{{"model", "operation", "algorithm", "segment", "hosts", "bytes", "seconds", "lo", "hi", "why"}}
	for _, v := range rows {
		took := any(v.Seconds)
		if v.Why != "" {
			took = nil
		}
		lines = append(lines, command.Cells(v.Model, v.Operation, v.Algorithm, v.Segment, v.Hosts, v.Bytes, took, v.CI95,
			v.Why))
	}
	return lines
}

// sweepFigure draws a line with its band for each algorithm, number of hosts and model.
func sweepFigure(rows []predict.Prediction) figure.Figure {
	f := figure.Figure{ID: "predictions", Title: "Predicted times", X: figure.Axis{Name: "bytes", Unit: "B", Log: true},
		Y: figure.Axis{Name: "time", Unit: "s", Log: true}}
	for _, v := range rows {
		if v.Why == "" {
			addPoint(&f, fmt.Sprintf("%s, %d hosts, %s", v.Algorithm, v.Hosts, v.Model), float64(v.Bytes), v.Seconds)
		}
	}
	figure.Settle(&f)
	return f
}

func addPoint(f *figure.Figure, name string, x, y float64) {
	i := slices.IndexFunc(f.Traces, func(t figure.Trace) bool { return t.Name == name })
	if i < 0 {
		i = len(f.Traces)
		f.Traces = append(f.Traces, figure.Trace{Name: name, Kind: figure.Line, Group: i})
	}
	f.Traces[i].Points = append(f.Traces[i].Points, figure.Point{X: x, Y: y})
}

// answerBest prints the fastest algorithm for each size and number of hosts.
func answerBest(c *cli.Context, q *predict.Predictor, a asked, out predicted) error {
	for _, hosts := range a.hosts {
		for _, m := range a.sizes {
			choice, err := q.Best(a.operation, hosts, m)
			if err != nil {
				return exit.With(exit.Inconclusive, err)
			}
			out.Best = append(out.Best, choice)
		}
	}
	return command.Answer(c, "predict", out, func(w io.Writer) error {
		t := command.NewTable(w, "hosts", "bytes", "model", "best", "time", "next", "takes longer by", "95% interval", "")
		for _, v := range out.Best {
			next, margin := "-", ""
			if v.Next != nil {
				next, margin = algorithm(*v.Next), percent(v.Margin)
			}
			t.Row(v.Hosts, v.Bytes, v.Model, algorithm(v.Best), seconds(v.Best.Seconds), next, margin,
				ends(v.MarginCI95, percent), map[bool]string{false: "not decided"}[v.Decided])
		}
		return cmp.Or(t.Flush(), command.Lines(w, out.Notes))
	})
}

func algorithm(v predict.Prediction) string {
	if v.Segment == 0 {
		return v.Algorithm
	}
	return fmt.Sprintf("%s, segments of %s", v.Algorithm, units.Bytes(v.Segment))
}

func percent(v float64) string { return fmt.Sprintf("%.1f%%", 100*v) }
