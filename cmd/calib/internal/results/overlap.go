package results

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"calib/cmd/calib/internal/command"
	"calib/cmd/calib/internal/runfiles"
	"calib/internal/sheet"
	"calib/internal/units"
	"calib/predict"
	"calib/reports/figure"
)

// overlapOperation is the --op of a program that computes while messages are under way.
const overlapOperation = "overlap"

// mostMessages bounds --messages.
const mostMessages = 1 << 20

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
	_, p, err := runfiles.ParamsArg(c)
	if err != nil {
		return err
	}
	for _, name := range notOfOverlap {
		if c.IsSet(name) {
			return command.Usagef("--%s goes with communication patterns, not with --op %s", name, overlapOperation)
		}
	}
	o, err := predict.NewOverlap(p, predict.Settings{Seed: p.Run.Seed})
	if err != nil {
		return command.Usagef("predict: %w", err)
	}
	rows, sizes, err := overlapRows(c, o, len(p.Run.Hosts))
	if err != nil {
		return err
	}
	out := predicted{Overlap: rows, Notes: o.Notes(sizes)}
	err = writeFiles(c, func(w io.Writer) error { return writeOverlapCSV(w, rows) }, func() figure.Figure { return gainFigure(rows) })
	if err != nil {
		return err
	}
	return command.Answer(c, "predict", out, out.printOverlap)
}

// overlapRows reads the flags and predicts all that they ask for. hosts is the default number of processors.
func overlapRows(c *cli.Context, o *predict.Overlap, hosts int) (rows []predict.OverlapPrediction, sizes []int, err error) {
	processors := []int{max(2, hosts)}
	if text := c.String("hosts"); text != "" {
		if processors, err = numbers(text, 1, 1<<20); err != nil {
			return nil, nil, command.Usagef("--hosts: %w", err)
		}
	}
	if text := c.String("bytes"); text != "" {
		if sizes, err = numbers(text, 1, 1<<30); err != nil {
			return nil, nil, command.Usagef("--bytes: %w", err)
		}
	} else {
		for _, s := range o.Sizes() {
			sizes = append(sizes, int(s))
		}
	}
	q := c.Int("messages")
	if q < 1 || q > mostMessages {
		return nil, nil, command.Usagef("--messages %d: want 1 to %d", q, mostMessages)
	}
	works, err := times(c.String("work"))
	if err != nil {
		return nil, nil, command.Usagef("--work: %w", err)
	}
	for _, p := range processors {
		for _, m := range sizes {
			of := works
			if of == nil {
				t, err := o.Transfer(m)
				if err != nil {
					return nil, nil, command.Usagef("--bytes: %w", err)
				}
				of = spread(float64(q) * t)
			}
			for _, w := range of {
				v, err := o.Predict(predict.Overlapping{Hosts: p, Messages: q, Bytes: m, Work: w})
				if err != nil {
					return nil, nil, command.Usagef("--bytes: %w", err)
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

// spread are times from 0.1 to 100 times one [s].
func spread(one float64) []float64 {
	var out []float64
	for _, k := range []float64{0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100} {
		out = append(out, k*one)
	}
	return out
}

func (d predicted) printOverlap(w io.Writer) error {
	t := command.NewTable(w, "processors", "bytes", "work", "work over transfer", "gain", "95% interval", "speed-up in turn", "speed-up", "95% interval")
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }
	ends := func(ci *[2]float64) string {
		if ci == nil {
			return ""
		}
		return number(ci[0]) + " to " + number(ci[1])
	}
	for _, v := range d.Overlap {
		t.Row(v.Hosts, v.Bytes, units.Format(v.Work, "s"), number(v.Granularity.Value), number(v.Gain.Value), ends(v.Gain.CI95),
			number(v.InTurn.Value), number(v.Speedup.Value), ends(v.Speedup.CI95))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	said := map[int]bool{}
	for _, v := range d.Overlap {
		if said[v.Bytes] {
			continue
		}
		said[v.Bytes] = true
		says := fmt.Sprintf("messages of %d B: a second thread gains at no granularity\n", v.Bytes)
		if v.BestWork != nil {
			says = fmt.Sprintf("messages of %d B: the gain is largest, %s (95%%: %s), with %s (95%%: %s) of computation between two exchanges\n",
				v.Bytes, number(v.BestGain.Value), ends(v.BestGain.CI95), units.Format(v.BestWork.Value, "s"), interval(v.BestWork.CI95))
		}
		if _, err := io.WriteString(w, says); err != nil {
			return err
		}
	}
	return d.printNotes(w)
}

// writeOverlapCSV writes a line for each prediction, times in seconds.
func writeOverlapCSV(w io.Writer, rows []predict.OverlapPrediction) error {
	lines := [][]string{{"hosts", "messages", "bytes", "work", "granularity", "gain", "gain_lo", "gain_hi",
		"speedup_in_turn", "speedup", "speedup_lo", "speedup_hi", "best_work", "best_gain"}}
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	ends := func(ci *[2]float64) []string {
		if ci == nil {
			return []string{"", ""}
		}
		return []string{number(ci[0]), number(ci[1])}
	}
	for _, v := range rows {
		line := []string{strconv.Itoa(v.Hosts), strconv.Itoa(v.Messages), strconv.Itoa(v.Bytes), number(v.Work), number(v.Granularity.Value), number(v.Gain.Value)}
		line = append(line, ends(v.Gain.CI95)...)
		line = append(line, number(v.InTurn.Value), number(v.Speedup.Value))
		line = append(line, ends(v.Speedup.CI95)...)
		best := []string{"", ""}
		if v.BestWork != nil {
			best = []string{number(v.BestWork.Value), number(v.BestGain.Value)}
		}
		lines = append(lines, append(line, best...))
	}
	return sheet.NewWriter(w).WriteAll(lines)
}

// gainFigure draws the gain by the computation, a line for each message size. It does not depend on the processors.
func gainFigure(rows []predict.OverlapPrediction) figure.Figure {
	f := figure.Figure{ID: "gains", Title: "Predicted gain of computing while a second thread communicates",
		X: figure.Axis{Name: "computation between two exchanges", Unit: "s", Log: true}, Y: figure.Axis{Name: "gain", Unit: "1"}}
	index := map[int]int{}
	for _, v := range rows {
		if v.Hosts != rows[0].Hosts {
			continue
		}
		i, ok := index[v.Bytes]
		if !ok {
			i = len(f.Traces)
			index[v.Bytes] = i
			f.Traces = append(f.Traces, figure.Trace{Name: fmt.Sprintf("%d B", v.Bytes), Kind: figure.Line, Group: i})
		}
		t := &f.Traces[i]
		t.X, t.Y = append(t.X, v.Work), append(t.Y, v.Gain.Value)
	}
	figure.Settle(&f)
	return f
}
