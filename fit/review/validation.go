package review

import "calib/internal/params"

// Contradicted marks parameters and functions of a reviewed p as provisional, because traffic that no fit has seen
// contradicts what a model makes of them together. Those that are not ok stay as they are.
func Contradicted(p *params.Params, names []string, why string) {
	r := &review{Params: p, reasons: map[reason][]string{}}
	for _, name := range names {
		if q, ok := p.Parameters[name]; ok && q.Status == params.StatusOK {
			r.provisional(name, reason(why))
		}
		if f, ok := p.Functions[name]; ok && f.Status == params.StatusOK {
			r.provisionalFunction(name, reason(why))
		}
	}
	r.summarise()
	p.Distribute()
}
