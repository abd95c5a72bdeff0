package results

import (
	"github.com/urfave/cli/v2"

	"calib/cmd/calib/internal/command"
	"calib/cmd/calib/internal/runfiles"
)

// FitCommand is calib fit.
func FitCommand() *cli.Command {
	return &cli.Command{
		Name: "fit", Usage: "fit the models to a run's samples again: write params.json and report.txt", ArgsUsage: "RUN",
		Flags: []cli.Flag{
			&cli.Uint64Flag{Name: "seed", Usage: "`N` of the bootstrap; 0 is the run's own"},
			command.JSONFlag(), command.QuietFlag(),
		},
		Action: func(c *cli.Context) error {
			dir, err := runfiles.Open(c)
			if err != nil {
				return err
			}
			d, err := dir.Dataset()
			if err != nil {
				return err
			}
			if _, err := runfiles.Fit(dir, d, c.Uint64("seed"), dir.Run().Warnings); err != nil {
				return err
			}
			return runfiles.Print(c, "fit", dir, nil)
		},
	}
}

// Documents are the schemas of the data of these commands.
func Documents() []command.Document {
	return []command.Document{command.DataOf[exported]("export"), command.DataOf[imported]("import"), command.DataOf[predicted]("predict"), command.DataOf[command.Written]("report")}
}
