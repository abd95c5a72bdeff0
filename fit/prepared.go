package fit

import (
	"fmt"
	"reflect"
	"strings"
	"sync"

	"calib/internal/dataset"
)

// Prepared is one dataset made ready for the models of a run: its samples by experiment, and what several models need,
// made once. It is safe for concurrent use.
type Prepared struct {
	Data     dataset.Source
	settings Settings
	hosts    []dataset.Host
	slow     func() *SlowHosts

	mu     sync.Mutex
	shared map[reflect.Type]func() (any, error)
}

// Prepare makes d ready. It is not copied and must not change.
func Prepare(d dataset.Source, s Settings) *Prepared {
	p := &Prepared{Data: d, settings: s, hosts: d.Head().Hosts, shared: map[reflect.Type]func() (any, error){}}
	p.slow = sync.OnceValue(p.findSlow)
	return p
}

// Samples returns the samples of one experiment and phase ("" is any phase), in file order.
func (p *Prepared) Samples(exp, phase string) []*dataset.Sample { return p.Data.Select(exp, phase) }

// Slow returns the hosts and pairs that stand out as slow.
func (p *Prepared) Slow() *SlowHosts { return p.slow() }

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

// HostName names host i of the dataset.
func (p *Prepared) HostName(i int) string {
	hosts := p.hosts
	if i >= 0 && i < len(hosts) && hosts[i].Name != "" {
		return hosts[i].Name
	}
	return fmt.Sprintf("host %d", i)
}

func (p *Prepared) hostNames(hosts []int) []string {
	var out []string
	for _, h := range hosts {
		out = append(out, p.HostName(h))
	}
	return out
}

func joined(names []string) string { return strings.Join(names, ", ") }

// OneMachine reports whether two hosts are known to be one machine.
func (p *Prepared) OneMachine(hosts []int) bool {
	boot := func(h int) string {
		if h < 0 || h >= len(p.hosts) {
			return ""
		}
		return p.hosts[h].Boot
	}
	return len(hosts) == 2 && boot(hosts[0]) != "" && boot(hosts[0]) == boot(hosts[1])
}
