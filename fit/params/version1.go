package params

import (
	"encoding/json"
	"slices"
	"strings"
)

// fileOne is a params.json of calib.params/1, as far as it differs: fits repeat their parameters, residuals are one flat
// list with the name of their series in each, and what a fit has to say is text.
type fileOne struct {
	Params
	Fits     []*fitOne `json:"fits"`
	Warnings []string  `json:"warnings"`
}

type fitOne struct {
	Fit
	Residuals []residualOne `json:"residuals"`
	Warnings  []string      `json:"warnings"`
	Notes     []string      `json:"notes"`
}

// residualOne is a point with what it says of its series.
type residualOne struct {
	Residual
	series struct {
		Series string `json:"series"`
		XName  string `json:"x_name"`
		Unit   string `json:"unit"`
	}
}

// UnmarshalJSON reads both parts.
func (r *residualOne) UnmarshalJSON(b []byte) error {
	if err := json.Unmarshal(b, &r.series); err != nil {
		return err
	}
	return json.Unmarshal(b, &r.Residual)
}

// FormerNames maps the names that models have now to those they had in calib.params/1. The seeds of their bootstraps are
// still made of the former names, so that the same samples give the same intervals.
var FormerNames = map[string]string{
	"cluster":          "hku",
	"cluster-overhead": "hku-overhead",
	"cluster-gap":      "hku-gap",
	"cluster-gather":   "hku-gather",
	"cluster-copy":     "hku-copy",
	"cluster-buffer":   "hku-flood",
}

// formerParameter is the one parameter that calib.params/1 had under another name.
const formerParameter, newParameter = "identity_hku", "identity_cluster"

// decodeOne reads a params.json of calib.params/1 as one of this version. Series have no quantity and findings are
// Unclassified, but for the sentence that tells the kind of network.
func decodeOne(b []byte) (*Params, error) {
	var one fileOne
	if err := json.Unmarshal(b, &one); err != nil {
		return nil, err
	}
	p := one.Params
	p.Schema, p.Fits = Schema, nil
	p.Findings = append(textFindings(Warning, one.Warnings), p.Findings...)
	if q, ok := p.Parameters[formerParameter]; ok {
		delete(p.Parameters, formerParameter)
		p.Parameters[newParameter] = q
	}
	now := map[string]string{}
	for name, former := range FormerNames {
		now[former] = name
	}
	rename := func(model *string) {
		if n, ok := now[*model]; ok {
			*model = n
		}
	}
	for name, q := range p.Parameters {
		rename(&q.Model)
		p.Parameters[name] = q
	}
	for name, f := range p.Functions {
		rename(&f.Model)
		p.Functions[name] = f
	}
	for _, f := range one.Fits {
		if f == nil {
			p.Fits = append(p.Fits, nil)
			continue
		}
		rename(&f.Model)
		f.series()
		f.findings(&p)
		p.Fits = append(p.Fits, &f.Fit)
	}
	return &p, nil
}

// series groups the residuals by the name of their series.
func (f *fitOne) series() {
	for _, r := range f.Residuals {
		i := slices.IndexFunc(f.Series, func(s Series) bool { return s.Name == r.series.Series })
		if i < 0 {
			i = len(f.Series)
			f.Series = append(f.Series, Series{Name: r.series.Series, XName: r.series.XName, Unit: r.series.Unit})
		}
		f.Series[i].Points = append(f.Series[i].Points, r.Residual)
	}
}

// findings turns sentences into findings, and those that tell the kind of network into that.
func (f *fitOne) findings(p *Params) {
	f.Findings = textFindings(Warning, f.Warnings)
	for _, n := range f.Notes {
		if kind, ok := kindOne(n); ok {
			p.Network = &kind
			continue
		}
		f.Findings = append(f.Findings, textFindings(Note, []string{n})...)
	}
}

func textFindings(level Level, texts []string) []Finding {
	var out []Finding
	for _, t := range texts {
		out = append(out, Finding{Code: Unclassified, Level: level, Message: t})
	}
	return out
}

// kindOne reads the sentences in which calib.params/1 told the kind of network; those that begin otherwise say that it
// cannot be seen.
func kindOne(note string) (Network, bool) {
	for _, n := range []Network{{Switch, Switch}, {Switch, Shared}, {Shared, Shared}, {Shared, Switch}} {
		if note == n.Words() {
			return n, true
		}
	}
	return Network{Unknown, Unknown}, strings.HasPrefix(note, "one pair only: whether the network behaves like")
}
