package runfiles

import (
	"github.com/urfave/cli/v2"

	"calib/cmd/calib/internal/command"
	"calib/internal/units"
	"calib/run"
)

// BreaksFlag says at which sizes the time of a message goes over from one line to the next.
func BreaksFlag() cli.Flag {
	return &cli.StringFlag{Name: "breaks", Usage: "message sizes at which T(x) goes over to another line, `1420,32KiB`: where the protocol changes; " +
		run.FoundBreaks + " finds them; default those in run.json, else " + run.FoundBreaks}
}

// FittingFlags reads BreaksFlag. Whether the breaks suit the sizes measured is known with them.
func FittingFlags(c *cli.Context) (f run.Fitting, err error) {
	text := c.String("breaks")
	if text == "" || text == run.FoundBreaks {
		return f, nil
	}
	for _, word := range command.List(c, "breaks") {
		b, err := units.ParseBytes(word)
		if err != nil {
			return f, command.Usagef("--breaks: %w", err)
		}
		if n := len(f.Breaks); n > 0 && int64(b) <= f.Breaks[n-1] {
			return f, command.Usagef("--breaks %s: %d after %d, want ascending sizes", text, b, f.Breaks[n-1])
		}
		f.Breaks = append(f.Breaks, int64(b))
	}
	return f, nil
}
