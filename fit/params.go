package fit

import (
	"fmt"
	"sort"

	"calib/internal/dataset"
)

// ParamsSchema names the version of params.json. A reader refuses any other.
const ParamsSchema = "calib.params/1"

// Params is a whole params.json: what one run says about one network, in SI units, and all that is needed to judge it.
type Params struct {
	Schema      string               `json:"schema"`
	Run         Run                  `json:"run"`
	Environment Environment          `json:"environment"`
	Parameters  map[string]Parameter `json:"parameters"`
	Functions   map[string]Function  `json:"functions"`
	// Fits holds every model's fit with its quality, residuals and warnings. Pairs are listed once, in Params.Pairs.
	Fits       []*Fit       `json:"fits"`
	Validation []Validation `json:"validation"`
	Pairs      []Pair       `json:"pairs"`
	// Warnings concern the run or the file as a whole; those of one model are in its Fit.
	Warnings []string `json:"warnings,omitempty"`
}

// Run says which measurements the parameters came from.
type Run struct {
	ID    string   `json:"id"`
	Seed  uint64   `json:"seed"`
	Plan  string   `json:"plan"`
	Hosts []string `json:"hosts"` // in rank order
	// Versions are the calib versions of the agents, sorted; more than one is warned of.
	Versions []string `json:"versions"`
	Rounds   int      `json:"rounds"`
	Batches  int      `json:"batches"` // lines of samples.jsonl
	Timings  int      `json:"timings"` // raw nanosecond values in them
}

// Environment is the fingerprint of the hosts, split into what they share and where they differ.
type Environment struct {
	Common map[string]string `json:"common"`
	// Differences is fact → host → value. A host that did not report the fact is absent.
	Differences map[string]map[string]string `json:"differences"`
}

// Validation is one communication pattern that no fit has seen, predicted and then measured.
type Validation struct {
	Pattern   string      `json:"pattern"`
	Hosts     int         `json:"hosts"`
	Bytes     int64       `json:"bytes"`
	Predicted float64     `json:"predicted"` // s
	CI95      *[2]float64 `json:"ci95,omitempty"`
	Measured  float64     `json:"measured"` // s
	Error     float64     `json:"error"`    // (measured − predicted)/measured
}

// Collect gathers the fits of one dataset into Params. Fits are taken in order and nil ones are passed over. The first
// fit to name a parameter or function owns the plain name; a later one of the same name is stored as "model.name".
func Collect(d *dataset.Dataset, fits []*Fit) *Params {
	p := &Params{
		Schema:      ParamsSchema,
		Run:         collectRun(d),
		Environment: collectEnvironment(d.Header.Hosts),
		Parameters:  map[string]Parameter{},
		Functions:   map[string]Function{},
		Fits:        []*Fit{},
		Validation:  []Validation{},
		Pairs:       []Pair{},
	}
	if len(p.Run.Versions) > 1 {
		p.Warnings = append(p.Warnings, fmt.Sprintf("the agents are of different versions: %q", p.Run.Versions))
	}
	for _, f := range fits {
		if f == nil {
			continue
		}
		own := *f
		own.Pairs = nil
		p.Fits = append(p.Fits, &own)
		p.Pairs = append(p.Pairs, f.Pairs...)
		addNamed(p.Parameters, f.Parameters, f.Model)
		addNamed(p.Functions, f.Functions, f.Model)
	}
	return p
}

func addNamed[T any](to, from map[string]T, model string) {
	for name, v := range from {
		if _, taken := to[name]; taken {
			name = model + "." + name
		}
		to[name] = v
	}
}

func collectRun(d *dataset.Dataset) Run {
	r := Run{ID: d.Header.Run, Seed: d.Header.Seed, Plan: d.Header.Plan, Hosts: []string{}, Versions: []string{}}
	versions := map[string]bool{}
	for _, h := range d.Header.Hosts {
		r.Hosts = append(r.Hosts, h.Name)
		if h.Version != "" && !versions[h.Version] {
			versions[h.Version] = true
			r.Versions = append(r.Versions, h.Version)
		}
	}
	sort.Strings(r.Versions)
	rounds := map[int]bool{}
	for i := range d.Samples {
		rounds[d.Samples[i].Round] = true
		r.Timings += len(d.Samples[i].NS)
	}
	r.Rounds, r.Batches = len(rounds), len(d.Samples)
	return r
}

func collectEnvironment(hosts []dataset.Host) Environment {
	e := Environment{Common: map[string]string{}, Differences: map[string]map[string]string{}}
	facts := map[string]map[string]string{}
	for _, h := range hosts {
		for fact, value := range h.Env {
			if facts[fact] == nil {
				facts[fact] = map[string]string{}
			}
			facts[fact][h.Name] = value
		}
	}
	for fact, byHost := range facts {
		if value, same := sameEverywhere(byHost, len(hosts)); same {
			e.Common[fact] = value
		} else {
			e.Differences[fact] = byHost
		}
	}
	return e
}

func sameEverywhere(byHost map[string]string, hosts int) (string, bool) {
	first, value := true, ""
	for _, v := range byHost {
		if !first && v != value {
			return "", false
		}
		first, value = false, v
	}
	return value, len(byHost) == hosts
}
