package results

import (
	"errors"
	"os"

	"github.com/urfave/cli/v2"

	"calib/cmd/calib/internal/command"
	"calib/internal/files"
	"calib/internal/rundir"
	"calib/run"
)

// FitCommand is calib fit.
func FitCommand() *cli.Command {
	return &cli.Command{
		Name: "fit", Usage: "fit the models to a run's samples again: write params.json and report.txt", ArgsUsage: "RUN",
		Description: "calib fit RUN                                     with the breaks that run.json keeps, if any\n" +
			"calib fit RUN --breaks 1420,32KiB,64KiB,270000    T(x) in five ranges; run.json keeps these breaks\n" +
			"calib fit RUN --breaks auto                       finds the breaks again",
		Flags: []cli.Flag{
			&cli.Uint64Flag{Name: "seed", Usage: "`N` of the bootstrap; 0 is the run's own"},
			command.BreaksFlag(), command.PartialFlag(),
			command.JSONFlag(), command.QuietFlag(), command.AllFlag(),
		},
		Action: fitRun,
	}
}

// fitRun fits as run.json says, or as the flags say, and then keeps in run.json how.
func fitRun(c *cli.Context) (err error) {
	f, err := command.FittingFlags(c)
	if err != nil {
		return err
	}
	anew, open := c.IsSet("breaks"), command.OpenRun
	if anew {
		open = command.EditRun
	}
	dir, err := open(c)
	if err != nil {
		return err
	}
	if anew {
		defer func() { err = errors.Join(err, dir.Close()) }()
	} else if f, err = run.FittingOf(dir.Run()); err != nil {
		return err
	}
	if err := fitSamples(c, dir, f); err != nil {
		return err
	}
	if anew {
		if err := f.Keep(dir); err != nil {
			return err
		}
	}
	return command.PrintRun(c, "fit", dir, nil)
}

// keptParams is where the parameters of the whole samples are kept when those of a part of them take their place.
const keptParams = "params-whole.json"

// maxParams bounds a params.json [B]: that of 1,000 hosts has some 100 MB.
const maxParams = 1 << 30

// fitSamples fits the samples of a run.
func fitSamples(c *cli.Context, dir *rundir.Dir, f run.Fitting) error {
	if err := command.Whole(c, dir); err != nil {
		return err
	}
	d, err := dir.Samples()
	if err != nil {
		return err
	}
	kept := dir.File(keptParams)
	before, err := files.Read(dir.File(rundir.ParamsFile), maxParams)
	keep := err == nil && c.Bool("partial") && dir.Sealed() != nil && !command.Exists(kept)
	if keep {
		if err := files.Replace(kept, before); err != nil {
			return err
		}
	}
	_, err = run.Fit(dir, d, f.Settings(c.Uint64("seed")), dir.Run().Warnings)
	switch written := err == nil || errors.Is(err, run.ErrReports); {
	case keep && written:
		command.Note(c, "the parameters of before are kept in "+kept)
	case keep:
		return errors.Join(err, os.Remove(kept)) // those of before are still in their place
	}
	return err
}

// Documents are the schemas of the data of these commands.
func Documents() []command.Document {
	return []command.Document{command.DataOfEither[exported, []listed]("export"), command.DataOf[imported]("import"),
		command.DataOfEither[predicted, ofGraph]("predict"), command.DataOf[command.Written]("report")}
}
