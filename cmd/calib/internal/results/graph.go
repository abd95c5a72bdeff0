package results

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/urfave/cli/v2"

	"calib/cmd/calib/internal/command"
	"calib/internal/exit"
	"calib/internal/lists"
	"calib/internal/units"
	"calib/params"
	"calib/predict/cost"
)

type ofGraph struct {
	Graph string `json:"graph"`
	cost.Reduced
	Times []cost.Times `json:"times"`
}

func predictGraph(c *cli.Context, p *params.Params) error {
	g, err := cost.LoadGraph(c.String("graph"), blocksOf(p))
	if err != nil {
		return exit.Usagef("--graph: %w", err)
	}
	out := ofGraph{Graph: g.Name, Reduced: g.Reduce()}
	x, own := g.Messages[g.Message]
	if own && c.String("bytes") == "" {
		out.Times = append(out.Times, out.Reduced.Times(x))
		return command.Answer(c, "predict", out, out.print)
	}
	sizes, err := units.ParseSizes(cmp.Or(c.String("bytes"), predictSizes))
	if err != nil {
		return exit.Usagef("--bytes: %w", err)
	}
	for _, x := range sizes {
		if own { // blocks of messages at once depend on their sizes
			g.Messages[g.Message] = float64(x)
			out.Reduced = g.Reduce()
		}
		out.Times = append(out.Times, out.Reduced.Times(float64(x)))
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
	paths := slices.Compact(lists.Map(d.Times, func(x cost.Times) params.Block { return x.Path }))
	headings := []string{"bytes", "T_c"}
	if len(paths) > 1 {
		fmt.Fprint(w, "T_c(x) = a²/(a + b·x) + b·x\n\n")
		headings = append(headings, "a", "b")
	} else {
		for i, s := range d.Steps {
			fmt.Fprintf(w, "%3d  %s\n", i+1, s)
		}
		fmt.Fprintf(w, "T_c(x) = a²/(a + b·x) + b·x with a = %s, b = %s\n\n", seconds(d.Path.A),
			units.Format(d.Path.B, "s/B"))
	}
	if d.First != nil {
		headings = append(headings, "T_s preemptive", "non-preemptive", "T_r preemptive", "non-preemptive")
	}
	t := command.NewTable(w, headings...)
	for _, x := range d.Times {
		cells := []any{fmt.Sprintf("%.0f", x.Bytes), units.Format(x.Communication, "s")}
		if len(paths) > 1 {
			cells = append(cells, seconds(x.Path.A), units.Format(x.Path.B, "s/B"))
		}
		if e := x.Ends; e != nil {
			cells = append(cells, units.Format(e.Send, "s"), "≤ "+units.Format(e.SendBlocking, "s"),
				units.Format(e.Receive, "s"), "≤ "+units.Format(e.ReceiveBlocking, "s"))
		}
		t.Row(cells...)
	}
	return t.Flush()
}
