package runfiles

import (
	"encoding/json"
	"fmt"

	"github.com/urfave/cli/v2"

	"calib/cmd/calib/internal/command"
	"calib/fit"
	"calib/internal/decode"
	"calib/internal/rundir"
	"calib/internal/units"
)

// Fitting is what run.json keeps, as member "fit" of its detail, of how a run is fitted: to fit again gives the same.
type Fitting struct {
	// Breaks are fit.Settings.Breaks.
	Breaks []int64 `json:"breaks,omitempty"`
}

// foundBreaks is the value of --breaks under which they are found.
const foundBreaks = "auto"

// BreaksFlag says at which sizes the time of a message goes over from one line to the next.
func BreaksFlag() cli.Flag {
	return &cli.StringFlag{Name: "breaks", Usage: "message sizes at which T(x) goes over to another line, `1420,32KiB`: where the protocol changes; " +
		foundBreaks + " finds them; default those in run.json, else " + foundBreaks}
}

// FittingFlags reads BreaksFlag. Whether the breaks suit the sizes measured is known with them.
func FittingFlags(c *cli.Context) (f Fitting, err error) {
	text := c.String("breaks")
	if text == "" || text == foundBreaks {
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

// Settings are those of a fit with a seed.
func (f Fitting) Settings(seed uint64) fit.Settings {
	s := fit.Settings{Seed: seed}
	for _, b := range f.Breaks {
		s.Breaks = append(s.Breaks, float64(b))
	}
	return s
}

// fitMember is the member of the detail.
const fitMember = "fit"

// members are those of the detail of a run; none where it keeps no detail, as an imported run.
func members(r rundir.Run) (map[string]json.RawMessage, error) {
	out := map[string]json.RawMessage{}
	if len(r.Detail) == 0 {
		return out, nil
	}
	if err := decode.JSON(r.Detail, &out); err != nil {
		return nil, fmt.Errorf("run %s: %s: detail: %w", r.ID, rundir.RunFile, err)
	}
	return out, nil
}

// FittingOf returns how a run is fitted.
func FittingOf(r rundir.Run) (f Fitting, err error) {
	m, err := members(r)
	if err != nil || m[fitMember] == nil {
		return f, err
	}
	if err := decode.JSON(m[fitMember], &f); err != nil {
		return f, fmt.Errorf("run %s: %s: detail: %s: %w", r.ID, rundir.RunFile, fitMember, err)
	}
	return f, nil
}

// Keep writes how a run is fitted to its run.json. dir is open for editing.
func (f Fitting) Keep(dir *rundir.Dir) error {
	m, err := members(dir.Run())
	if err != nil {
		return err
	}
	if delete(m, fitMember); len(f.Breaks) > 0 {
		if m[fitMember], err = json.Marshal(f); err != nil {
			return err
		}
	}
	var detail json.RawMessage
	if len(m) > 0 {
		if detail, err = json.Marshal(m); err != nil {
			return err
		}
	}
	return dir.Update(func(r *rundir.Run) { r.Detail = detail })
}
