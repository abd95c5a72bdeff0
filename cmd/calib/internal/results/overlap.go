package results

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"calib/cmd/calib/internal/command"
	"calib/internal/exit"
	"calib/predict"
	"calib/reports/figure"
)

// overlapOperation is the --op of a program that computes while messages are under way.
const overlapOperation = "overlap"

// maxMessages bounds --messages.
const maxMessages = 1 << 20

// overlapFlags are those of --op overlap alone.
func overlapFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "work", Usage: "--op overlap: computation of a processor between two exchanges, `TIMES` such as 100us,1ms; default 0.1 to 100 times what the exchange takes"},
		&cli.IntFlag{Name: "messages", Value: 1, Usage: "--op overlap: messages, `N`, that a processor transfers one after the other in an exchange"},
	}
}

// notOfOverlap are flags of operations that are communication patterns.
var notOfOverlap = []string{"algo", "model", "all-models", "best"}

// predictOverlap predicts a program that computes and communicates: gain, speed-up and the best granularity.
func predictOverlap(c *cli.Context) error {
	_, p, err := command.ParamsArg(c)
	if err != nil {
		return err
	}
	for _, name := range notOfOverlap {
		if c.IsSet(name) {
			return exit.Usagef("--%s goes with communication patterns, not with --op %s", name, overlapOperation)
		}
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

// times reads a list of times such as 100us,1ms [s]; nil for none.
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

// overlapTable has a line for each prediction, times in seconds.
func overlapTable(rows []predict.OverlapPrediction) [][]string {
	lines := [][]string{{"hosts", "messages", "bytes", "work", "granularity", "gain", "gain_lo", "gain_hi",
		"speedup_in_turn", "speedup", "speedup_lo", "speedup_hi", "best_work", "best_gain"}}
	for _, v := range rows {
		line := []string{strconv.Itoa(v.Hosts), strconv.Itoa(v.Messages), strconv.Itoa(v.Bytes), number(v.Work),
			number(v.Granularity.Value), number(v.Gain.Value), "", "", number(v.InTurn.Value), number(v.Speedup.Value), "", "", "", ""}
		if ci := v.Gain.CI95; ci != nil {
			line[6], line[7] = number(ci[0]), number(ci[1])
		}
		if ci := v.Speedup.CI95; ci != nil {
			line[10], line[11] = number(ci[0]), number(ci[1])
		}
		if v.BestWork != nil {
			line[12], line[13] = number(v.BestWork.Value), number(v.BestGain.Value)
		}
		lines = append(lines, line)
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
