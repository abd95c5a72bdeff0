package reports

import (
	"slices"
	"strings"

	"calib/internal/params"
)

// recorded are the parameters that the published models are stated in: Hockney's line, Stoica's hyperbola, the cluster
// model of Tam and Wang, LogGP, LoGPC, Strumpen's latency hiding. Everything else is another estimate of one of them,
// or describes how they were measured. LoGPC's carry the size of the message behind an underscore.
var recorded = []string{
	"alpha", "beta",
	"a", "b", "a_c", "b_c",
	"O_s", "g_s", "g_r", "O_r", "U_r", "L", "B_L", "N",
	"o_s", "o_r", "g", "G",
	"C_n", "C_r",
	"gamma_h", "i_cs",
}

func ofRecord(name string) bool {
	return slices.Contains(recorded, name) || strings.HasPrefix(name, "C_n_") || strings.HasPrefix(name, "C_r_")
}

func (q namedParameter) ofRecord() bool { return ofRecord(q.name) }

// OthersTitle stands above the parameters that are not of record.
const OthersTitle = "Other parameters: further estimates, buffers, the clock"

// RecordOf returns the parameters of record, and the others: further estimates of the same, buffers, the clock. Where
// none is of record, all are.
func RecordOf(p *params.Params) (record, others Grid) {
	all := inOrder(p)
	if !slices.ContainsFunc(all, namedParameter.ofRecord) {
		return gridOf(all), gridOf(nil)
	}
	other := func(q namedParameter) bool { return !q.ofRecord() }
	return gridOf(slices.DeleteFunc(slices.Clone(all), other)), gridOf(slices.DeleteFunc(all, namedParameter.ofRecord))
}
