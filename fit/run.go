package fit

import (
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"calib/internal/dataset"
)

// ErrNeeds reports a dataset without the measurements a model is fitted to.
var ErrNeeds = errors.New("measurements missing")

// defaultReplicates is enough that the ends of a 95% interval move by less than a tenth of its width between seeds.
const defaultReplicates = 1000

// All runs every model whose experiments are in d. A model that lacks them is left out in silence: a plan need not run
// every experiment. Any other failure is one error per model; the other models' fits stand.
func All(d *dataset.Dataset, s Settings) ([]*Fit, []error) {
	var fits []*Fit
	var errs []error
	for _, m := range Models {
		f, err := m.Fit(d, s)
		switch {
		case err == nil:
			if p, ok := m.(Plotter); ok {
				f.Plots = p.Plots(f)
			}
			fits = append(fits, f)
		case errors.Is(err, ErrNeeds) && lacks(d, m.Needs()):
		default:
			errs = append(errs, err)
		}
	}
	return fits, errs
}

// lacks reports whether d has no sample of one of the experiments. Clock offsets do not count: every experiment with
// one-way times leaves them.
func lacks(d *dataset.Dataset, needs []string) bool {
	return slices.ContainsFunc(needs, func(exp string) bool {
		return !slices.ContainsFunc(d.Select(exp, ""), func(s *dataset.Sample) bool { return s.Phase != phaseOffset })
	})
}

// needs returns ErrNeeds for a model that found nothing usable.
func needs(model, what string) error {
	return fmt.Errorf("model %s: %s: %w", model, what, ErrNeeds)
}

// replicates returns the number of bootstrap replicates.
func (s Settings) replicates() int {
	if s.Replicates > 0 {
		return s.Replicates
	}
	return defaultReplicates
}

// seed returns the seed of one model's bootstrap: models do not share a stream, so that adding one does not change the
// intervals of another.
func (s Settings) seed(d *dataset.Dataset, model string) uint64 {
	seed := s.Seed
	if seed == 0 {
		seed = d.Header.Seed
	}
	h := fnv.New64a()
	h.Write([]byte(model)) // a hash never fails
	return seed ^ h.Sum64()
}

// hostName names host i of the dataset.
func hostName(d *dataset.Dataset, i int) string {
	if i >= 0 && i < len(d.Header.Hosts) && d.Header.Hosts[i].Name != "" {
		return d.Header.Hosts[i].Name
	}
	return fmt.Sprintf("host %d", i)
}

func hostNames(d *dataset.Dataset, hosts []int) string {
	names := make([]string, len(hosts))
	for i, h := range hosts {
		names[i] = hostName(d, h)
	}
	return strings.Join(names, ", ")
}
