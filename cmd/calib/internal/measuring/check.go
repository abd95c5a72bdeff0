package measuring

import (
	"embed"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/template"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/urfave/cli/v2"

	"calib/cmd/calib/internal/command"
	"calib/cmd/calib/internal/history"
	"calib/fit/fault"
	"calib/internal/doctor"
	"calib/internal/exit"
	"calib/internal/hosts"
	"calib/internal/lists"
	"calib/internal/units"
	"calib/params"
	"calib/reports"
	"calib/run"
)

const (
	checkTime   = time.Minute
	checkMargin = 0.02
)

func CheckCommand() *cli.Command {
	return &cli.Command{
		Name: "check", Usage: "name slow hosts and pairs, in a minute",
		Description: "calib check --hosts hosts.txt\n" +
			"Each round has new pairs. Suspected pairs return more often. At most 1% of the hosts\n" +
			"and pairs that it names are healthy.\n" +
			"Exit codes: 0 healthy, 3 something is slow, 4 hosts are missing, 5 not decided.",
		Flags: append(WhereFlags(),
			&cli.DurationFlag{Name: "budget", Value: checkTime, Usage: "longest `TIME` of all rounds"},
			&cli.Float64Flag{Name: "margin", Value: checkMargin, Usage: "ignore what is slower by less than this `SHARE`"},
			&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "random seed `N` of the pairs in each round"},
			history.StoreFlag(), command.JSONFlag(), command.QuietFlag()),
		Action: func(c *cli.Context) error {
			w, err := whereOf(c)
			if err != nil {
				return err
			}
			o := run.Checking{Budget: c.Duration("budget"), Margin: c.Float64("margin")}
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
			usual, err := history.UsualOf(c, found.Hosts)
			if err != nil {
				command.Note(c, "without a baseline: "+err.Error())
			} else if usual != nil {
				d.Baseline = &baseline{usual.Baseline, params.OrNull(d.Latency / usual.Latency),
					params.OrNull(d.Rate / 8 / usual.Rate)}
			}
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

// hostBound is the share of a host's loopback from which a stream is near what the hosts themselves allow.
const hostBound = 0.25

// Screened is what calib check prints as JSON.
type Screened struct {
	Verdict     string       `json:"verdict"` // healthy, slow, missing or undecided
	FalseAlarms float64      `json:"false_alarms"`
	Margin      float64      `json:"margin"` // by which slower does not matter
	Hosts       []judgedHost `json:"hosts"`
	Pairs       []judgedPair `json:"pairs"`                         // that are not healthy
	Uplinks     []judgedPair `json:"uplinks,omitempty"`             // ways from a group, whose hosts these are, to all others
	Groups      [][]string   `json:"groups,omitempty"`              // such as racks: ways between them are longer
	Apart       float64      `json:"apart,omitempty"`               // times as long as within a group a byte takes between them
	Machines    bool         `json:"groups_are_machines,omitempty"` // the hosts of each share one
	Unsure      string       `json:"groups_undetermined,omitempty"` // why
	Kinds       [][]string   `json:"kinds,omitempty"`               // of hosts, where there are several; the largest first
	Seen        int          `json:"pairs_seen"`
	Of          int          `json:"pairs_of"`
	Rounds      int          `json:"rounds"`
	Took        float64      `json:"took_s"`
	Latency     float64      `json:"latency_s"` // medians over all pairs
	Rate        float64      `json:"rate_bps"`
	Link        float64      `json:"link_bps,omitempty"`     // of the slower link of a pair, their median
	LinkShare   float64      `json:"link_share,omitempty"`   // of what TCP can send over a pair's link, their median
	Loopback    float64      `json:"loopback_bps,omitempty"` // of a stream from a host to itself, the hosts' median

	Baseline *baseline        `json:"baseline,omitempty"` // the newest one of these hosts
	Findings []doctor.Finding `json:"findings,omitempty"` // of calib doctor, the worst first

	virtual bool
}

// baseline says how what is usual now compares with what was.
type baseline struct {
	Name    string   `json:"name"`
	Latency *float64 `json:"latency_ratio,omitempty"` // above 1 is slower
	Rate    *float64 `json:"rate_ratio,omitempty"`    // below 1 is slower
}

type judged struct {
	Verdict string      `json:"verdict"`
	Ratio   *float64    `json:"ratio,omitempty"` // times as long as others; of loss, the share of segments
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
	d := Screened{Verdict: healthy, FalseAlarms: fault.FalseAlarms, Margin: margin, Pairs: []judgedPair{}, Seen: r.Pairs,
		Of: r.Of, Rounds: r.Rounds, Took: r.Took.Seconds(), Unsure: r.Unsure, Latency: r.Latency, Rate: 8 / r.PerByte,
		Link: r.Link, LinkShare: r.LinkShare, Loopback: r.Loopback, Findings: r.Findings, virtual: r.Virtual}
	for i, name := range r.Hosts {
		j := judged{Verdict: healthy}
		if f := &r.Levels[i]; f.Ratio > 0 && !math.IsInf(f.Ratio, 0) {
			j.Ratio, j.CI95 = &f.Ratio, &f.CI
			j.Why, _, _ = strings.Cut(f.Why(r.Hosts), ", ")
		}
		d.Hosts = append(d.Hosts, judgedHost{name, j})
	}
	for _, m := range r.Missing {
		d.Verdict, d.Hosts = missing, append(d.Hosts, judgedHost{m.Host, judged{Verdict: missing, Why: m.Error}})
	}
	named := func(some []int) []string { return lists.Map(some, func(h int) string { return r.Hosts[h] }) }
	d.Groups, d.Kinds = lists.Map(r.Groups, named), lists.Map(r.Kinds, named)
	if d.Groups != nil {
		d.Apart, d.Machines = r.Apart, r.Machines
	}
	add := func(all []fault.Found, verdict string) {
		for _, f := range all {
			j := judged{Verdict: verdict, Why: f.Why(r.Hosts)}
			for _, h := range f.Hosts {
				if link := r.Links[h]; link != "" && !f.Uplink {
					j.Why += "; " + r.Hosts[h] + ": " + link
				}
			}
			if !math.IsInf(f.Ratio, 0) {
				j.Ratio, j.CI95 = &f.Ratio, &f.CI
			}
			names := named(f.Hosts)
			switch {
			case f.Uplink:
				d.Uplinks = append(d.Uplinks, judgedPair{names, j})
			case len(f.Hosts) == 1:
				d.Hosts[f.Hosts[0]].judged = j
			default:
				d.Pairs = append(d.Pairs, judgedPair{names, j})
			}
		}
	}
	add(r.Doubtful(), uncertain)
	add(r.Slow, slow)
	switch {
	case len(r.Slow) > 0:
		d.Verdict = slow
	case d.Verdict == healthy && !r.Decided:
		d.Verdict = uncertain
	}
	return d
}

func (d Screened) err() error {
	switch d.Verdict {
	case slow:
		return exit.With(exit.Regression, fmt.Errorf("hosts, pairs or uplinks are slow"))
	case missing:
		return exit.With(exit.Partial, fmt.Errorf("hosts are missing"))
	case uncertain:
		return exit.With(exit.Inconclusive, fmt.Errorf("not decided in %.0f s: give it more time with --budget", d.Took))
	}
	return nil
}

//go:embed templates
var templates embed.FS

func (d Screened) text(w io.Writer) error {
	told := d.Findings[:min(len(d.Findings), 8)]
	if i := slices.IndexFunc(told, func(f doctor.Finding) bool { return f.Severity == doctor.Notes }); i >= 0 {
		told = told[:i]
	}
	hostShare := 0.0 // of what a host sends to itself, where that bounds a stream
	if d.Loopback > 0 && d.Rate > hostBound*d.Loopback {
		hostShare = d.Rate / d.Loopback
	}
	open := func(h judgedHost) bool { return h.Verdict == uncertain }
	return reports.Render(w, templates, "check.txt", template.FuncMap{
		"dashed": func(all []string) string { return strings.Join(all, " – ") }, "fold": hosts.Fold,
		"groups":  func(all [][]string) string { return strings.Join(lists.Map(all, hosts.Fold), "; ") },
		"pad":     func(s string, width int) string { return text.Pad(s, width, ' ') },
		"times":   func(v float64) string { return fmt.Sprintf("%.2f times", v) },
		"grouped": units.Grouped[int],
	}, map[string]any{
		"Of": d, "Told": told, "HostShare": hostShare, "Virtual": d.virtual,
		"Verdicts": []string{missing, slow, uncertain}, "Seen": float64(d.Seen) / float64(d.Of),
		"Longer": math.Ceil(max(5, 2*d.Took/60)),
		"Open":   d.Verdict == uncertain || slices.ContainsFunc(d.Hosts, open),
	})
}
