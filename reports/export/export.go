// Package export writes what a run found as the input files of other programs: simulators, emulators, benchmark tools and
// monitoring.
//
// The opinion of this package: an export is a promise that the other program will compute what calib measured. So every
// target has a reader beside its writer that applies the other program's own rules to the file and compares the outcome
// with the fit; a file that fails is not handed out. A number that calib has not measured is never made up: a missing
// parameter is an error that says how to measure it, a rounding and everything that the format cannot say is a warning,
// and both stand in the file as comments where the format has any. A mapping that needs no reader, by template, was
// rejected: units, rounding and rules of evaluation are where such exports go wrong in silence.
//
// The same Params and Options give the same bytes.
package export

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"calib/fit"
)

// Classes of errors.
var (
	// ErrTarget reports a target that does not exist.
	ErrTarget = errors.New("no such export target")
	// ErrMissing reports a parameter that a target needs and the run has not measured.
	ErrMissing = errors.New("not measured")
	// ErrLimit reports a value that a target's format cannot hold.
	ErrLimit = errors.New("beyond what the format can hold")
	// ErrOption reports an option that a target cannot take.
	ErrOption = errors.New("not possible for this target")
	// ErrSyntax reports a file that a reader cannot read under its target's rules.
	ErrSyntax = errors.New("not a valid file of this target")
	// ErrMismatch reports a file whose evaluation is not the fit.
	ErrMismatch = errors.New("the file does not give the fit again")
)

// Options of an export. The zero value means the defaults.
type Options struct {
	// Hosts is how many hosts the target's system has; 0 is the run's own.
	Hosts int
	// Device is the network interface in commands; "" means eth0.
	Device string
	// Version of calib, for comments in the file; "" is left out.
	Version string
}

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
	// ErrLimit or ErrOption, or those of w.
	Write func(w io.Writer, p *fit.Params, o Options) (warnings []string, err error)
	// Check reads the file as the other program does and returns an error of class ErrSyntax or ErrMismatch unless what
	// it computes from it is the fit, to the rounding that the target states.
	Check func(file []byte, p *fit.Params, o Options) error
}

// Targets lists every target, in the order of their names.
func Targets() []Target {
	return []Target{
		astraSimTarget(), atlahsTarget(), csvTarget(), dimemasTarget(), gobenchTarget(), logGOPSimTarget(), mininetTarget(),
		otavaTarget(), prometheusTarget(), simgridTarget(), tcTarget(),
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

// Export returns the file of a target, checked by its reader.
func (t Target) Export(p *fit.Params, o Options) (file []byte, warnings []string, err error) {
	switch {
	case o.Hosts != 0 && t.NoHosts:
		return nil, nil, fmt.Errorf("export to %s: a number of hosts: %w", t.Name, ErrOption)
	case o.Device != "" && !t.Device:
		return nil, nil, fmt.Errorf("export to %s: a network device: %w", t.Name, ErrOption)
	}
	var b bytes.Buffer
	if warnings, err = t.Write(&b, p, o); err != nil {
		return nil, warnings, fmt.Errorf("export to %s: %w", t.Name, err)
	}
	if err := t.Check(b.Bytes(), p, o); err != nil {
		return nil, warnings, fmt.Errorf("export to %s, read back: %w", t.Name, err)
	}
	return b.Bytes(), warnings, nil
}
