package plan

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/lists"
	"calib/internal/units"
)

// Look fits the samples so far and returns the state of every target: how far the numbers of record are known. It is
// the one way back from fitting to measuring. An error is that of models that failed: their numbers have no value, and
// the states stand.
type Look func(samples *dataset.Dataset) ([]State, error)

// State is how far a number of record is known.
type State struct {
	Parameter   string
	Unit        string
	Value       float64  // NaN where there is none
	HalfWidth   float64  // of the 95% interval, relative to the value; +Inf where there is none
	Target      float64  // of HalfWidth; 0 is none: it is to be decided
	Experiments []string // it is read from
	// Met: the half-width is within the target. Beyond: Why says that no number of rounds would bring it there.
	Met, Beyond bool
	Why         string // there is no value, or more rounds do not help; "" elsewhere
}

// Percent is a relative half-width for people, which at the value's own size says no more than that.
func Percent(half float64) string {
	if half > 0.99 {
		return "over 99%"
	}
	return fmt.Sprintf("%.2g%%", 100*half)
}

// String is one line for people: "a_c 345.0 µs ± 1.4%, target 2%: met".
func (s State) String() string {
	text := s.Parameter
	if !math.IsNaN(s.Value) {
		text += " " + units.Format(s.Value, s.Unit)
	}
	if !math.IsInf(s.HalfWidth, 0) {
		text += " ± " + Percent(s.HalfWidth)
	}
	if s.Target > 0 {
		text += ", target " + strconv.FormatFloat(100*s.Target, 'g', 12, 64) + "%"
	}
	switch {
	case s.Met:
		text += ": met"
	case s.Beyond:
		text += ": beyond reach"
	case s.HalfWidth <= s.Target:
		text += ": met at one look, two must agree"
	}
	if s.Why != "" {
		text += " (" + s.Why + ")"
	}
	return text
}

const (
	// looks in a row must agree before a target counts as met or beyond reach. The width of an interval is itself
	// random, and the first look at which it is small is often a lucky one.
	looks = 2
	// lookShare is the share of the time that looks may take.
	lookShare = 0.05
	// widest is how many times wider than its target an interval counts at most. A number that is nearly zero has no
	// relative width to speak of, and would take all the time.
	widest = 4
	// An experiment that no open target is read from is measured in one of so many rounds, so that drift is seen.
	idleEvery = 4
)

// Steering ends a run when its targets are met, and chooses the experiments of the rounds before that. It is for one
// goroutine.
type Steering struct {
	schedule *Schedule
	exps     []ExpForecast
	waiting  map[string]float64 // rounds since an experiment was measured
	judge    Look
	reads    []string // experiments
	log      func(string)
	data     dataset.Dataset
	agreed   map[string][2]int // looks in a row by which a target was met, and was beyond reach
	fresh    map[string]bool   // experiments with samples since the last look
	states   []State           // of the last look
	rounds   int               // behind it
	took     time.Duration     // all looks
	slowest  time.Duration     // of a look
}

// NewSteering returns the steering of a run by looks at some experiments: it keeps their samples. log gets a line a
// look.
func NewSteering(s *Schedule, judge Look, reads []string, header dataset.Header, log func(string)) *Steering {
	return &Steering{schedule: s, exps: s.Estimate().ByExp, judge: judge, reads: reads, log: log,
		data: dataset.Dataset{Header: header}, agreed: map[string][2]int{},
		fresh: map[string]bool{}, waiting: map[string]float64{}}
}

// Add takes the samples of slots.
func (t *Steering) Add(samples []dataset.Sample) {
	for i := range samples {
		if slices.Contains(t.reads, samples[i].Exp) {
			t.data.Samples = append(t.data.Samples, samples[i])
			t.fresh[samples[i].Exp] = true
		}
	}
}

// States are those of the last look; none before there was one.
func (t *Steering) States() []State { return t.states }

// Round says before round r which experiments it has, or that the run may end: when there are targets, and each is met
// or beyond reach.
func (t *Steering) Round(r int, spent units.Nanos) (measured func(exp string) bool, done bool) {
	all := func(string) bool { return true }
	if r < t.schedule.Rounds {
		return all, false
	}
	// Looks keep within their share of the time. Where no time bounds the run, there is one a round.
	timed := t.schedule.Plan.timed()
	if r > t.rounds && (!timed || float64(t.took+t.slowest) <= lookShare*float64(spent)) {
		t.look(r)
	}
	if len(t.states) == 0 {
		return all, false
	}
	if !slices.ContainsFunc(t.states, func(s State) bool { return !s.Met && !s.Beyond }) {
		return nil, true
	}
	chosen := t.choose(r)
	return func(exp string) bool { return slices.Contains(chosen, exp) }, false
}

// look fits what there is after some rounds.
func (t *Steering) look(rounds int) {
	begun := time.Now()
	states, err := t.judge(&t.data)
	took := time.Since(begun)
	t.took, t.slowest, t.rounds = t.took+took, max(t.slowest, took), rounds
	if err != nil {
		t.log(fmt.Sprintf("look at the intervals after round %d: %v", rounds, err))
	}
	for i := range states {
		s := &states[i]
		in := t.agreed[s.Parameter]
		fresh := slices.ContainsFunc(s.Experiments, func(exp string) bool { return t.fresh[exp] })
		for k, now := range []*bool{&s.Met, &s.Beyond} {
			switch {
			case !*now:
				in[k] = 0
			case fresh || in[k] == 0 || k > 0: // that the same samples have the same width again says nothing
				in[k]++
			}
			*now = in[k] >= looks
		}
		t.agreed[s.Parameter] = in
	}
	t.states = states
	clear(t.fresh)
	t.log(fmt.Sprintf("after round %d: %s", rounds, strings.Join(lists.Map(states, State.String), "; ")))
}

// Missed names the targets that are not met, those beyond reach among them.
func (t *Steering) Missed() string {
	missed := lists.Where(t.states, func(s State) bool { return !s.Met })
	return strings.Join(lists.Map(missed, func(s State) string { return s.Parameter }), ", ")
}

// choose lists the experiments of round r: the clock, and those that open targets are read from. Those that gain most
// in a second come first, until the time of a short round is used. An experiment gains by how much wider than their
// targets its intervals are, and by how many rounds it has waited. In every fourth round the others are measured as
// well.
func (t *Steering) choose(r int) []string {
	gain := map[string]float64{}
	for _, s := range t.states {
		if s.Met || s.Beyond {
			continue
		}
		wide := math.Min(widest, s.HalfWidth/s.Target)
		for _, exp := range s.Experiments {
			gain[exp] += math.Max(wide*wide-1, 1e-3) // narrow enough now: one more look must agree
		}
	}
	for exp := range gain {
		t.waiting[exp]++
		gain[exp] *= t.waiting[exp]
	}
	slices.SortStableFunc(t.exps, func(a, b ExpForecast) int {
		return cmp.Compare(gain[b.Name]*float64(a.Round), gain[a.Name]*float64(b.Round))
	})
	out, used, room := []string{names.Clock}, units.Nanos(0), units.Nanos(math.MaxInt64)
	if t.schedule.Plan.timed() {
		room = t.schedule.perRound(t.schedule.aim())
	}
	for _, e := range t.exps {
		idle := gain[e.Name] == 0
		// In other residues of r each time, so that other hosts take part.
		if (r+r/idleEvery)%idleEvery != 0 && (idle || used > 0 && used+e.Round > room) {
			continue
		}
		out = append(out, e.Name)
		used += e.Round
		t.waiting[e.Name] = 0
	}
	return out
}
