package results

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"calib/cmd/calib/internal/command"
	"calib/cmd/calib/internal/history"
	"calib/fit"
	"calib/internal/dataset"
	"calib/internal/exit"
	"calib/internal/files"
	"calib/internal/importer"
	"calib/internal/lists"
	"calib/internal/rundir"
	"calib/internal/units"
	"calib/params"
	"calib/reports"
	"calib/run"
)

func ImportCommand() *cli.Command {
	return &cli.Command{
		Name: "import", Usage: "make a run of the output of another benchmark, and fit it", ArgsUsage: "FILE...",
		Description: "calib import --from netpipe np.out\n" +
			"calib import --from osu lat.1 lat.2 bw.1          files that repeat are rounds\n" +
			"calib import --from sockperf --bytes 64 sum.txt   its summary has no size\n" +
			"calib import --from csv --time full rtt.csv       bytes and seconds|ms|us|ns\n" +
			"iperf3 -J -c HOST | calib import --from iperf3 -  - is standard input\n" +
			"Columns from, to and round of a csv are read where they are there.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "from", Usage: "`FORMAT`: " + strings.Join(importer.Formats(), ", ")},
			&cli.StringFlag{Name: "time", Usage: "csv: times are `half|full` round trips"},
			&cli.StringFlag{Name: "bytes", Usage: "message `SIZES` the output lacks: one, or one a file: 64,1KiB"},
			&cli.StringFlag{Name: "host", Usage: "names of the two hosts, `CLIENT,SERVER`"},
			&cli.StringFlag{Name: "out", Usage: "run `DIR`ectory; default calib-run-DATE-TIME-HASH"},
			&cli.Uint64Flag{Name: "seed", Usage: "random seed `N`; 0 is computed from the samples"},
			&cli.BoolFlag{Name: "no-fit", Usage: "only write the samples"},
			command.JSONFlag(), command.QuietFlag(), command.AllFlag(),
		},
		Action: importFiles,
	}
}

type imported struct {
	Format  string   `json:"format"`
	Files   []string `json:"files"`
	Samples int      `json:"samples"`
	Timings int      `json:"timings"`
	Rounds  int      `json:"rounds"`
	Fitted  []string `json:"fitted"` // models
	Notes   []string `json:"notes"`
}

func importFiles(c *cli.Context) error {
	options, err := importOptions(c)
	if err != nil {
		return err
	}
	var in importer.Import
	for _, o := range options {
		if err := readInput(c, &in, o); err != nil {
			return exit.With(exit.Usage, err)
		}
	}
	d := in.Dataset("", c.Uint64("seed"))
	hash := seedOf(d)
	d.Header.Seed = cmp.Or(d.Header.Seed, hash)
	now, path := time.Now(), c.String("out")
	d.Header.Run = fmt.Sprintf("%s-%08x", filepath.Base(cmp.Or(path, rundir.DefaultName(now))), uint32(hash>>16))
	path = cmp.Or(path, d.Header.Run) // no other import is called that
	if in.Started.IsZero() || in.Started.After(now) {
		in.Started = cmp.Or(written(c), now).UTC()
	}
	data := imported{Format: options[0].Format, Files: c.Args().Slice(), Fitted: []string{},
		Notes: append([]string{}, in.Notes...)}
	data.count(d)
	dir, err := importedRun(path, d, data.Notes, in.Started)
	if err != nil {
		return err
	}
	r := reports.Result{Command: "import", Run: dir.Path()}
	if !c.Bool("no-fit") {
		p, failed := run.Fit(dir, d, fit.Settings{}, data.Notes, history.Paged(c, command.Noter(c)))
		if p != nil {
			data.Fitted = append(data.Fitted, lists.Map(p.Fits, func(f *params.Fit) string { return f.Model })...)
		}
		if r.Params = p; failed != nil {
			r.Params, err = nil, fmt.Errorf("the samples are saved in %s, but not fitted: %w", path, failed)
		}
	}
	r.Files, r.Data = command.FilesOf(dir.Path()), data
	return command.AnswerResult(c, r, err, func(w io.Writer) error {
		fmt.Fprintf(w, "%s: files %d, rounds %d, samples %d, timings %d; in %s\n", data.Format, len(data.Files),
			data.Rounds, data.Samples, data.Timings, dir.Path())
		if !c.Bool("quiet") {
			for _, n := range data.Notes {
				fmt.Fprintln(w, "  "+n)
			}
		}
		if r.Params == nil {
			return nil
		}
		fmt.Fprintf(w, "fitted: %s\n\n", strings.Join(data.Fitted, ", "))
		return reports.Screen(w, r.Params, command.PageOptions(c, dir.Path()))
	})
}

// importOptions reads the flags: one setting for each file.
func importOptions(c *cli.Context) (out []importer.Options, err error) {
	args, from := c.Args().Slice(), c.String("from")
	switch {
	case !slices.Contains(importer.Formats(), from):
		return nil, exit.Usagef("--from %q: want one of %s", from, strings.Join(importer.Formats(), ", "))
	case len(args) == 0:
		return nil, exit.Usagef("want the files to import, or - for standard input (see %s --help)", c.Command.HelpName)
	case from == "csv" && c.String("time") == "":
		return nil, exit.Usagef("--from csv: a table does not state what its times are: say --time half or --time full")
	case slices.Contains(args, "-") && len(args) > 1:
		return nil, exit.Usagef("standard input cannot be mixed with files")
	}
	o := importer.Options{Format: from, Time: c.String("time")}
	if h := c.String("host"); h != "" {
		names := command.List(c, "host")
		if len(names) != 2 || names[0] == "" || names[1] == "" || names[0] == names[1] {
			return nil, exit.Usagef("--host %q: want two names, CLIENT,SERVER", h)
		}
		o.Hosts = [2]string(names)
	}
	list := c.String("bytes") // none, one for all files, or one for each
	words := strings.Split(list, ",")
	if len(words) != 1 && len(words) != len(args) {
		return nil, exit.Usagef("--bytes %q: %d sizes for %d files: want one, or one for each file", list, len(words),
			len(args))
	}
	for i, arg := range args {
		if o.File = arg; arg == "-" {
			o.File = "standard input"
		}
		if list != "" {
			b, err := units.ParseBytes(words[min(i, len(words)-1)])
			switch {
			case err != nil:
				return nil, exit.Usagef("--bytes: %w", err)
			case b < 1:
				return nil, exit.Usagef("--bytes %q: want at least 1 byte", list)
			}
			o.Bytes = int64(b)
		}
		out = append(out, o)
	}
	return out, nil
}

func readInput(c *cli.Context, in *importer.Import, o importer.Options) error {
	r := c.App.Reader
	if c.Args().First() != "-" {
		f, err := files.Open(o.File)
		if err != nil {
			return fmt.Errorf("%s: %w", o.File, files.Reason(err))
		}
		defer f.Close()
		r = f
	}
	return in.Read(r, o)
}

// seedOf computes a seed from the samples, so that the same files give the same bytes.
func seedOf(d *dataset.Dataset) uint64 {
	h := fnv.New64a()
	for i := range d.Samples {
		s := &d.Samples[i]
		fmt.Fprint(h, s.Exp, s.Phase, s.Point.Key(), s.Ranks, s.Round, s.NS)
	}
	return h.Sum64()>>1 | 1
}

func (m *imported) count(d *dataset.Dataset) {
	v := d.Survey()
	m.Samples, m.Timings, m.Rounds = v.Lines, v.Timings, len(v.Rounds)
	note := func(text string) { m.Notes = append(m.Notes, text) }
	if m.Timings == m.Samples && m.Format != "iperf3" {
		note("one value for each point and round: intervals show the variation between rounds, but not within a round")
	}
	if m.Rounds == 1 {
		note("one round: intervals leave out the variation between runs; more files of the same kind make more rounds")
	}
}

// written is when the oldest of the files was; zero of standard input.
func written(c *cli.Context) (oldest time.Time) {
	for _, path := range c.Args().Slice() {
		if f, err := os.Stat(path); err == nil && (oldest.IsZero() || f.ModTime().Before(oldest)) {
			oldest = f.ModTime()
		}
	}
	return oldest
}

func importedRun(path string, d *dataset.Dataset, notes []string, started time.Time) (*rundir.Dir, error) {
	dir, err := run.Create(path, rundir.Run{ID: d.Header.Run, Plan: d.Header.Plan, Seed: d.Header.Seed,
		Hosts: d.Header.Hosts, Warnings: notes, Started: started})
	if err != nil {
		return nil, err
	}
	slots, err := writeSamples(dir.File(rundir.SamplesFile), d)
	status, code := rundir.StatusComplete, exit.OK
	if err != nil {
		status, code = rundir.StatusFailed, exit.Failed
	}
	end := dir.Update(func(r *rundir.Run) {
		r.Slots = rundir.Slots{Planned: slots, Done: slots}
		r.End(status, code, started)
	})
	return dir, errors.Join(err, end, dir.Close())
}

func writeSamples(path string, d *dataset.Dataset) (slots int, err error) {
	w, err := dataset.Create(path, d.Header)
	if err != nil {
		return 0, err
	}
	for i := 0; i < len(d.Samples) && err == nil; slots++ {
		n := i + d.Samples[i].Parts
		err = w.Append(d.Samples[i:n])
		i = n
	}
	return slots, errors.Join(err, w.Close())
}
