package results

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"calib/cmd/calib/internal/command"
	"calib/internal/exit"
	"calib/internal/params"
	"calib/internal/units"
	"calib/predict"
	"calib/predict/cost"
	"calib/reports/figure"
)

const predictSizes = "1,64,1KiB,16KiB,64KiB,1MiB" // those of a graph that asks for no message

func PredictCommand() *cli.Command {
	return &cli.Command{
		Name: "predict", Usage: "predict how long communication takes: operations, or a communication graph", ArgsUsage: "[PARAMS|RUN]",
		Description: "calib predict RUN --op bcast --hosts 4..16 --bytes 1,64KiB\n" +
			"                                      every algorithm of broadcast, by the best model of each\n" +
			"calib predict RUN --op allreduce --best --hosts 8 --bytes 1..1MiB\n" +
			"                                      the fastest algorithm, its segment size, and by how much\n" +
			"calib predict RUN --op bcast --algo binomial --hosts 8 --bytes 1..1MiB --sweep times.csv --figure times.svg\n" +
			"calib predict RUN --op overlap --work 1ms,10ms --messages 2 --bytes 4000 --hosts 8,64\n" +
			"                                      what a second thread gains that communicates while the first computes, and the best granularity\n" +
			"calib predict --graph FILE            reduce the graph to one block, step by step, and give its times\n" +
			"calib predict --graph FILE RUN        the same; FILE may use the run's blocks \"host\" (a, b) and \"network\" (a_c, b_c)\n" +
			"FILE is YAML; see docs/MODELS.md and examples/graphs. PARAMS is a params.json, RUN a run directory.\n" +
			"Operations: " + strings.Join(operations(), ", ") + ".",
		Flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: "graph", Usage: "`FILE` that describes the communication graph"},
			&cli.StringFlag{Name: "bytes", Usage: "message sizes, `SIZES` such as 1,64,1KiB..4MiB; default that of the graph's message, else " + predictSizes},
		}, operationFlags(), overlapFlags(), []cli.Flag{command.JSONFlag(), command.QuietFlag()}),
		Action: func(c *cli.Context) error {
			do, where, others := predictOperation, "--op "+overlapOperation, overlapFlags()
			switch graph, op := c.String("graph"), c.String("op"); {
			case (graph == "") == (op == ""):
				return exit.Usagef("want --op OPERATION or --graph FILE (see %s --help)", c.Command.HelpName)
			case graph != "":
				do, where, others = predictGraph, "--op, not with --graph", append(operationFlags(), overlapFlags()...)
			case op == overlapOperation:
				do, where = predictOverlap, "communication patterns, not with --op "+overlapOperation
				others = slices.DeleteFunc(operationFlags(), func(f cli.Flag) bool {
					return !slices.Contains([]string{"algo", "model", "all-models", "best"}, f.Names()[0])
				})
			}
			for _, f := range others {
				if name := f.Names()[0]; c.IsSet(name) {
					return exit.Usagef("--%s goes with %s", name, where)
				}
			}
			return do(c)
		},
	}
}

type predicted struct {
	Predictions []predict.Prediction        `json:"predictions,omitempty"`
	Best        []predict.Choice            `json:"best,omitempty"`
	Overlap     []predict.OverlapPrediction `json:"overlap,omitempty"`
	Notes       []string                    `json:"notes,omitempty"`
}

type ofGraph struct {
	Graph string `json:"graph"`
	cost.Reduced
	Times []cost.Times `json:"times"`
}

func predictGraph(c *cli.Context) error {
	known := map[string]params.Block{}
	if c.NArg() > 0 {
		_, p, err := command.ParamsArg(c)
		if err != nil {
			return err
		}
		known = blocksOf(p)
	}
	g, err := cost.LoadGraph(c.String("graph"), known)
	if err != nil {
		return exit.Usagef("--graph: %w", err)
	}
	out := ofGraph{Graph: g.Name, Reduced: g.Reduce()}
	if x, ok := g.Messages[g.Message]; ok && c.String("bytes") == "" {
		out.Times = append(out.Times, out.Reduced.Times(x))
	} else {
		sizes, err := units.ParseSizes(cmp.Or(c.String("bytes"), predictSizes))
		if err != nil {
			return exit.Usagef("--bytes: %w", err)
		}
		for _, x := range sizes {
			out.Times = append(out.Times, out.Reduced.Times(float64(x)))
		}
	}
	return command.Answer(c, "predict", out, out.print)
}

// blocksOf are the blocks of the hyperbolic model that a run has values for.
func blocksOf(p *params.Params) map[string]params.Block {
	out := map[string]params.Block{}
	for name, of := range map[string][2]string{"host": {"a", "b"}, "network": {"a_c", "b_c"}} {
		a, b := p.Parameters[of[0]].Value, p.Parameters[of[1]].Value
		if a != nil && b != nil {
			out[name] = params.Block{A: *a, B: *b}
		}
	}
	return out
}

func (d ofGraph) print(w io.Writer) error {
	if d.Graph != "" {
		fmt.Fprintln(w, d.Graph)
	}
	for i, s := range d.Steps {
		fmt.Fprintf(w, "%3d  %s\n", i+1, s)
	}
	fmt.Fprintf(w, "T_c(x) = a²/(a + b·x) + b·x with a = %s, b = %s\n\n", units.Format(d.Path.A, "s"), units.Format(d.Path.B, "s/B"))
	headings := []string{"bytes", "T_c"}
	if d.First != nil {
		headings = append(headings, "T_s preemptive", "non-preemptive", "T_r preemptive", "non-preemptive")
	}
	t := command.NewTable(w, headings...)
	for _, x := range d.Times {
		cells := []any{fmt.Sprintf("%.0f", x.Bytes), units.Format(x.Communication, "s")}
		if e := x.Ends; e != nil {
			cells = append(cells, units.Format(e.Send, "s"), "≤ "+units.Format(e.SendBlocking, "s"),
				units.Format(e.Receive, "s"), "≤ "+units.Format(e.ReceiveBlocking, "s"))
		}
		t.Row(cells...)
	}
	return t.Flush()
}

const overlapOperation = "overlap" // the --op of a program that computes while messages are under way

const maxMessages = 1 << 20

func overlapFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "work", Usage: "--op overlap: computation of a processor between two exchanges, `TIMES` such as 100us,1ms; default 0.1 to 100 times what the exchange takes"},
		&cli.IntFlag{Name: "messages", Value: 1, Usage: "--op overlap: messages, `N`, that a processor transfers one after the other in an exchange"},
	}
}

func predictOverlap(c *cli.Context) error {
	_, p, err := command.ParamsArg(c)
	if err != nil {
		return err
	}
	o, err := predict.NewOverlap(p, predict.Settings{Seed: p.Run.Seed})
	if err != nil {
		return exit.Usagef("predict: %w", err)
	}
	rows, sizes, err := overlapRows(c, o, len(p.Run.Hosts))
	if err != nil {
		return err
	}
	out := predicted{Overlap: rows, Notes: o.Notes(sizes)}
	if err := writeFiles(c, overlapTable(rows), gainFigure(rows)); err != nil {
		return err
	}
	return command.Answer(c, "predict", out, out.printOverlap)
}

// overlapRows reads the flags and predicts all that they ask for. hosts is the default number of processors.
func overlapRows(c *cli.Context, o *predict.Overlap, hosts int) (rows []predict.OverlapPrediction, sizes []int, err error) {
	processors, err := numbers(c, "hosts", strconv.Itoa(max(2, hosts)), 1, 1<<20)
	if err != nil {
		return nil, nil, err
	}
	if c.String("bytes") == "" {
		for _, s := range o.Sizes() {
			sizes = append(sizes, int(s))
		}
	} else if sizes, err = numbers(c, "bytes", "", 1, 1<<30); err != nil {
		return nil, nil, err
	}
	q := c.Int("messages")
	if q < 1 || q > maxMessages {
		return nil, nil, exit.Usagef("--messages %d: want 1 to %d", q, maxMessages)
	}
	works, err := times(c.String("work"))
	if err != nil {
		return nil, nil, exit.Usagef("--work: %w", err)
	}
	for _, p := range processors {
		for _, m := range sizes {
			of := works
			if of == nil {
				t, err := o.Transfer(m)
				if err != nil {
					return nil, nil, exit.Usagef("--bytes: %w", err)
				}
				for _, k := range spread {
					of = append(of, k*float64(q)*t)
				}
			}
			for _, w := range of {
				v, err := o.Predict(predict.Overlapping{Hosts: p, Messages: q, Bytes: m, Work: w})
				if err != nil {
					return nil, nil, exit.Usagef("--bytes: %w", err)
				}
				rows = append(rows, v)
			}
		}
	}
	return rows, sizes, nil
}

func times(text string) ([]float64, error) {
	if text == "" {
		return nil, nil
	}
	var out []float64
	for part := range strings.SplitSeq(text, ",") {
		d, err := time.ParseDuration(strings.TrimSpace(part))
		if err != nil || d <= 0 {
			return nil, fmt.Errorf("%q: want times above 0 such as 100us,1ms", part)
		}
		out = append(out, d.Seconds())
	}
	return out, nil
}

// spread is the default computation between two exchanges, in times that an exchange takes.
var spread = [...]float64{0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100}

func (d predicted) printOverlap(w io.Writer) error {
	t := command.NewTable(w, "processors", "bytes", "work", "work over transfer", "gain", "95% interval", "speed-up in turn", "speed-up", "95% interval")
	short := func(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }
	for _, v := range d.Overlap {
		t.Row(v.Hosts, v.Bytes, seconds(v.Work), short(v.Granularity.Value), short(v.Gain.Value), ends(v.Gain.CI95, short),
			short(v.InTurn.Value), short(v.Speedup.Value), ends(v.Speedup.CI95, short))
	}
	var says []string
	said := map[int]bool{}
	for _, v := range d.Overlap {
		switch {
		case said[v.Bytes]:
		case v.BestWork == nil:
			says = append(says, fmt.Sprintf("messages of %d B: a second thread gains at no granularity", v.Bytes))
		default:
			says = append(says, fmt.Sprintf("messages of %d B: the gain is largest, %s (95%%: %s), with %s (95%%: %s) of "+
				"computation between two exchanges",
				v.Bytes, short(v.BestGain.Value), ends(v.BestGain.CI95, short),
				seconds(v.BestWork.Value), ends(v.BestWork.CI95, seconds)))
		}
		said[v.Bytes] = true
	}
	return cmp.Or(t.Flush(), command.Lines(w, append(says, d.Notes...)))
}

func overlapTable(rows []predict.OverlapPrediction) [][]string {
	lines := [][]string{{"hosts", "messages", "bytes", "work", "granularity", "gain", "gain_lo", "gain_hi",
		"speedup_in_turn", "speedup", "speedup_lo", "speedup_hi", "best_work", "best_gain"}}
	for _, v := range rows {
		var work, gain any
		if v.BestWork != nil {
			work, gain = v.BestWork.Value, v.BestGain.Value
		}
		lines = append(lines, command.Cells(v.Hosts, v.Messages, v.Bytes, v.Work, v.Granularity.Value, v.Gain.Value,
			v.Gain.CI95, v.InTurn.Value, v.Speedup.Value, v.Speedup.CI95, work, gain))
	}
	return lines
}

// gainFigure draws the gain by the computation, a line for each message size. It does not depend on the processors.
func gainFigure(rows []predict.OverlapPrediction) figure.Figure {
	f := figure.Figure{ID: "gains", Title: "Predicted gain of computing while a second thread communicates",
		X: figure.Axis{Name: "computation between two exchanges", Unit: "s", Log: true}, Y: figure.Axis{Name: "gain", Unit: "1"}}
	for _, v := range rows {
		if v.Hosts == rows[0].Hosts {
			addPoint(&f, fmt.Sprintf("%d B", v.Bytes), v.Work, v.Gain.Value)
		}
	}
	figure.Settle(&f)
	return f
}
