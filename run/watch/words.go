package watch

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"time"

	"calib/fit/drift"
	"calib/fit/fault"
	"calib/internal/history"
	"calib/internal/hosts"
	"calib/internal/lists"
	"calib/internal/units"
)

// changeOf is a change as it is stored, with all of it in words.
func (w *watcher) changeOf(c drift.Change) *history.Change {
	out := &history.Change{Group: c.Size() == drift.Many, Quantity: c.Quantity, Direction: c.Direction,
		Since: c.Since.UTC(), Found: c.Found.UTC(), Evidence: c.Evidence, Watched: w.Hosts,
		Hosts: lists.Map(c.Members(), func(h int) string { return w.Hosts[h] })}
	if !math.IsInf(c.Ratio, 0) {
		out.Ratio, out.CI95 = &c.Ratio, &c.CI
	}
	out.Says = says(out)
	for _, m := range w.recent {
		if m.At.Sub(c.Since).Abs() <= reach {
			out.Says += "; about then: " + m.Subject
		}
	}
	return out
}

func says(c *history.Change) string {
	var of string
	switch {
	case len(c.Hosts) == 0:
		of = "the network"
	case c.Group:
		of = fmt.Sprintf("what crosses %s (%d hosts)", hosts.Fold(c.Hosts), len(c.Hosts))
	case len(c.Hosts) == 1:
		of = "host " + c.Hosts[0]
	case c.Quantity == fault.Rate:
		of = c.Hosts[0] + " to " + c.Hosts[1]
	default:
		of = "pair " + c.Hosts[0] + " – " + c.Hosts[1]
	}
	what := map[string]string{fault.Latency: "a message", fault.Rate: "a byte"}[c.Quantity]
	if c.Direction != "" {
		what += " in " + c.Direction
	}
	since := " since " + c.Since.UTC().Format("2006-01-02 15:04") + " UTC"
	switch {
	case c.Ratio == nil:
		return of + ": nothing comes through" + since
	case c.Quantity == fault.Loss:
		return fmt.Sprintf("%s: %.2g%% of its segments are sent again [%.2g, %.2g]%s", of, 100**c.Ratio, 100*c.CI95[0],
			100*c.CI95[1], since)
	}
	return fmt.Sprintf("%s: %s takes %.3f times as long as before [%.3f, %.3f]%s", of, what, *c.Ratio, c.CI95[0],
		c.CI95[1], since)
}

// clockSet says by how much the clock of this machine was set since the last look.
func (w *watcher) clockSet(now time.Time) (marks []string) {
	if !w.last.IsZero() {
		if by := now.Round(0).Sub(w.last.Round(0)) - now.Sub(w.last); by.Abs() > step {
			marks = append(marks, fmt.Sprintf("the clock of the watching host was set by %v", by.Round(time.Second)))
		}
	}
	w.last = now
	return marks
}

// fingerprint is what is known of a host, in a store.
type fingerprint struct {
	Boot string            `json:"boot"`
	Env  map[string]string `json:"env"`
}

// marks say what has changed about hosts since they were last seen, and add to machines how they are now.
func (w *watcher) marks(s *Sighting, machines map[string]string) (marks []string) {
	for _, m := range s.Hosts {
		if m.Env == nil {
			continue
		}
		text, err := json.Marshal(fingerprint{m.Boot, m.Env})
		if err != nil || w.machines[m.Name] == string(text) {
			continue
		}
		var before fingerprint
		if old, ok := w.machines[m.Name]; ok && json.Unmarshal([]byte(old), &before) == nil {
			if before.Boot != m.Boot {
				marks = append(marks, m.Name+" was booted")
			}
			marks = append(marks, differences(m.Name, before.Env, m.Env)...)
		}
		w.machines[m.Name], machines[m.Name] = string(text), string(text)
	}
	return marks
}

// differences lists the facts that have changed, but those that a driver with adaptive interrupt coalescing changes by
// itself.
func differences(host string, before, now map[string]string) (out []string) {
	both := maps.Clone(before)
	maps.Copy(both, now)
	for _, k := range slices.Sorted(maps.Keys(both)) {
		adaptive := coalesces.ReplaceAllString(k, "${1}adaptive_$2")
		wanders := func(env map[string]string) bool { return adaptive != k && env[adaptive] != "" && env[adaptive] != "0" }
		if a, b := before[k], now[k]; a != b && !wanders(before) && !wanders(now) {
			out = append(out, units.OneLine(fmt.Sprintf("%s: %s was %q, is %q", host, k, a, b)))
		}
	}
	return out
}

// coalesces are settings of interrupt coalescing: adaptive is "nic.coalesce.adaptive_rx" for "nic.coalesce.rx_usecs".
var coalesces = regexp.MustCompile(`^(nic\.coalesce\.)(rx|tx)_(usecs|frames)$`)

// reach is how far from the beginning of a change something may have happened that explains it.
const reach = time.Hour
