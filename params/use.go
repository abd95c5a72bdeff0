package params

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"

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
	dir, mend := filepath.Dir(path), ""
	if _, err := os.Stat(filepath.Join(dir, "samples.jsonl")); err == nil {
		mend = "; calib fit " + dir + " makes it anew from samples.jsonl"
	}
	p, err := Decode(f)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w%s", path, err, mend)
	}
	p.label()
	path = filepath.Join(dir, PointsFile)
	points, err := files.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err == nil {
		defer points.Close()
		err = p.ReadPoints(points)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w%s", path, err, mend)
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

// TInterval is the 95% interval of T(x) [s], by Function.Within.
func (p *Params) TInterval(x float64) [2]float64 { return p.Functions["T"].Within(x, p.Times()) }

// Within is the 95% interval at x of f, a time by size, by the measured points that f was fitted to. At a measured size
// it is the interval of that point, scaled to f. Between two sizes it is the wider of their intervals, scaled to f. To
// that is added, in quadrature, the most by which a line between the neighbours of a point misses it, of all points up
// to the next above x. It goes no further than the ends of both points, or f, since no time falls with the size. It is
// f alone outside the points, and where coefficients have no interval, as those of one round.
func (f Function) Within(x float64, points []Residual) [2]float64 {
	t, err := f.At(x, 2, nil)
	i := slices.IndexFunc(points, func(r Residual) bool { return r.X >= x })
	if err != nil || len(f.CI95) == 0 || i < 0 || i == 0 && x < points[0].X {
		return [2]float64{t, t}
	}
	low, high, miss := points[i], points[i], 0.0
	if x < high.X {
		low = points[i-1]
		for j := 2; j < min(i+2, len(points)); j++ {
			a, q, b := points[j-2], points[j-1], points[j]
			miss = max(miss, math.Abs(a.Measured+(b.Measured-a.Measured)*(q.X-a.X)/(b.X-a.X)-q.Measured))
		}
	}
	y1, _ := f.At(low.X, 2, nil)
	y2, _ := f.At(high.X, 2, nil)
	lo, hi := t-t*min(low.Lo/y1, high.Lo/y2, 1), t*max(low.Hi/y1, high.Hi/y2, 1)-t
	return [2]float64{max(t-math.Hypot(lo, miss), min(t, low.Lo)), min(t+math.Hypot(hi, miss), max(t, high.Hi))}
}
