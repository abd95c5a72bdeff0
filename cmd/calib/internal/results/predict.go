package results

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"calib/bench/pattern"
	"calib/cmd/calib/internal/command"
	"calib/cmd/calib/internal/measuring"
	"calib/internal/exit"
	"calib/internal/files"
	"calib/internal/lists"
	"calib/internal/units"
	"calib/internal/yaml"
	"calib/params"
	"calib/predict"
	"calib/reports"
)

const predictSizes = "1,64,1KiB,16KiB,64KiB,1MiB" // those of a graph that asks for no message

func PredictCommand() *cli.Command {
	return &cli.Command{Name: "predict", ArgsUsage: "[PARAMS|RUN]",
		Usage: "predict how long operations and communication graphs take",
		Description: "calib predict RUN --op bcast --nodes 8 --bytes 1,64KiB  every algorithm\n" +
			"calib predict RUN --op allreduce --best --nodes 4..16   the fastest\n" +
			"calib predict RUN --op overlap --work 1ms,10ms          a second thread\n" +
			"calib predict --graph FILE [RUN]                        a graph, step by step\n" +
			"calib predict validate RUN                              beside unseen traffic\n" +
			"PARAMS is a params.json, or numbers in YAML as those of a paper (see\n" +
			"examples/params-hku.yaml), RUN a run directory. A graph is YAML (docs/reference/predict.md,\n" +
			"examples/graphs); it may use a run's blocks \"host\" and \"network\".\n" +
			"Operations: " + strings.Join(operations(), ", ") + ".",
		Flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: "op", Usage: "`OPERATION` to predict, such as bcast"},
			&cli.StringFlag{Name: "graph", Usage: "`FILE` that describes the communication graph"},
			&cli.StringFlag{Name: "nodes", Usage: "numbers of hosts, `LIST` such as 4,8 or 2..64; default the run's"},
			&cli.StringFlag{Name: "bytes", Usage: "message `SIZES`, such as 1,64,1KiB..4MiB; default " + predictSizes},
			&cli.StringFlag{Name: "algo", Usage: "one `ALGORITHM` of the operation; default all"},
			&cli.BoolFlag{Name: "best", Usage: "only name the fastest algorithm"},
			&cli.BoolFlag{Name: "all-models", Usage: "what every model predicts"},
			&cli.StringFlag{Name: "model", Usage: "`MODELS` of " + strings.Join(predict.Models, ", ") +
				"; default the first that predicts the algorithm"},
			command.JSONFlag(),
		}, command.Grouped("For some operations", []cli.Flag{
			&cli.StringFlag{Name: "window", Usage: "gather: `SENDERS` at once, or best"},
			&cli.IntFlag{Name: "strips", Usage: "mg: strips `N` of a plane, p_x; the other factor of the hosts is p_t"},
			&cli.StringFlag{Name: "work", Usage: "overlap: computation between two exchanges, `TIMES` such as 1ms"},
			&cli.IntFlag{Name: "messages", Value: 1, Usage: "overlap: `N` messages in an exchange, one after the other"},
			&cli.Float64Flag{Name: "dimension", Usage: "model logpc: the hosts are nodes of a k-ary `N`-cube"},
			&cli.Float64Flag{Name: "distance", Usage: "with --dimension: `K` hops of a message in each, on average"},
		})),
		Subcommands: []*cli.Command{measuring.ValidateCommand()},
		Action:      predictAction,
	}
}

// Flags of predict that do not go with every way to ask.
var (
	patternFlags = []string{"algo", "model", "all-models", "best", "strips"}
	overlapFlags = []string{"work", "messages"}
	windowFlags  = []string{"window"}
	cubeFlags    = []string{"dimension", "distance"}
)

func predictAction(c *cli.Context) (err error) {
	if err := command.CheckArgs(c); err != nil {
		return err
	}
	do, where, others := predictOperation, "--op "+overlapOperation, overlapFlags
	switch graph, op := c.String("graph"), c.String("op"); {
	case (graph == "") == (op == ""):
		return exit.Usagef("want --op OPERATION or --graph FILE (see %s --help)", c.Command.HelpName)
	case graph != "":
		do, where, others = predictGraph, "--op, not with --graph", slices.Concat(patternFlags, overlapFlags, windowFlags,
			cubeFlags, []string{"nodes"})
	case op == overlapOperation:
		do, where = predictOverlap, "communication patterns, not with --op "+overlapOperation
		others = slices.Concat(patternFlags, windowFlags, cubeFlags)
	case op == remapOperation:
		do, where = predictRemap, "other operations, not with --op "+remapOperation
		others = slices.Concat(patternFlags, overlapFlags, windowFlags)
	case c.IsSet("window"):
		do, where = predictGather, "--op gather, and without --window"
		if others = slices.Concat(patternFlags, overlapFlags, cubeFlags); op != "gather" {
			return exit.Usagef("--window goes with --op gather")
		}
	}
	if i := slices.IndexFunc(others, c.IsSet); i >= 0 {
		return exit.Usagef("--%s goes with %s", others[i], where)
	}
	p := new(params.Params)
	if c.String("graph") == "" || c.NArg() > 0 { // a graph may do without a run
		if p, err = typedOrRun(c); err != nil {
			return err
		}
	}
	return command.Compute(c, func() error { return do(c, p) })
}

// typedOrRun reads the argument: YAML that somebody typed, a params.json, or a run.
func typedOrRun(c *cli.Context) (*params.Params, error) {
	arg := c.Args().First()
	if ext := filepath.Ext(arg); c.NArg() != 1 || ext != ".yaml" && ext != ".yml" {
		_, p, err := command.ParamsArg(c)
		return p, err
	}
	text, err := files.Read(arg, yaml.Max)
	if err != nil {
		return nil, exit.With(exit.Usage, err)
	}
	p, err := predict.Typed(text)
	if err != nil {
		return nil, exit.Usagef("%s: %w", arg, err)
	}
	return p, nil
}

type predicted struct {
	Predictions []predict.Prediction        `json:"predictions,omitempty"`
	Best        []predict.Choice            `json:"best,omitempty"`
	Overlap     []predict.OverlapPrediction `json:"overlap,omitempty"`
	Gathers     []predict.GatherByWindows   `json:"gathers,omitempty"`
	Remaps      []predict.RemapPrediction   `json:"remaps,omitempty"`
	Notes       []string                    `json:"notes,omitempty"`
}

func operations() []string { return append(pattern.Operations(), overlapOperation, remapOperation) }

const maxHosts = 4096 // bounds the teams of a prediction: the simulation runs a thread for each

func predictOperation(c *cli.Context, p *params.Params) error {
	patterns, err := patternsOf(c)
	if err != nil {
		return err
	}
	least := len(p.Run.Hosts)
	if !slices.ContainsFunc(patterns, func(v pattern.Pattern) bool { return v.Defined(least) }) {
		least = pattern.Least
	}
	hosts, sizes, err := asked(c, least)
	cube, other := cubeOf(c)
	if err = cmp.Or(err, other); err != nil {
		return err
	}
	var models []string
	if c.String("model") != "" {
		models = command.List(c, "model")
	}
	q, err := predict.NewOnCube(p, models, cube)
	if err != nil {
		return exit.Usagef("predict: %w", err)
	}
	out := predicted{Notes: q.Notes()}
	if c.Bool("best") {
		return answerBest(c, q, hosts, sizes, out)
	}
	for _, pat := range patterns {
		for _, n := range hosts {
			for _, m := range sizes {
				rows := q.Predict(predict.Query{Pattern: pat, Hosts: n, Bytes: m})
				if models == nil && !c.Bool("all-models") && len(rows) > 0 {
					// The first that can, or else why the first cannot.
					best := max(0, slices.IndexFunc(rows, func(v predict.Prediction) bool { return v.Why == "" }))
					rows = rows[best : best+1]
				}
				out.Predictions = append(out.Predictions, rows...)
			}
		}
	}
	if !slices.ContainsFunc(out.Predictions, func(v predict.Prediction) bool { return v.Why == "" }) {
		err = exit.With(exit.Inconclusive, errors.New("no model predicts any of these"))
	}
	return command.AnswerResult(c, reports.Result{Command: "predict", Data: out}, err, out.printPredictions)
}

// patternsOf are the algorithms of an operation that are asked for, on the grid that --strips asks for.
func patternsOf(c *cli.Context) (out []pattern.Pattern, err error) {
	op, algo := c.String("op"), c.String("algo")
	var have []string
	for _, v := range pattern.OfOperation(op) {
		if have = append(have, v.Algorithm); algo != "" && v.Algorithm != algo {
			continue
		}
		if c.IsSet("strips") {
			with, ok := v.WithStrips(c.Int("strips"))
			if v = with; !ok {
				return nil, exit.Usagef("--strips %d: want 1 or more, and an operation on a grid: mg", c.Int("strips"))
			}
		}
		out = append(out, v)
	}
	switch {
	case have == nil:
		err = exit.Usagef("--op %q: want one of %s", op, strings.Join(operations(), ", "))
	case out == nil:
		err = exit.Usagef("--algo %q: %s has %s", algo, op, strings.Join(have, ", "))
	case c.Bool("best") && slices.ContainsFunc([]string{"algo", "all-models", "strips"}, c.IsSet):
		err = exit.Usagef("--best compares all algorithms and prints its choice: it goes without --algo, --all-models " +
			"and --strips")
	}
	return out, err
}

// numbers reads the list of a flag, such as 4,8,16 or 1KiB..1MiB, or else one that is given.
func numbers(c *cli.Context, flag, list string, least, most int) ([]int, error) {
	sizes, err := units.ParseSizes(cmp.Or(c.String(flag), list))
	if err != nil && flag == "nodes" {
		err = fmt.Errorf("%q: want numbers of hosts, such as 4,8 or 2..64", c.String(flag))
	}
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
	var rows []predict.Prediction
	var sizes []int
	for _, v := range d.Predictions {
		says := v.Model + ": " + v.Why
		switch {
		case v.Why == "":
			rows, sizes = append(rows, v), append(sizes, v.Bytes)
		case !slices.Contains(d.Notes, says): // often the same for all rows
			d.Notes = append(d.Notes, says)
		}
	}
	slices.Sort(sizes)
	if sizes = slices.Compact(sizes); len(sizes) > 1 && len(sizes) <= mostColumns {
		widest, err := printBySize(w, rows, sizes)
		if widest > 0 {
			says := fmt.Sprintf("95%% intervals are ± %s or narrower; --json has each", percent(widest))
			d.Notes = slices.Insert(d.Notes, 0, says)
		}
		return cmp.Or(err, command.Lines(w, d.Notes))
	}
	t := command.NewTable(w, "algorithm", "hosts", "bytes", "model", "time", "95% interval")
	for _, v := range rows {
		ci := ends(v.CI95, seconds)
		if b := v.Bounds; b != nil {
			ci += fmt.Sprintf("; %s without overlap, %s with full overlap", seconds(b[0]), seconds(b[1]))
			ci = strings.TrimPrefix(ci, "; ") // typed numbers have no interval
		}
		t.Row(v.Algorithm, v.Hosts, v.Bytes, v.Model, seconds(v.Seconds), ci)
	}
	return cmp.Or(t.Flush(), command.Lines(w, d.Notes))
}

const mostColumns = 6 // sizes beside each other, on a screen of 80 columns

// printBySize prints a row for each algorithm, number of hosts and model, with the times of all sizes. It returns the
// relative half-width of their widest interval.
func printBySize(w io.Writer, rows []predict.Prediction, sizes []int) (widest float64, err error) {
	type key struct {
		algorithm, model string
		hosts            int
	}
	var keys []key
	times := map[key][]string{}
	for _, v := range rows {
		k := key{v.Algorithm, v.Model, v.Hosts}
		if times[k] == nil {
			keys, times[k] = append(keys, k), make([]string, len(sizes))
		}
		times[k][slices.Index(sizes, v.Bytes)] = seconds(v.Seconds)
		if v.CI95 != nil && v.Seconds > 0 {
			widest = max(widest, (v.CI95[1]-v.CI95[0])/2/v.Seconds)
		}
	}
	headings := lists.Map(sizes, func(m int) string { return units.Bytes(m).String() })
	t := command.NewTable(w, append([]string{"algorithm", "hosts", "model"}, headings...)...)
	for _, k := range keys {
		cells := lists.Map(times[k], func(text string) any { return text })
		t.Row(append([]any{k.algorithm, k.hosts, k.model}, cells...)...)
	}
	return widest, t.Flush()
}

func ends(ci *[2]float64, format func(float64) string) string {
	if ci == nil {
		return ""
	}
	return format(ci[0]) + " to " + format(ci[1])
}

func seconds(v float64) string { return units.Format(v, "s") }

// answerBest prints the fastest algorithm for each size and number of hosts.
func answerBest(c *cli.Context, q *predict.Predictor, hosts, sizes []int, out predicted) error {
	for _, n := range hosts {
		for _, m := range sizes {
			choice, err := q.Best(c.String("op"), n, m)
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
