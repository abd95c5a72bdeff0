package main

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"calib/fit"
	"calib/fit/models"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/importer"
	"calib/internal/units"
)

// reasons are differences of method that may explain different figures; the table proves none of them.
const reasons = `Differences of method that may explain different figures:
- calib measures ping-pongs in batches of some hundred between other experiments, settled for 3 ms, and takes the clock's cost off; the
  other tools run one loop of 10⁵ round trips or more.
- calib counts the bytes of a window of 250 ms, several times, in both directions; iperf3 those of seconds, in one.
`

// compared is one parameter as calib measured it and as a tool's output gives it.
type compared struct {
	name       string
	unit       string
	own, other estimate
}

// estimate is a value with its interval; lo = hi where there is none.
type estimate struct{ value, lo, hi float64 }

// verdict is how the two agree, in words.
func (c compared) verdict() string {
	switch {
	case c.other.value >= c.own.lo && c.other.value <= c.own.hi:
		return "within"
	case c.other.lo <= c.own.hi && c.own.lo <= c.other.hi:
		return "intervals overlap"
	}
	return fmt.Sprintf("no: %+.1f%%", 100*(c.other.value/c.own.value-1))
}

// table fits the output of each tool and calib's samples of the same sizes, and prints both in Markdown.
func (b *bothEnds) table(rounds int) error {
	fmt.Printf("veth pair between two namespaces, ping-pong with both ends on CPU %d, stream from it to CPU %d, %d runs of each in turn\n\n",
		b.from.cpu, b.to.cpu, rounds)
	fmt.Println("| tool | parameter | calib | 95% interval | tool, imported | its interval | agree | tool / calib |")
	fmt.Println("|---|---|---|---|---|---|---|---|")
	for _, format := range []string{"netpipe", "sockperf", "iperf3"} {
		d, err := importer.Merge(format, 1, b.outputs[format]...)
		if err != nil {
			return err
		}
		rows, err := compare(sameSizes(b.samples, d), d)
		if err != nil {
			return fmt.Errorf("%s: %w", format, err)
		}
		for _, r := range rows {
			fmt.Printf("| %s | %s | %s | %s | %s | %s | %s | %.3f |\n", format, r.name, units.Format(r.own.value, r.unit), r.own.interval(r.unit),
				units.Format(r.other.value, r.unit), r.other.interval(r.unit), r.verdict(), r.other.value/r.own.value)
		}
	}
	fmt.Print("\n", reasons)
	for _, format := range []string{"netpipe", "sockperf", "iperf3"} {
		for _, n := range b.notes[format] {
			fmt.Printf("- %s: %s\n", format, n)
		}
	}
	return nil
}

func (e estimate) interval(unit string) string {
	if e.lo == e.hi {
		return "–"
	}
	return units.Format(e.lo, unit) + " to " + units.Format(e.hi, unit)
}

// sameSizes is own without the ping-pong sizes that other lacks: a line through other sizes is another line.
func sameSizes(own, other *dataset.Dataset) *dataset.Dataset {
	out := &dataset.Dataset{Header: own.Header}
	for _, s := range own.Samples {
		if s.Exp != names.Pingpong || slices.ContainsFunc(other.Samples, func(o dataset.Sample) bool {
			return o.Exp == s.Exp && o.Point[names.FactorBytes] == s.Point[names.FactorBytes]
		}) {
			out.Samples = append(out.Samples, s)
		}
	}
	return out
}

// compare fits both and returns the parameters and times that both have.
func compare(own, other *dataset.Dataset) ([]compared, error) {
	a, errsA := estimates(own)
	b, errsB := estimates(other)
	var out []compared
	for _, p := range []struct{ key, name, unit string }{
		{"alpha", "alpha", "s"}, {"beta", "beta", "s/B"}, {"T64", "T(64 B)", "s"}, {"b_prime", "stream, time per byte", "s/B"},
	} {
		x, inA := a[p.key]
		y, inB := b[p.key]
		if inA && inB {
			out = append(out, compared{p.name, p.unit, x, y})
		}
	}
	if len(out) == 0 {
		return nil, errors.Join(append(append([]error{errors.New("nothing that both have could be fitted")}, errsA...), errsB...)...)
	}
	return out, nil
}

// estimates fits every model; T64 is the measured time of 64 bytes.
func estimates(d *dataset.Dataset) (map[string]estimate, []error) {
	out := map[string]estimate{}
	p, errs := fit.Run(models.All, d, fit.Settings{Seed: 1})
	for _, f := range p.Fits {
		for name, p := range f.Parameters {
			if p.Value != nil {
				e := estimate{*p.Value, *p.Value, *p.Value}
				if p.CI95 != nil {
					e.lo, e.hi = p.CI95[0], p.CI95[1]
				}
				out[name] = e
			}
		}
		for _, r := range f.Named("T(x)").Points {
			if f.Model == "hockney" && math.Abs(r.X-64) < 0.5 {
				out["T64"] = estimate{r.Measured, r.Lo, r.Hi}
			}
		}
	}
	return out, errs
}
