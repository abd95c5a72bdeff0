package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"calib/fit/params"
)

// What the simulation of an emulated network may miss of patterns that nothing was fitted to (DESIGN section 6).
const (
	patternMean  = 0.05
	patternWorst = 0.10
)

// predicted prints how far each model is from the patterns of one run, and fails where the simulation misses its bars.
func predicted(_ context.Context, _ string, p *params.Params) error {
	models := params.ModelsOf(p.Validation)
	var patterns []string
	for _, v := range p.Validation {
		if !slices.Contains(patterns, v.Pattern) {
			patterns = append(patterns, v.Pattern)
		}
	}
	if len(patterns) == 0 {
		return fmt.Errorf("nothing was predicted")
	}
	fmt.Println("| pattern | times |", strings.Join(models, " | "), "|")
	fmt.Println("|---|---|" + strings.Repeat("---|", len(models)))
	for _, name := range append(patterns, "") {
		rows := slices.DeleteFunc(slices.Clone(p.Validation), func(v params.Validation) bool { return name != "" && v.Pattern != name })
		cells, times := []string{}, 0
		for _, m := range models {
			g, ok := params.GradeOf(rows, m, "")
			if !ok {
				cells = append(cells, "")
				continue
			}
			times = max(times, g.N)
			cells = append(cells, fmt.Sprintf("%.1f%%, worst %.1f%%, %d of %d in the interval", 100*g.Mean, 100*g.Worst, g.Covered, g.N))
		}
		if name == "" {
			name = "all"
		}
		fmt.Printf("| %s | %d | %s |\n", name, times, strings.Join(cells, " | "))
	}
	simulated := slices.DeleteFunc(slices.Clone(p.Validation), func(v params.Validation) bool { return !strings.HasPrefix(v.Model, "sim") })
	g, ok := params.BestOf(simulated)
	if !ok || g.Mean > patternMean || g.Worst > patternWorst {
		return fmt.Errorf("%s is %.1f%% off on average and %.1f%% at most, want %.0f%% and %.0f%%", g.Model, 100*g.Mean, 100*g.Worst,
			100*patternMean, 100*patternWorst)
	}
	return nil
}
