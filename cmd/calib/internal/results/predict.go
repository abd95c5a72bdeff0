package results

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"calib/cmd/calib/internal/command"
	"calib/internal/exit"
	"calib/internal/params"
	"calib/internal/units"
	"calib/predict"
	"calib/predict/cost"
)

// predictSizes are those of a graph that asks for no message.
const predictSizes = "1,64,1KiB,16KiB,64KiB,1MiB"

// PredictCommand is calib predict.
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
			switch graph, op := c.String("graph"), c.String("op"); {
			case (graph == "") == (op == ""):
				return exit.Usagef("want --op OPERATION or --graph FILE (see %s --help)", c.Command.HelpName)
			case graph != "":
				return predictGraph(c)
			case op == overlapOperation:
				return predictOverlap(c)
			}
			return predictOperation(c)
		},
	}
}

// predicted is the data of calib predict --op.
type predicted struct {
	Predictions []predict.Prediction        `json:"predictions,omitempty"`
	Best        []predict.Choice            `json:"best,omitempty"`
	Overlap     []predict.OverlapPrediction `json:"overlap,omitempty"`
	Notes       []string                    `json:"notes,omitempty"`
}

// ofGraph is the data of calib predict --graph.
type ofGraph struct {
	Graph string `json:"graph"`
	cost.Reduced
	Times []cost.Times `json:"times"`
}

func predictGraph(c *cli.Context) error {
	if err := command.NoFlagsAfter(c); err != nil {
		return err
	}
	for _, f := range slices.Concat(operationFlags(), overlapFlags()) {
		if name := f.Names()[0]; c.IsSet(name) {
			return exit.Usagef("--%s goes with --op, not with --graph", name)
		}
	}
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
	sizes, err := sizesOf(c.String("bytes"), g)
	if err != nil {
		return exit.Usagef("--bytes: %w", err)
	}
	out := ofGraph{Graph: g.Name, Reduced: g.Reduce()}
	for _, x := range sizes {
		out.Times = append(out.Times, out.Reduced.Times(x))
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

// sizesOf are the sizes asked for [B].
func sizesOf(text string, g *cost.Graph) ([]float64, error) {
	if x, ok := g.Messages[g.Message]; ok && text == "" {
		return []float64{x}, nil
	}
	if text == "" {
		text = predictSizes
	}
	sizes, err := units.ParseSizes(text)
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(sizes))
	for i, x := range sizes {
		out[i] = float64(x)
	}
	return out, nil
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
