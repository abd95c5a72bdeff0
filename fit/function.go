package fit

import "strings"

// CoeffUnit returns the unit of a coefficient of f, "" where the form does not tell: intercepts and floors are in the unit
// of f, slopes in that unit per byte or per host.
func (f Function) CoeffUnit(coeff string) string {
	name, _, _ := strings.Cut(coeff, "_")
	switch f.Form {
	case SegmentsForm:
		return map[string]string{"c0": f.Unit, "c1": f.Unit + "/B", "from": "B"}[name]
	case LineForm, FloorForm:
		return map[string]string{"floor": f.Unit, "c0": f.Unit, "c1": f.Unit + "/B"}[coeff]
	case BilinearForm, TransferForm:
		return map[string]string{"l0": f.Unit, "l1": f.Unit, "tau": f.Unit + "/B", "N": "B/" + f.Unit}[coeff]
	}
	return ""
}
