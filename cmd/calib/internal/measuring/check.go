package measuring

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/urfave/cli/v2"

	"calib/cmd/calib/internal/command"
	"calib/internal/exit"
	"calib/internal/hosts"
	"calib/internal/units"
	"calib/reports"
	"calib/run"
	"calib/run/fault"
)

const (
	checkTime   = time.Minute
	falseAlarms = 0.01
	checkMargin = 0.02
)

func CheckCommand() *cli.Command {
	return &cli.Command{
		Name: "check", Usage: "name slow hosts and pairs, in a minute",
		Description: "calib check --hosts hosts.txt\n" +
			"It pairs the hosts anew in each round, and suspects more often. Of the hosts and\n" +
			"pairs that it names, at most 1% are named wrongly.\n" +
			"Exit codes: 0 healthy, 3 something is slow, 4 hosts are missing, 5 not decided.",
		Flags: append(WhereFlags(),
			&cli.DurationFlag{Name: "budget", Value: checkTime, Usage: "longest `TIME` of all rounds"},
			&cli.Float64Flag{Name: "margin", Value: checkMargin, Usage: "`SHARE` by which slower does not matter"},
			&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "`N` that the pairs of rounds are drawn by"},
			command.JSONFlag(), command.QuietFlag()),
		Action: func(c *cli.Context) error {
			w, err := whereOf(c)
			if err != nil {
				return err
			}
			o := run.Checking{Budget: c.Duration("budget"), Rate: falseAlarms, Margin: c.Float64("margin")}
			switch {
			case o.Budget <= 0:
				return exit.Usagef("--budget %v: want a time above 0", o.Budget)
			case !(o.Margin >= 0.001 && o.Margin <= 1):
				return exit.Usagef("--margin %g: want 0.001 to 1", o.Margin)
			}
			config, err := listed(c, w)
			if err != nil {
				return err
			}
			config.Plan.Seed = c.Uint64("seed")
			found, err := run.Check(c.Context, config, o)
			if err != nil {
				return err
			}
			d := screenedOf(found, o.Margin)
			return command.AnswerResult(c, reports.Result{Command: "check", Data: d}, d.err(), d.text)
		},
	}
}

// Verdicts of calib check.
const (
	healthy   = "healthy"
	slow      = "slow"
	missing   = "missing"
	uncertain = "undecided"
)

// Screened is what calib check prints as JSON.
type Screened struct {
	Verdict     string       `json:"verdict"` // healthy, slow, missing or undecided
	FalseAlarms float64      `json:"false_alarms"`
	Margin      float64      `json:"margin"` // by which slower does not matter
	Hosts       []judgedHost `json:"hosts"`
	Pairs       []judgedPair `json:"pairs"`            // that are not healthy
	Groups      [][]string   `json:"groups,omitempty"` // such as racks: ways between them are longer
	Apart       float64      `json:"apart,omitempty"`  // times as long as within a group a byte takes between them
	Seen        int          `json:"pairs_seen"`
	Of          int          `json:"pairs_of"`
	Rounds      int          `json:"rounds"`
	Took        float64      `json:"took_s"`
	Latency     float64      `json:"latency_s"` // medians over all pairs
	Rate        float64      `json:"rate_bps"`
	Link        float64      `json:"link_bps,omitempty"` // of the slowest link

	virtual bool
}

// judged is a verdict with its reason.
type judged struct {
	Verdict string      `json:"verdict"`
	Ratio   *float64    `json:"ratio,omitempty"` // times the median of all pairs; of loss, the share of segments
	CI95    *[2]float64 `json:"ci95,omitempty"`
	Why     string      `json:"why,omitempty"`
}

type judgedHost struct {
	Host string `json:"host"`
	judged
}

type judgedPair struct {
	Hosts []string `json:"hosts"`
	judged
}

func screenedOf(r run.Checked, margin float64) Screened {
	d := Screened{Verdict: healthy, FalseAlarms: falseAlarms, Margin: margin, Pairs: []judgedPair{}, Seen: r.Pairs, Of: r.Of,
		Rounds: r.Rounds, Took: r.Took.Seconds(), Latency: r.Latency, Rate: 8 / r.PerByte, Link: r.Link, virtual: r.Virtual}
	for _, name := range r.Hosts {
		d.Hosts = append(d.Hosts, judgedHost{name, judged{Verdict: healthy}})
	}
	for _, m := range r.Missing {
		d.Verdict, d.Hosts = missing, append(d.Hosts, judgedHost{m.Host, judged{Verdict: missing, Why: m.Error}})
	}
	for _, g := range r.Groups {
		var names []string
		for _, h := range g {
			names = append(names, r.Hosts[h])
		}
		d.Groups, d.Apart = append(d.Groups, names), r.Apart
	}
	add := func(all []fault.Found, verdict string) {
		for _, f := range all {
			j := judged{Verdict: verdict, Why: why(r, f)}
			if !math.IsInf(f.Ratio, 0) {
				j.Ratio, j.CI95 = &f.Ratio, &f.CI
			}
			if len(f.Hosts) == 1 {
				d.Hosts[f.Hosts[0]].judged = j
				continue
			}
			d.Pairs = append(d.Pairs, judgedPair{[]string{r.Hosts[f.Hosts[0]], r.Hosts[f.Hosts[1]]}, j})
		}
	}
	doubtful := r.Doubtful()
	add(doubtful, uncertain)
	add(r.Slow, slow)
	switch {
	case len(r.Slow) > 0:
		d.Verdict = slow
	case d.Verdict == healthy && !r.Decided:
		d.Verdict = uncertain
	}
	return d
}

// why says in a few words what is wrong with a host or a pair.
func why(r run.Checked, f fault.Found) string {
	way := ""
	switch {
	case f.Direction == "":
	case len(f.Hosts) == 2:
		way = ", from " + r.Hosts[f.Hosts[0]] + " to " + r.Hosts[f.Hosts[1]] + " only"
	default:
		way = ", in " + f.Direction + " only"
	}
	often := fmt.Sprintf("in %d of %d looks", f.Bad, f.Of)
	if f.Comes() {
		often = "comes and goes: " + often
	}
	switch f.Quantity {
	case fault.Reach:
		return "nothing comes through, " + often
	case fault.Loss:
		return fmt.Sprintf("%s of its segments are sent again, %s", reports.Percent(f.Ratio), often)
	case fault.Rate:
		return fmt.Sprintf("a byte takes %.2f times as long as usual%s, %s", f.Ratio, way, often)
	}
	return fmt.Sprintf("a message takes %.2f times as long as usual, %s", f.Ratio, often)
}

func (d Screened) err() error {
	switch d.Verdict {
	case slow:
		return exit.With(exit.Regression, fmt.Errorf("hosts or pairs are slow"))
	case missing:
		return exit.With(exit.Partial, fmt.Errorf("hosts are missing"))
	case uncertain:
		return exit.With(exit.Inconclusive, fmt.Errorf("not decided in %.0f s: give it more time with --budget", d.Took))
	}
	return nil
}

// text prints what was found for people.
func (d Screened) text(w io.Writer) error {
	words := map[string]string{healthy: "HEALTHY: no host or pair is slow", slow: "SLOW", missing: "HOSTS ARE MISSING",
		uncertain: "NOT DECIDED"}
	time := units.Format(d.Took, "s")
	if d.virtual {
		time += " of simulated time"
	}
	fmt.Fprintf(w, "%s\n  %s, %s of %s seen, %s, %s. At most %s of what is named is named wrongly.\n", words[d.Verdict],
		units.GroupedPlural(len(d.Hosts), "host"), units.Grouped(int64(d.Seen)), units.GroupedPlural(d.Of, "pair"),
		units.GroupedPlural(d.Rounds, "round"), time, reports.Percent(d.FalseAlarms))
	usual := fmt.Sprintf("  Usual: a byte one way %s, one stream %s", units.Format(d.Latency, "s"), units.Format(d.Rate, "bit/s"))
	if d.Link > 0 {
		usual += fmt.Sprintf(", %s of the link's %s", reports.Percent(d.Rate/d.Link), units.Format(d.Link, "bit/s"))
	}
	fmt.Fprintln(w, usual+".")
	if len(d.Groups) > 0 {
		var names []string
		for _, g := range d.Groups {
			names = append(names, hosts.Fold(g))
		}
		fmt.Fprintf(w, "  Groups: %s. Between them a byte takes %.2f times as long; pairs are compared with their kind.\n",
			strings.Join(names, "; "), d.Apart)
	}
	for _, verdict := range []string{missing, slow, uncertain} {
		for _, h := range d.Hosts {
			if h.Verdict == verdict {
				line(w, verdict, "host "+h.Host, h.Why)
			}
		}
		for _, p := range d.Pairs {
			if p.Verdict == verdict {
				line(w, verdict, "pair "+p.Hosts[0]+" – "+p.Hosts[1], p.Why)
			}
		}
	}
	if slices.ContainsFunc(d.Hosts, func(h judgedHost) bool { return h.Verdict == uncertain }) || d.Verdict == uncertain {
		fmt.Fprintln(w, "  More time decides: --budget 5m.")
	}
	return nil
}

func line(w io.Writer, verdict, what, why string) {
	fmt.Fprintf(w, "  %s %s  %s\n", text.Pad(verdict, 9, ' '), text.Pad(what, 24, ' '), units.OneLine(why))
}
