package reports

import (
	"fmt"
	"io"
	"strconv"
	"time"

	"calib/internal/units"
)

// Plan is the forecast of a run: what it will do to the network and for how long.
type Plan struct {
	Name  string `json:"name"`
	Hosts int    `json:"hosts"`
	Seed  uint64 `json:"seed"`
	// Rounds and Slots count the schedule at the start; points with wide intervals add rounds to it.
	Rounds int `json:"rounds"`
	Slots  int `json:"slots"`
	// MinutesLo is the time if no point needs more rounds, MinutesHi if every point uses up its budget.
	MinutesLo float64 `json:"minutes_lo"`
	MinutesHi float64 `json:"minutes_hi"`
	// BytesPerLink is what the busiest host's link carries at most, in one direction.
	BytesPerLink units.Bytes      `json:"bytes_per_link"`
	Experiments  []PlanExperiment `json:"experiments"`
}

// PlanExperiment is one experiment's part of a Plan.
type PlanExperiment struct {
	Name         string      `json:"name"`
	Points       int         `json:"points"`
	Slots        int         `json:"slots"`
	MinutesLo    float64     `json:"minutes_lo"`
	MinutesHi    float64     `json:"minutes_hi"`
	BytesPerLink units.Bytes `json:"bytes_per_link"`
}

// PlanText writes the forecast for people.
func PlanText(w io.Writer, f Plan, o Options) error {
	p := newPage(o)
	p.line(2, "%s: %s, seed %d; %s, %s; %s; at most %s over the busiest link.", p.paint(bold, "Plan "+Clean(f.Name)),
		units.GroupedPlural(f.Hosts, "host"), f.Seed, units.GroupedPlural(f.Rounds, "round"), units.GroupedPlural(f.Slots, "slot"),
		p.paint(bold, timeRange(f.MinutesLo, f.MinutesHi)), f.BytesPerLink)
	p.WriteByte('\n')
	if len(f.Experiments) == 0 {
		p.line(0, "Nothing to measure: no experiment has a point within these limits.")
	} else {
		g := newGrid(Column{"experiment", KindText}, Column{"points", KindNumber}, Column{"slots", KindNumber}, Column{"time", KindNumber},
			Column{"bytes per link", KindNumber})
		for _, e := range f.Experiments {
			g.add(Clean(e.Name), strconv.Itoa(e.Points), strconv.Itoa(e.Slots), timeRange(e.MinutesLo, e.MinutesHi),
				e.BytesPerLink.String())
		}
		p.write(g)
	}
	_, err := w.Write(p.Bytes())
	return err
}

// timeRange prints two bounds in minutes as "40 s to 2 min".
func timeRange(lo, hi float64) string {
	a, b := minutes(lo), minutes(hi)
	if a == b {
		return a
	}
	return a + " to " + b
}

// minutes prints a time as people plan with it: seconds below two minutes, then minutes, then hours.
func minutes(m float64) string {
	d := time.Duration(m * float64(time.Minute))
	switch {
	case d < 2*time.Minute:
		return fmt.Sprintf("%d s", int(d.Round(time.Second).Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min", int(d.Round(time.Minute).Minutes()))
	}
	return fmt.Sprintf("%.1f h", d.Hours())
}
