package dataset

import (
	"fmt"
	"slices"

	"calib/internal/dataset/names"
)

type Survey struct {
	Rounds      map[int]bool
	Slots       map[int]bool
	Lines       int
	Timings     int
	Spoilt      int // timings of batches that lost segments or timed out
	Experiments map[string]*Seen
}

// Seen is what the lines of one experiment are of.
type Seen struct {
	Rounds, Hosts map[int]bool
	Pairs         map[[2]int]bool // lower host first
	Teams         map[string]bool // of more than two hosts
}

func newSurvey() *Survey {
	return &Survey{Rounds: map[int]bool{}, Slots: map[int]bool{}, Experiments: map[string]*Seen{}}
}

// add counts one line. The looks at pairs that open a run are in none of its slots and rounds.
func (v *Survey) add(s *Sample) {
	if s.Exp == names.Probe {
		return
	}
	v.Rounds[s.Round] = true
	v.Slots[s.Slot] = true
	v.Lines++
	v.Timings += len(s.NS)
	if s.Has(FlagRetrans) || s.Has(FlagTimeout) {
		v.Spoilt += len(s.NS)
	}
	x := v.Experiments[s.Exp]
	if x == nil {
		x = &Seen{map[int]bool{}, map[int]bool{}, map[[2]int]bool{}, map[string]bool{}}
		v.Experiments[s.Exp] = x
	}
	x.Rounds[s.Round] = true
	for _, h := range s.Ranks {
		x.Hosts[h] = true
	}
	switch n := len(s.Ranks); {
	case n == 2:
		x.Pairs[[2]int{min(s.Ranks[0], s.Ranks[1]), max(s.Ranks[0], s.Ranks[1])}] = true
	case n > 2:
		team := slices.Clone(s.Ranks)
		slices.Sort(team)
		x.Teams[fmt.Sprint(team)] = true
	}
}
