package measuring

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"calib/cmd/calib/internal/command"
	"calib/internal/environ"
	"calib/internal/files"
	"calib/internal/lab"
	"calib/internal/netspec"
	"calib/internal/params"
	"calib/internal/selfcheck"
	"calib/internal/units"
	"calib/reports"
	"calib/reports/export"
)

// labTries is how often a measurement is made while the lab is late.
const labTries = 3

// Files of a selfcheck's directory, beside the copy's runs.
const (
	selfcheckFile = "selfcheck.json"
	labFile       = "lab.yaml"
)

// measurement is one run of the copy.
type measurement struct {
	Run  string      `json:"run"`
	Seed uint64      `json:"seed"`
	Lab  lab.Verdict `json:"lab"`
	// Used: its parameters were compared.
	Used bool `json:"used"`
}

// checked is the data of a selfcheck.
type checked struct {
	Source       string  `json:"source"`
	LabFile      string  `json:"lab_file"`
	Slowdown     float64 `json:"slowdown"`
	Sentence     string  `json:"sentence"`
	Back         int     `json:"back"`
	Missed       int     `json:"missed"`
	Undetermined int     `json:"undetermined"`
	// Agrees and Differs count the values that are given to no network, and compared with the run's.
	Agrees       int             `json:"agrees"`
	Differs      int             `json:"differs"`
	Measurements []measurement   `json:"measurements"`
	Rows         []selfcheck.Row `json:"rows"`
	warnings     []string
}

// copier makes a copy of a run's network, and measures it.
type copier struct {
	c      *cli.Context
	out    string
	run    *params.Params
	spec   *netspec.Spec
	detail detail
	data   checked
}

// writeLab writes the lab file, and reads back what the lab will play.
func (k *copier) writeLab(arg string) error {
	target, err := export.Lookup("lab")
	if err != nil {
		return err
	}
	text, warnings, err := target.Export(k.run, export.Options{Hosts: k.c.Int("hosts"), Slowdown: k.c.Float64("slowdown"), Version: environ.Version()})
	if err != nil {
		return fmt.Errorf("%s: %w", arg, err)
	}
	if k.spec, err = netspec.Parse(text); err != nil {
		return fmt.Errorf("%s: lab file: %w", arg, err)
	}
	if s := &k.detail.Plan.Limits.Segment; int(*s) > k.spec.MSS {
		*s = units.Bytes(k.spec.MSS)
	}
	k.data.LabFile, k.data.Slowdown, k.data.warnings = filepath.Join(k.out, labFile), k.spec.Slowdown, warnings
	if err := os.MkdirAll(k.out, 0o755); err != nil {
		return err
	}
	if !k.c.Bool("quiet") {
		command.Warn(k.c, warnings)
	}
	return files.Replace(k.data.LabFile, text)
}

// check measures the copy, and a second time where parameters are outside their intervals.
func (k *copier) check() error {
	first, err := k.measure(k.detail.Plan.Seed)
	if first == nil {
		return err
	}
	k.data.Rows = selfcheck.Judge(k.spec, k.run, first)
	if err != nil || k.c.Bool("once") || selfcheck.CountOf(k.data.Rows).Missed == 0 {
		return err
	}
	second, err := k.measure(k.detail.Plan.Seed + 1)
	if second != nil {
		k.data.Rows = selfcheck.Confirm(k.data.Rows, selfcheck.Judge(k.spec, k.run, second))
	}
	return err
}

// errLate is how a selfcheck ends whose lab was late as often as it was tried.
var errLate = errors.New("the lab was late")

// measure calibrates the copy, again where the lab was late, and returns its parameters. With an error they are nil or partial.
func (k *copier) measure(seed uint64) (*params.Params, error) {
	for try := 1; ; try++ {
		m := measurement{Run: filepath.Join(k.out, fmt.Sprintf("run-%d", len(k.data.Measurements)+1)), Seed: seed}
		p, err := k.calibrate(&m)
		m.Used = p != nil && !m.Lab.Late
		if command.Exists(m.Run) {
			k.data.Measurements = append(k.data.Measurements, m)
		}
		switch {
		case err != nil && command.CodeOf(err) != command.ExitPartial:
			return nil, err
		case !m.Lab.Late:
			return p, err
		case try == labTries:
			return nil, command.WithCode(command.ExitInconclusive, fmt.Errorf("%w %d times: %s; end what else runs on this machine, or slow the copy by --slowdown %g",
				errLate, labTries, strings.Join(m.Lab.Why, "; "), 2*k.spec.Slowdown))
		}
		command.Note(k.c, fmt.Sprintf("the lab was late (%s): measuring again", strings.Join(m.Lab.Why, "; ")))
	}
}

// calibrate measures the copy once, and fits.
func (k *copier) calibrate(m *measurement) (p *params.Params, err error) {
	o, cut := lab.Options{Name: k.c.String("name")}, false
	m.Lab, err = lab.Within(k.c.Context, k.spec, o, func(ctx context.Context, l *lab.Lab) error {
		c := *k.c
		c.Context = ctx
		j := emptyJob(&c, m.Run)
		j.detail = k.detail
		j.detail.Plan.Seed = m.Seed
		j.detail.Where = where{HostsFile: l.HostsPath, Launch: l.Launch}
		if err := j.findHosts(); err != nil {
			return err
		}
		err := j.complete()
		cut = ctx.Err() != nil
		if j.dir == nil {
			return err
		}
		if code := command.CodeOf(err); code == command.ExitOK || code == command.ExitPartial {
			var unread error
			p, unread = j.dir.ReadParams()
			return errors.Join(err, unread)
		}
		return err
	})
	switch {
	case errors.Is(err, lab.ErrUse):
		err = command.WithCode(command.ExitUsage, err)
	case errors.Is(err, lab.ErrWire):
		err = command.WithCode(command.ExitFailed, err)
	case cut || k.c.Context.Err() != nil: // the copy is gone, so that its run cannot go on
		err = command.WithCode(command.ExitInterrupted, fmt.Errorf("%w; what was measured of the copy is in %s", command.ErrInterrupted, m.Run))
	}
	return p, err
}

// answer writes the document, prints the verdict, and returns how the selfcheck ended.
func (k *copier) answer(err error) error {
	d := &k.data
	n := selfcheck.CountOf(d.Rows)
	d.Back, d.Missed, d.Undetermined, d.Agrees, d.Differs = n.Back, n.Missed, n.Undetermined, n.Agrees, n.Differs
	d.Sentence = selfcheck.Sentence(d.Rows, d.Slowdown)
	if len(d.Rows) == 0 && err != nil {
		d.Sentence = "Inconclusive: nothing was compared."
	}
	switch {
	case err != nil:
	case n.Missed > 0:
		err = command.WithCode(command.ExitFailed, fmt.Errorf("%d of %d did not come back", n.Missed, n.Missed+n.Back))
	case n.Undetermined > 0 || n.Back == 0:
		err = command.WithCode(command.ExitInconclusive, fmt.Errorf("%d not determined: measure the copy for longer with --budget", n.Undetermined))
	}
	path := filepath.Join(k.out, selfcheckFile)
	saved := files.ReplaceBy(path, func(w io.Writer) error { return command.WriteJSON(w, d) })
	r := reports.Result{Command: "selfcheck", Run: k.out, Files: map[string]string{labFile: d.LabFile, selfcheckFile: path}, Warnings: d.warnings, Data: d}
	return command.AnswerResult(k.c, r, errors.Join(err, saved), func(w io.Writer) error { return printChecked(w, d) })
}

// printChecked prints the table and the verdict.
func printChecked(w io.Writer, d *checked) error {
	if len(d.Rows) == 0 {
		return printMeasured(w, d)
	}
	t := command.NewTable(w, "SYMBOL", "RUN", "GIVEN", "COPY", "95% INTERVAL", "OF IT THE LAB", "VERDICT", "")
	unplayed := 0
	for _, r := range d.Rows {
		if r.Verdict == selfcheck.NotPlayed {
			unplayed++
			continue
		}
		t.Row(r.Name, amount(r.Run, r.Unit, r.RunStatus), amount(r.Truth, r.Unit, ""), amount(r.Copy, r.Unit, r.Status), span(r.CI95, r.Unit),
			half(r.Lab, r.Unit), string(r.Verdict), r.Why)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if unplayed > 0 {
		fmt.Fprintf(w, "%d parameters are of the hosts, or not stated by the lab file, and were not compared.\n", unplayed)
	}
	return printMeasured(w, d)
}

// printMeasured prints how the lab kept its times, and the verdict.
func printMeasured(w io.Writer, d *checked) error {
	for i, m := range d.Measurements {
		fmt.Fprintf(w, "Measurement %d (%s): lab %v\n", i+1, m.Run, m.Lab)
	}
	_, err := fmt.Fprintf(w, "\n%s\nThe copy is %s: calib lab up %s\n", d.Sentence, d.LabFile, d.LabFile)
	return err
}

// amount prints a value, or else what stands in its place.
func amount(v *float64, unit, otherwise string) string {
	if v == nil {
		return otherwise
	}
	return units.Format(*v, unit)
}

func span(ci *[2]float64, unit string) string {
	if ci == nil {
		return ""
	}
	return fmt.Sprintf("[%s, %s]", units.Format(ci[0], unit), units.Format(ci[1], unit))
}

func half(v float64, unit string) string {
	if v == 0 {
		return ""
	}
	return "± " + units.Format(v, unit)
}
