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
	"calib/internal/lists"
	"calib/params"
	"calib/predict"
)

const overlapOperation = "overlap" // the --op of a program that computes while messages are under way

const maxMessages = 1 << 20

func predictOverlap(c *cli.Context, p *params.Params) error {
	o, err := predict.NewOverlap(p)
	if err != nil {
		return exit.Usagef("predict: %w", err)
	}
	processors, err := numbers(c, "nodes", strconv.Itoa(max(2, len(p.Run.Hosts))), 1, 1<<20)
	if err != nil {
		return err
	}
	var sizes []int
	if c.String("bytes") == "" {
		sizes = lists.Map(o.Sizes, func(s float64) int { return int(s) })
	} else if sizes, err = numbers(c, "bytes", "", 1, 1<<30); err != nil {
		return err
	}
	q := c.Int("messages")
	if q < 1 || q > maxMessages {
		return exit.Usagef("--messages %d: want 1 to %d", q, maxMessages)
	}
	works, err := times(c.String("work"))
	if err != nil {
		return exit.Usagef("--work: %w", err)
	}
	out := predicted{Notes: o.Notes(sizes)}
	for _, p := range processors {
		for _, m := range sizes {
			of := works
			if of == nil {
				t, err := o.TransferOf(float64(m))
				if err != nil {
					return exit.Usagef("--bytes: %w", err)
				}
				of = lists.Map(spread[:], func(k float64) float64 { return k * float64(q) * t })
			}
			for _, w := range of {
				v, err := o.Predict(predict.Overlapping{Hosts: p, Messages: q, Bytes: m, Work: w})
				if err != nil {
					return exit.Usagef("--bytes: %w", err)
				}
				out.Overlap = append(out.Overlap, v)
			}
		}
	}
	return command.Answer(c, "predict", out, out.printOverlap)
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
	t := command.NewTable(w, "processors", "bytes", "work", "work over transfer", "gain", "95% interval",
		"speed-up in turn", "speed-up", "95% interval")
	short := func(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }
	with := func(v predict.Interval, format func(float64) string) string {
		if v.CI95 == nil {
			return format(v.Value)
		}
		return fmt.Sprintf("%s (95%%: %s)", format(v.Value), ends(v.CI95, format))
	}
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
			says = append(says, fmt.Sprintf("messages of %d B: a second thread gains nothing", v.Bytes))
		default:
			says = append(says, fmt.Sprintf("messages of %d B: the gain is largest, %s, with %s of computation between two "+
				"exchanges", v.Bytes, with(*v.BestGain, short), with(*v.BestWork, seconds)))
		}
		said[v.Bytes] = true
	}
	return cmp.Or(t.Flush(), command.Lines(w, append(says, d.Notes...)))
}
