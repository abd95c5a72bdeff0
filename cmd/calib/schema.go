package main

import (
	"maps"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/urfave/cli/v2"

	"calib/cmd/calib/internal/command"
	"calib/cmd/calib/internal/history"
	"calib/cmd/calib/internal/results"
	"calib/internal/doctor"
	"calib/internal/exit"
	"calib/internal/progress"
	"calib/internal/rundir"
	"calib/reports"
	"calib/reports/compare"
)

// schemaCommand is calib schema.
func schemaCommand() *cli.Command {
	return &cli.Command{
		Name: "schema", Usage: "print the JSON Schema of calib's files and documents", ArgsUsage: "[NAME]",
		Description: "NAME is params (params.json), header and sample (samples.jsonl), run (run.json), verdict (verdict.json), noise\n" +
			"(noise.json), result (what --json prints), data-COMMAND (the data of its result: data-history-list) or event\n" +
			"(progress as JSON lines). Without a name: all of them, by name.",
		Action: func(c *cli.Context) error {
			if err := command.NoFlagsAfter(c); err != nil {
				return err
			}
			all, err := schemas()
			if err != nil {
				return err
			}
			switch c.NArg() {
			case 0:
				return command.WriteJSON(c.App.Writer, all)
			case 1:
				if s, ok := all[c.Args().First()]; ok {
					return command.WriteJSON(c.App.Writer, s)
				}
			}
			return exit.Usagef("schema: want one of %s", strings.Join(slices.Sorted(maps.Keys(all)), ", "))
		},
	}
}

// documents are what commands print and write, beyond what package reports knows.
func documents() []command.Document {
	own := []command.Document{
		{Name: "run", Schema: rundir.JSONSchema},
		command.DocumentOf[progress.Event]("event", "", "One line of progress on standard error."),
		command.DocumentOf[compare.Verdict]("verdict", compare.Schema, "verdict.json: whether runs have become slower; also the data of compare and gate."),
		command.DocumentOf[compare.Floor]("noise", compare.FloorSchema, "noise.json: how much runs of the same differ; also the data of run --aa."),
		command.DataOf[build]("version"), command.DataOf[doctor.Report]("doctor"),
	}
	return slices.Concat(own, results.Documents(), history.Documents())
}

// schemas makes every schema, by name.
func schemas() (map[string]*jsonschema.Schema, error) {
	all, err := reports.Schemas()
	if err != nil {
		return nil, err
	}
	for _, d := range documents() {
		if all[d.Name], err = d.Schema(); err != nil {
			return nil, err
		}
	}
	return all, nil
}
