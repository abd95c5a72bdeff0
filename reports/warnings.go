package reports

import (
	"regexp"
	"slices"

	"calib/fit/params"
)

// warning is one warning and everything that says the same.
type warning struct {
	text   string
	models []string
	count  int // warnings that differ from text in their numbers only, text included
}

var digits = regexp.MustCompile(`[0-9]+(\.[0-9]+)?`)

// groupWarnings gathers the warnings of the run and of every fit. Equal ones are one; those that differ only in numbers
// ("size 64: …", "size 128: …") are one with a count.
func groupWarnings(ps *params.Params) []warning {
	var out []warning
	at := map[string]int{}
	seen := map[string]bool{}
	add := func(text, model string) {
		text = Clean(text)
		key := digits.ReplaceAllString(text, "#")
		i, ok := at[key]
		if !ok {
			i = len(out)
			at[key] = i
			out = append(out, warning{text: text})
		}
		if !seen[text] {
			seen[text] = true
			out[i].count++
		}
		if model != "" && !slices.Contains(out[i].models, model) {
			out[i].models = append(out[i].models, model)
		}
	}
	for _, w := range ps.Warnings {
		add(w, "")
	}
	for _, f := range ps.Fits {
		for _, w := range f.Warnings {
			add(w, Clean(f.Model))
		}
	}
	return out
}

// warnings lists the grouped warnings, each with the models it concerns.
func (p *page) warnings(ps *params.Params) {
	all := WarningsOf(ps)
	if len(all) == 0 {
		return
	}
	p.heading("Warnings")
	for _, s := range all {
		p.line(2, "%s %s", p.paint(yellow, "!"), s)
	}
}

// findings lists the fits' notes that are not part of the verdict.
func (p *page) findings(ps *params.Params) {
	all := FindingsOf(ps)
	if len(all) == 0 {
		return
	}
	p.heading("Findings")
	for _, s := range all {
		p.line(2, "- %s", s)
	}
}
