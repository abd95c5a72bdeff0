// Package export writes what a run found as the input files of other programs: simulators, emulators, benchmark tools and
// monitoring.
//
// The opinion of this package: an export is a promise that the other program will compute what calib measured. Units, rounding
// and rules of evaluation are where such exports go wrong in silence. So the tests of every target read its files under the
// other program's own rules, and what these compute must be the fit again. A number that calib has not measured is never made
// up: a missing parameter is an error that says how to measure it, and so is a value that the format cannot hold. What the
// format rounds or cannot say is a warning, which stands in the file too where the format has comments.
//
// The same Params and Options give the same bytes.
package export

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"calib/fit/params"
	"calib/reports/export/input"
	"calib/reports/export/simgrid"
)

// Classes of errors, beside those of package input.
var (
	// ErrTarget reports a target that does not exist.
	ErrTarget  = errors.New("no such export target")
	ErrMissing = input.ErrMissing
	ErrLimit   = input.ErrLimit
	ErrOption  = input.ErrOption
)

// Options of an export. The zero value means the defaults.
type Options = input.Options

// Target is another program's input file.
type Target struct {
	Name  string // "loggopsim"
	About string // one line: what the file is and which program reads it
	File  string // name of the file where none is chosen
	// NoHosts: the file is of the run, or of any number of hosts, and Options.Hosts is an error.
	NoHosts bool
	// Device: the file names a network device; for other targets Options.Device is an error.
	Device bool
	// Write writes the file. Warnings say what the format cannot express or has rounded. Errors are of class ErrMissing,
	// ErrLimit or ErrOption.
	Write func(b *bytes.Buffer, in *input.Input) (warnings []string, err error)
}

// Targets lists every target, in the order of their names.
func Targets() []Target {
	return []Target{
		astraSimTarget(), atlahsTarget(), csvTarget(), dimemasTarget(), gobenchTarget(), logGOPSimTarget(), mininetTarget(),
		otavaTarget(), prometheusTarget(), simgridTarget(), tcTarget(),
	}
}

// simgridTarget is a platform file of SimGrid, for MPI programs run by smpirun (3.32 and later).
func simgridTarget() Target {
	return Target{
		Name: "simgrid", File: "platform.xml",
		About: "SimGrid platform file for smpirun: hosts, links, routes, and SMPI's overheads and factors",
		Write: simgrid.Write,
	}
}

// Lookup finds a target by its name. The error is of class ErrTarget and lists all.
func Lookup(name string) (Target, error) {
	var names []string
	for _, t := range Targets() {
		if t.Name == name {
			return t, nil
		}
		names = append(names, t.Name)
	}
	return Target{}, fmt.Errorf("%q: %w; there are %s", name, ErrTarget, strings.Join(names, ", "))
}

// Export returns the file of a target.
func (t Target) Export(p *params.Params, o Options) (file []byte, warnings []string, err error) {
	switch {
	case o.Hosts != 0 && t.NoHosts:
		return nil, nil, fmt.Errorf("export to %s: a number of hosts: %w", t.Name, ErrOption)
	case o.Device != "" && !t.Device:
		return nil, nil, fmt.Errorf("export to %s: a network device: %w", t.Name, ErrOption)
	}
	var b bytes.Buffer
	if warnings, err = t.Write(&b, &input.Input{Params: p, Options: o}); err != nil {
		return nil, warnings, fmt.Errorf("export to %s: %w", t.Name, err)
	}
	return b.Bytes(), warnings, nil
}

const nanosecond = 1e-9 // s
