package doctor

import (
	"slices"

	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/lists"
	"calib/internal/stats"
)

// Pair is what a check found between two hosts, by index. The first dials.
type Pair struct {
	Hosts   [2]int
	Skipped bool // not tried, because one of them cannot be reached from others
	Errors  [2]string
	Ways    [2]Way // as each of them saw it
}

type Way struct {
	Device         string // by which its packets leave; "" where it is not known
	MTU            int    // of the packets on this way, 0 where it is not known
	Trip           float64
	Stalled        bool // small packets passed, and whole ones did not
	Sent, Received int  // datagrams: to the other, and from it
}

// ReadPair reads the samples of experiment check. nics are the interfaces of each host by index, as the hosts name
// them.
func ReadPair(hosts [2]int, samples []dataset.Sample, nics [2]map[int]string) Pair {
	p := Pair{Hosts: hosts}
	for _, s := range samples {
		k := slices.Index(hosts[:], append(slices.Clone(s.Ranks), -1)[0])
		if k < 0 || s.Exp != names.Check {
			continue
		}
		w := &p.Ways[k]
		w.Device, w.MTU = nics[k][int(s.Aux[names.AuxDevice])], int(s.Aux[names.AuxPathMTU])
		w.Sent, w.Received = int(s.Aux[names.AuxSent]), int(s.Aux[names.AuxReceived])
		w.Stalled = s.Has(dataset.FlagTimeout)
		if len(s.NS) > 0 {
			w.Trip = stats.Median(stats.Floats(s.NS)) / 1e9
		}
	}
	return p
}

// OK reports whether connections and whole packets pass.
func (p Pair) OK() bool {
	return !p.Skipped && p.Errors == [2]string{} && !p.Ways[0].Stalled && !p.Ways[1].Stalled
}

// Out lists the hosts, by index, that a run had better go on without: those of which no pair works, while their
// partners have others that do. Where nothing works at all, nobody is to blame more than the others.
func Out(hosts int, pairs []Pair) []int {
	tried, works := told(hosts, pairs)
	if !slices.Contains(works, true) {
		return nil
	}
	return lists.Where(lists.Upto(hosts), func(h int) bool { return tried[h] && !works[h] })
}

// told says of each host whether it was tried, and whether it has a pair that works.
func told(hosts int, pairs []Pair) (tried, works []bool) {
	tried, works = make([]bool, hosts), make([]bool, hosts)
	for _, p := range pairs {
		for _, h := range p.Hosts {
			tried[h] = true
			works[h] = works[h] || p.OK()
		}
	}
	return tried, works
}

// Pairs count pairs, and say how long a byte takes.
type Pairs struct {
	All     int      `json:"all"`
	Work    int      `json:"work"`
	Fail    int      `json:"fail"`
	Skipped int      `json:"skipped"`
	Median  *float64 `json:"median_s,omitempty"` // of a byte, one way, with the software of both hosts
	Slowest *float64 `json:"slowest_s,omitempty"`
	Between []string `json:"slowest_between,omitempty"`
}

func summary(f Facts) Pairs {
	s := Pairs{All: len(f.Pairs)}
	var trips []float64
	for _, p := range f.Pairs {
		switch {
		case p.Skipped:
			s.Skipped++
			continue
		case !p.OK():
			s.Fail++
			continue
		}
		s.Work++
		trip := max(p.Ways[0].Trip, p.Ways[1].Trip)
		if s.Slowest == nil || trip > *s.Slowest {
			s.Slowest, s.Between = &trip, []string{f.Hosts[p.Hosts[0]].Name, f.Hosts[p.Hosts[1]].Name}
		}
		trips = append(trips, trip)
	}
	if len(trips) > 0 {
		s.Median = new(stats.Median(trips))
	}
	return s
}
