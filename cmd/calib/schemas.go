package main

import (
	"maps"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/urfave/cli/v2"

	"calib/internal/progress"
	"calib/internal/rundir"
	"calib/reports"
	"calib/reports/compare"
)

func schemaCommand() *cli.Command {
	return &cli.Command{
		Name: "schema", Usage: "print the JSON Schema of calib's files and documents", ArgsUsage: "[NAME]",
		Description: "NAME is params (params.json), header and sample (samples.jsonl), run (run.json), verdict (verdict.json), noise\n" +
			"(noise.json), result (what --json prints), data-COMMAND (the data of its result: data-history-list) or event\n" +
			"(progress as JSON lines). Without a name: all of them, by name.",
		Action: func(c *cli.Context) error {
			if err := noFlagsAfter(c); err != nil {
				return err
			}
			all, err := schemas()
			if err != nil {
				return err
			}
			switch c.NArg() {
			case 0:
				return writeJSON(c.App.Writer, all)
			case 1:
				if s, ok := all[c.Args().First()]; ok {
					return writeJSON(c.App.Writer, s)
				}
			}
			return usagef("schema: want one of %s", strings.Join(slices.Sorted(maps.Keys(all)), ", "))
		},
	}
}

// document makes the schema of one kind of document.
type document func() (*jsonschema.Schema, error)

// of is the document of type T: version is what its member "schema" says, or empty.
func of[T any](name, version, description string) document {
	return func() (*jsonschema.Schema, error) { return reports.SchemaOf[T](name, version, description, nil) }
}

// dataOf is the data of one command's result.
func dataOf[T any](command string) document {
	return of[T]("data-"+strings.ReplaceAll(command, " ", "-"), "", "Member data of what calib "+command+" --json prints.")
}

// documents are what commands print and write beyond what package reports knows.
func documents() map[string]document {
	return map[string]document{
		"run":     rundir.JSONSchema,
		"event":   of[progress.Event]("event", "", "One line of progress on standard error."),
		"verdict": of[compare.Verdict]("verdict", compare.Schema, "verdict.json: whether runs have become slower; also the data of compare and gate."),
		"noise":   of[compare.Floor]("noise", compare.FloorSchema, "noise.json: how much runs of the same differ; also the data of run --aa."),
		"data-export": dataOf[exported]("export"), "data-import": dataOf[imported]("import"),
		"data-report": dataOf[written]("report"), "data-version": dataOf[build]("version"),
	}
}

// schemas makes every schema, by name.
func schemas() (map[string]*jsonschema.Schema, error) {
	all, err := reports.Schemas()
	if err != nil {
		return nil, err
	}
	for _, some := range []map[string]document{documents(), historyDocuments()} {
		for name, schema := range some {
			if all[name], err = schema(); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}
