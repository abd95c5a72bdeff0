package params

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"calib/internal/files"
)

// ErrNoValue reports a number that a run did not measure, or that is not to be used.
var ErrNoValue = errors.New("no value")

// Load reads a params.json, and the points.json of the same run beside it. Where there is none, labels are those of the
// glossary. Errors are of class ErrParams, or say why a file cannot be read.
func Load(path string) (*Params, error) {
	f, err := files.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	p, err := Decode(f)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	p.label()
	path = filepath.Join(filepath.Dir(path), PointsFile)
	points, err := files.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err == nil {
		defer points.Close()
		err = p.ReadPoints(points)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w; calib fit writes it again", path, err)
	}
	return p, nil
}

// Get returns a parameter in SI units, such as "a_c" [s]. Errors are of class ErrNoValue and say why there is none.
func (p *Params) Get(name string) (float64, error) {
	q, ok := p.Parameters[name]
	switch {
	case !ok:
		return 0, fmt.Errorf("%s: %w: not measured", name, ErrNoValue)
	case q.Value == nil:
		return 0, fmt.Errorf("%s: %w: %s: %s", name, ErrNoValue, q.Status, q.Why)
	}
	return *q.Value, nil
}

// Cost evaluates a function, such as "g_s" [s], at m bytes while p hosts communicate. p matters to "L_cluster" only.
// Sizes outside its Domain are extrapolated. Errors are of class ErrNoValue or ErrForm.
func (p *Params) Cost(name string, m, hosts float64) (float64, error) {
	f, ok := p.Functions[name]
	switch {
	case !ok:
		return 0, fmt.Errorf("%s: %w: not measured", name, ErrNoValue)
	case !f.Usable():
		return 0, fmt.Errorf("%s: %w: %s: %s", name, ErrNoValue, f.Status, f.Why)
	}
	return f.At(m, hosts, p.Functions)
}

// T returns the time [s] of one message of x bytes between two hosts.
func (p *Params) T(x float64) (float64, error) { return p.Cost("T", x, 2) }
