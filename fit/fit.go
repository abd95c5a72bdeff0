// Package fit turns a dataset into the parameters of published cost models, each with a unit, an interval, the range it
// was fitted on and the findings a reader must see.
//
// This package is the core: what a model is, the dataset prepared once for all models of a run, and what models share
// when they select samples and record results. Each family of models is a package below it, with its estimators, plots
// and tests; package fit/models lists them.
//
// Everything here is offline and deterministic: the same samples and the same seed give the same bytes. Symbols are the
// papers' own, with the unit in a comment.
package fit

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"reflect"
	"slices"
	"sync"

	"calib/fit/resample"
	"calib/fit/review"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/lists"
	"calib/internal/plot"
	"calib/params"
)

// Model fits one cost model.
type Model struct {
	Name  string
	Needs []string // the experiments without which Fit returns ErrNeeds
	// Fit is deterministic in the prepared dataset. It is called from any goroutine.
	Fit func(*Prepared) (*params.Fit, error)
	// Draw makes the plots of a finished fit and does not change it; those without a series are left out. nil is a model
	// without plots of its own.
	Draw func(*params.Fit) []plot.Plot
}

// ErrNeeds reports a dataset without the measurements a model is fitted to.
var ErrNeeds = errors.New("measurements missing")

// Settings of a fit. The zero value means the defaults.
type Settings struct {
	Seed       uint64 // of the bootstrap; 0 takes the dataset's
	Replicates int    // of the bootstrap; 0 means 1,000
	// Breaks are the sizes [B], ascending, at which T of pingpong goes over from one line to the next, as where a
	// protocol changes. A size on a break belongs to the line below it. Empty means that they are found. Those that do
	// not suit the sizes are lsq.ErrBreaks.
	Breaks  []float64
	Missing float64 // share of the planned slots that were not measured
	Where   string  // flags that named the hosts
	// Together fits all hosts together only: groups and kinds of hosts get no fit of their own.
	Together bool
}

// defaultReplicates is enough that the ends of a 95% interval move by less than a tenth of its width between seeds.
const defaultReplicates = 1000

// Run fits every model whose experiments are in d, collects what they found, and reviews it: package review sets every
// status. A model that lacks its experiments is left out in silence: a plan need not run every experiment. Any other
// failure is one error; the other models' fits stand.
func Run(models []Model, d dataset.Source, s Settings) (*params.Params, []error) {
	p := Prepare(d, s)
	fits, errs := make([]*params.Fit, len(models)), make([]error, len(models))
	resample.Each(len(models), func(i int) {
		m := models[i]
		f, err := m.Fit(p)
		switch {
		case err == nil:
			fits[i] = f
		case errors.Is(err, ErrNeeds) && p.lacks(m.Needs):
		default:
			errs[i] = fmt.Errorf("model %s: %w", m.Name, err)
		}
	})
	errs = slices.DeleteFunc(errs, func(err error) bool { return err == nil })
	out := Collect(p, slices.DeleteFunc(fits, func(f *params.Fit) bool { return f == nil }))
	p.addSlow(out)
	if !s.Together {
		p.classify(models, out)
	}
	review.Apply(out)
	return out, errs
}

// lacks reports whether there is no sample of one of the experiments. Clock offsets do not count: every experiment with
// one-way times leaves them.
func (p *Prepared) lacks(needs []string) bool {
	return slices.ContainsFunc(needs, func(exp string) bool {
		return !slices.ContainsFunc(p.Samples(exp, ""), func(s *dataset.Sample) bool { return s.Phase != names.PhaseOffset })
	})
}

// Needs returns ErrNeeds for a model that found nothing usable.
func Needs(what string) error { return fmt.Errorf("%s: %w", what, ErrNeeds) }

// Resample draws the bootstrap of the points of a model and warns of a single round. It returns ErrNeeds with what is
// missing where there is no point.
func Resample[K comparable](r *Result, t *resample.Table[K], missing string) (*resample.Estimates, error) {
	if t.Len() == 0 {
		return nil, Needs(missing)
	}
	est := Draw(r, t)
	r.CheckRounds(est.Rounds)
	return est, nil
}

// Draw draws the bootstrap of some points under the seed of a model.
func Draw[K comparable](r *Result, t *resample.Table[K]) *resample.Estimates {
	m := t.Medians()
	r.Rounds = max(r.Rounds, m.Rounds)
	return r.Prepared.draw(m, r.Model)
}

// draw draws the bootstrap of a model under a seed of its own: a new model does not change the intervals of another.
func (p *Prepared) draw(m *resample.Medians, model string) *resample.Estimates {
	h := fnv.New64a()
	h.Write([]byte(model)) // a hash never fails
	seed := cmp.Or(p.settings.Seed, p.Data.Head().Seed) ^ h.Sum64()
	return m.Draw(cmp.Or(p.settings.Replicates, defaultReplicates), seed)
}

// Prepared is one dataset made ready for the models of a run: its samples by experiment, and what several models need,
// made once. It is safe for concurrent use.
type Prepared struct {
	Data     dataset.Source
	settings Settings
	hosts    []dataset.Host
	crowded  func(a, b int) bool // two hosts that share a CPU
	Slow     func() *SlowHosts   // the hosts and pairs that stand out

	mu     sync.Mutex
	shared map[reflect.Type]func() (any, error)
}

// Prepare makes d ready. It is not copied and must not change.
func Prepare(d dataset.Source, s Settings) *Prepared {
	p := &Prepared{Data: d, settings: s, hosts: d.Head().Hosts, shared: map[reflect.Type]func() (any, error){}}
	p.crowded = dataset.Crowded(p.hosts)
	p.Slow = sync.OnceValue(p.findSlow)
	return p
}

// Samples returns the samples of one experiment and phase ("" is any phase), in file order.
func (p *Prepared) Samples(exp, phase string) []*dataset.Sample { return p.Data.Select(exp, phase) }

// Shared returns what produce makes, made once for all models that ask for a T.
func Shared[T any](p *Prepared, produce func(*Prepared) (T, error)) (T, error) {
	key := reflect.TypeFor[T]()
	p.mu.Lock()
	once, ok := p.shared[key]
	if !ok {
		once = sync.OnceValues(func() (any, error) { return produce(p) })
		p.shared[key] = once
	}
	p.mu.Unlock()
	v, err := once()
	return v.(T), err
}

func (p *Prepared) HostName(i int) string {
	if i >= 0 && i < len(p.hosts) && p.hosts[i].Name != "" {
		return p.hosts[i].Name
	}
	return fmt.Sprintf("host %d", i)
}

func (p *Prepared) hostNames(hosts []int) []string { return lists.Map(hosts, p.HostName) }

// Stamped reports whether the kernel stamped the arrivals of a batch. Agents let it where two hosts of the batch are
// one machine and agents of the run share a CPU: a receiver may have to wait before it can read the clock.
func (p *Prepared) Stamped(b *Batch) bool {
	ranks := func(l *dataset.Sample) []int { return l.Ranks }
	return p.crowded != nil && sharing(p.named(lists.Flat(b.Lines, ranks)), dataset.Host.Machine) > 1
}

// OneMachine reports whether two hosts are known to be one machine.
func (p *Prepared) OneMachine(hosts []int) bool {
	boot := func(h dataset.Host) string { return h.Boot }
	return len(hosts) == 2 && sharing(p.named(hosts), boot) == 2
}

func (p *Prepared) named(hosts []int) []dataset.Host {
	return lists.Map(hosts, func(h int) dataset.Host { return p.hosts[h] })
}

// sharing is how many hosts are on the machine that has the most of them. on is a host's machine, "" where it is not
// known.
func sharing(hosts []dataset.Host, on func(dataset.Host) string) (most int) {
	count := map[string]int{}
	for _, h := range hosts {
		if machine := on(h); machine != "" {
			count[machine]++
			most = max(most, count[machine])
		}
	}
	return most
}
