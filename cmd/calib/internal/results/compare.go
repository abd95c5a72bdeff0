// Package results holds the commands that work on finished runs: fit, report, export, import, compare and gate.
package results

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"calib/cmd/calib/internal/command"
	"calib/cmd/calib/internal/history"
	"calib/internal/exit"
	"calib/internal/files"
	"calib/internal/units"
	"calib/reports/compare"
)

// CompareCommand is calib compare.
func CompareCommand() *cli.Command {
	return &cli.Command{
		Name: "compare", Usage: "say whether runs have become slower than other runs", ArgsUsage: "OLD NEW",
		Description: "calib compare OLD NEW\n" +
			"OLD and NEW are run directories, directories that hold runs (as calib run --aa writes), params.json files, or\n" +
			"baseline:NAME of the history. More of each: --old and --new. The run is the sample: a handful a side is needed, and\n" +
			"with fewer the answer is how many more. A regression is significant, and larger than --relative, --absolute and the\n" +
			"noise. Runs of\n" +
			"other hosts, links, plans, parameters or environments are not comparable, unless --allow says so.\n" +
			"Exit 0 no regression, 3 regression, 5 inconclusive or not comparable.",
		Flags: slices.Concat([]cli.Flag{
			&cli.StringSliceFlag{Name: "old", Usage: "more old runs, as `OLD`; may be repeated"},
			&cli.StringSliceFlag{Name: "new", Usage: "more new runs, as `NEW`; may be repeated"},
		}, thresholdFlags(compare.DefaultRelative), []cli.Flag{
			&cli.StringFlag{Name: "markdown", Usage: "write the summary of a CI job to `FILE`"},
			&cli.StringFlag{Name: "junit", Usage: "write test results to `FILE`"},
			history.StoreFlag(), command.JSONFlag(),
		}),
		Action: compareRuns,
	}
}

// thresholdFlags say which changes count as a regression.
func thresholdFlags(relative float64) []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "relative", Value: strconv.FormatFloat(100*relative, 'g', -1, 64) + "%", Usage: "least change that counts, a `SHARE` of the old value"},
		&cli.StringSliceFlag{Name: "absolute", Usage: "least change that counts by `UNIT=VALUE`: s=2us, B/s=1MB, s/B=1e-10; may be repeated"},
		&cli.Float64Flag{Name: "alpha", Value: compare.DefaultAlpha, Usage: "probability `P` of a false alarm in the whole comparison"},
		&cli.StringFlag{Name: "noise", Usage: "noise floor `FILE` of calib run --aa"},
		&cli.StringSliceFlag{Name: "allow", Usage: "compare runs even if these differ, as far as both have them: `WHAT` of " +
			strings.Join(compare.Allowable(), ", ")},
	}
}

// compareOptions reads thresholdFlags.
func compareOptions(c *cli.Context) (compare.Options, error) {
	o := compare.Options{Alpha: c.Float64("alpha"), Allow: c.StringSlice("allow")}
	for _, what := range o.Allow {
		if !slices.Contains(compare.Allowable(), what) {
			return o, exit.Usagef("--allow %q: want %s", what, strings.Join(compare.Allowable(), ", "))
		}
	}
	if !(o.Alpha > 0 && o.Alpha < 1) {
		return o, exit.Usagef("--alpha %v: want a probability between 0 and 1, such as 0.05", o.Alpha)
	}
	var err error
	if o.Relative, err = parseShare(c.String("relative")); err != nil {
		return o, exit.Usagef("--relative %q: %w", c.String("relative"), err)
	}
	if o.Relative == 0 {
		o.Relative = -1 // none, where 0 is the default
	}
	for _, text := range c.StringSlice("absolute") {
		unit, value, err := parseAbsolute(text)
		if err != nil {
			return o, exit.Usagef("--absolute %q: %w", text, err)
		}
		if o.Absolute == nil {
			o.Absolute = map[string]float64{}
		}
		o.Absolute[unit] = value
	}
	if path := c.String("noise"); path != "" {
		b, err := files.Read(path, 64<<20)
		if err != nil {
			return o, exit.Usagef("--noise: %w; calib run --hosts hosts.txt --aa 10 makes one", err)
		}
		if o.Noise, err = compare.ReadFloor(b); err != nil {
			return o, exit.Usagef("--noise %s: %w", path, err)
		}
	}
	return o, nil
}

// parseShare reads "5%" or "0.05".
func parseShare(s string) (float64, error) {
	text, hundred := strings.CutSuffix(strings.TrimSpace(s), "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if hundred {
		v /= 100
	}
	if err != nil || !(v >= 0 && v < 10) || v >= 1 && !hundred {
		return 0, errors.New("want a share such as 5% or 0.05")
	}
	return v, nil
}

// parseAbsolute reads a value of a unit: "s=2us", "B/s=1MB", "s/B=1e-10". A number without a prefix is in SI units.
func parseAbsolute(s string) (unit string, value float64, err error) {
	unit, text, ok := strings.Cut(s, "=")
	known := []string{"s", "B", "B/s", "s/B", "1"}
	if !ok || !slices.Contains(known, unit) {
		return "", 0, fmt.Errorf("want UNIT=VALUE with a unit of %s", strings.Join(known, ", "))
	}
	value, err = strconv.ParseFloat(text, 64)
	if err != nil {
		switch unit {
		case "s":
			var d time.Duration
			d, err = time.ParseDuration(text)
			value = d.Seconds()
		case "B", "B/s":
			var b units.Bytes
			b, err = units.ParseBytes(text)
			value = float64(b)
		}
	}
	if err != nil || !(value >= 0) || math.IsInf(value, 0) {
		return "", 0, errors.New("want a value such as s=2us, B/s=1MB or s/B=1e-10")
	}
	return unit, value, nil
}

// compareRuns compares what the arguments name.
func compareRuns(c *cli.Context) error {
	if err := command.NoFlagsAfter(c); err != nil {
		return err
	}
	old, new := c.StringSlice("old"), c.StringSlice("new")
	switch args := c.Args().Slice(); {
	case len(args) == 2:
		old, new = append(args[:1:1], old...), append(args[1:2:2], new...)
	case len(args) != 0 || len(old) == 0 || len(new) == 0:
		return exit.Usagef("want OLD and NEW, got %d arguments (see calib compare --help)", len(args))
	}
	options, err := compareOptions(c)
	if err != nil {
		return err
	}
	was, noise, err := loadRuns(c, old)
	if err != nil {
		return fmt.Errorf("compare: old: %w", err)
	}
	is, _, err := loadRuns(c, new)
	if err != nil {
		return fmt.Errorf("compare: new: %w", err)
	}
	if options.Noise == nil {
		options.Noise = noise
	}
	v := compare.Compare(was, is, options)
	paths := map[string]string{}
	for _, f := range []struct {
		name  string
		write func(io.Writer, *compare.Verdict) error
	}{{"markdown", compare.Markdown}, {"junit", compare.JUnit}} {
		path := c.String(f.name)
		if path == "" {
			continue
		}
		if err := files.Write(path, func(w io.Writer) error { return f.write(w, v) }); err != nil {
			return fmt.Errorf("compare: --%s: %w", f.name, err)
		}
		paths[f.name] = path
	}
	return answerVerdict(c, "compare", v, paths, nil)
}

// baselinePrefix marks an argument that names a baseline of the history.
const baselinePrefix = "baseline:"

// loadRuns returns the runs of arguments, each baseline:NAME or a path for command.LoadRuns, and the noise floor that is
// kept with the only argument, where that is a baseline. A run that is named twice is an error: it would count as two.
func loadRuns(c *cli.Context, args []string) (all []compare.Run, noise *compare.Floor, err error) {
	from := map[string]string{}
	for _, arg := range args {
		var runs []compare.Run
		if name, ok := strings.CutPrefix(arg, baselinePrefix); ok {
			var b history.Baseline
			b, err = history.BaselineOf(c, name)
			runs, noise = b.Runs, b.Noise
		} else {
			runs, err = command.LoadRuns(arg)
		}
		if err != nil {
			return nil, nil, err
		}
		for _, r := range runs {
			if first, twice := from[r.ID]; twice && r.ID != "" {
				return nil, nil, exit.Usagef("run %s is in %s and in %s: give each run once", r.ID, first, arg)
			}
			from[r.ID] = arg
		}
		all = append(all, runs...)
	}
	if len(args) != 1 {
		noise = nil
	}
	return all, noise, nil
}
