package history

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/urfave/cli/v2"

	"calib/cmd/calib/internal/command"
	"calib/cmd/calib/internal/runfiles"
	"calib/internal/history"
	"calib/internal/units"
	"calib/reports/compare"
)

// setBaseline makes a baseline of stored runs, and of runs that it adds.
func setBaseline(c *cli.Context) error {
	if err := command.NoFlagsAfter(c); err != nil {
		return err
	}
	if c.NArg() < 2 {
		return command.Usagef("baseline set: give a name and runs (see %s --help)", c.Command.HelpName)
	}
	name, args := c.Args().First(), c.Args().Tail()
	noise, err := noiseOf(c.String("noise"), args)
	if err != nil {
		return err
	}
	open := history.OpenExisting
	if slices.ContainsFunc(args, command.Exists) { // runs that are added
		open = history.Open
	}
	return withStore(c, open, func(s *history.Store) error {
		for _, arg := range args { // before anything is added
			if command.Exists(arg) {
				continue
			}
			if _, err := storedRunID(c, s, arg); err != nil {
				return err
			}
		}
		a := adder{done: []addition{}}
		var ids []string
		for _, arg := range args {
			more, err := storedIDs(c, &a, s, arg)
			if err != nil {
				return err
			}
			ids = append(ids, more...)
		}
		err := s.SetBaseline(c.Context, history.Baseline{Name: name, Note: c.String("note"), Runs: ids}, noise)
		if err != nil {
			return err
		}
		b, err := s.Baseline(c.Context, name)
		if err != nil {
			return err
		}
		return command.Answer(c, "baseline set", baselineSet{s.Path(), b, a.done}, func(w io.Writer) error {
			noise := "without a noise floor"
			if b.Noise {
				noise = "with a noise floor"
			}
			_, err := fmt.Fprintf(w, "baseline %s: %s, %s\n", b.Name, units.Plural(len(b.Runs), "run"), noise)
			return err
		})
	})
}

// storedIDs returns the IDs that an argument names: of runs at a path, which are added, or else of the stored run.
func storedIDs(c *cli.Context, a *adder, s *history.Store, arg string) ([]string, error) {
	if !command.Exists(arg) {
		id, err := storedRunID(c, s, arg)
		return []string{id}, err
	}
	paths, err := runfiles.ParamsFiles(arg)
	if err != nil {
		return nil, err
	}
	before := len(a.done)
	if err := a.add(c, s, paths); err != nil {
		return nil, err
	}
	var ids []string
	for _, r := range a.done[before:] {
		ids = append(ids, r.ID)
	}
	return ids, nil
}

// storedRunID returns the ID of the stored run that arg names.
func storedRunID(c *cli.Context, s *history.Store, arg string) (string, error) {
	e, err := s.Find(c.Context, arg)
	if errors.Is(err, history.ErrNotFound) {
		err = fmt.Errorf("%w; nor is there such a file", err)
	}
	return e.ID, err
}

// noiseOf reads a noise floor: that of the file or else the only one in the directories among args; nil where there is none.
func noiseOf(file string, args []string) ([]byte, error) {
	if file == "" {
		for _, arg := range args {
			path := filepath.Join(arg, runfiles.NoiseFile)
			if !command.Exists(path) {
				continue
			}
			if file != "" {
				return nil, command.Usagef("both %s and %s are there: choose one by --noise", file, path)
			}
			file = path
		}
	}
	if file == "" {
		return nil, nil
	}
	b, err := os.ReadFile(file)
	if err == nil {
		_, err = compare.ReadFloor(bytes.NewReader(b))
	}
	if err != nil {
		return nil, command.Usagef("noise floor %s: %w", file, err)
	}
	return b, nil
}
