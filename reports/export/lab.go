package export

import (
	"bytes"
	"errors"
	"fmt"

	"calib/predict/network"
	"calib/reports/export/input"
)

// MostSlowdown is the largest Options.Slowdown.
const MostSlowdown = 1e6

// writeLab writes a lab file (docs/LAB.md): a network of calib lab that has the run's parameters, with the hosts and
// pairs that the run names as slow. The translation is that of the calibrated simulation (package network). A network
// that the lab cannot play on time is slowed by a factor, which the file states.
func writeLab(b *bytes.Buffer, in *input.Input) ([]string, error) {
	if in.Slowdown != 0 && !(in.Slowdown >= 1 && in.Slowdown <= MostSlowdown) {
		return nil, fmt.Errorf("a slowdown of %g: %w: want 1 to %g", in.Slowdown, ErrOption, MostSlowdown)
	}
	n, err := network.Of(in.Params)
	switch {
	case errors.Is(err, network.ErrParameters):
		return nil, noNetwork(in, err)
	case err != nil:
		return nil, fmt.Errorf("%w: %w", err, ErrLimit)
	}
	in.Use(n.From...)
	hosts, err := in.HostCount()
	if err != nil {
		return nil, err
	}
	c, err := n.Copy(in.Params, hosts, in.Slowdown)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, ErrLimit)
	}
	var warnings []string
	for _, w := range append(n.Notes, c.Notes...) {
		warnings = append(warnings, input.OneLine(w))
	}
	warnings = append(warnings, "the lab's hosts have calls and wake-ups of their own, which add up to 30 µs to a message")
	notes := []string{
		"calib lab run lab.yaml -- calib run --hosts {hosts} --launch 'ip netns exec {host}'; calib selfcheck RUN does that and compares.",
		"Times are in seconds, sizes in bytes; the fields are those of docs/LAB.md.",
	}
	if f := c.Spec.Slowdown; f != 1 {
		notes = append(notes, fmt.Sprintf("Slowed %[1]g times: every time in this file is %[1]g times the run's, and what is a rate, 1/%[1]g of it. "+
			"What the run's hosts spend in calls is delay here, less what the lab's own hosts spend.", f))
	}
	if in.Hosts == 0 {
		for i, h := range in.Params.Run.Hosts {
			notes = append(notes, fmt.Sprintf("Host %d is %s.", i, h))
		}
	}
	var used, functions []string
	for _, name := range n.From {
		if f, ok := in.Params.Functions[name]; ok && f.Usable() {
			functions = append(functions, f.Words(name))
		} else {
			used = append(used, name)
		}
	}
	for _, f := range functions {
		notes = append(notes, "Function "+input.OneLine(f)+".")
	}
	in.WriteHeader(b, "# ", used, notes, warnings)
	for _, l := range c.Spec.Lines() {
		fmt.Fprintln(b, l)
	}
	return warnings, nil
}

// noNetwork is the error of a run that describes no network: of class ErrMissing, with the reasons why what would do
// must not be used.
func noNetwork(in *input.Input, err error) error {
	var withheld []error
	for _, name := range []string{"a", "b", "alpha", "beta"} {
		if q := in.Params.Parameters[name]; q.Estimate != nil && q.Value == nil {
			_, e := in.Need(name)
			withheld = append(withheld, e)
		}
	}
	for _, name := range []string{"g_s", "L"} {
		if f, ok := in.Params.Functions[name]; ok && !f.Usable() {
			withheld = append(withheld, in.NoFunction(name))
		}
	}
	if len(withheld) == 0 {
		return fmt.Errorf("%w: %w", ErrMissing, err)
	}
	return fmt.Errorf("%w; %w", err, errors.Join(withheld...))
}
