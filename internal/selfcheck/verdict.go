package selfcheck

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"calib/internal/netspec"
	"calib/internal/params"
)

// CountOf is how many rows have each verdict.
func CountOf(rows []Row) map[Verdict]int {
	c := map[Verdict]int{}
	for _, r := range rows {
		c[r.Verdict]++
	}
	return c
}

// Confirm returns the first measurement's rows, in which those count as missed that the second measurement misses, too.
// What the second does not determine stays missed.
func Confirm(first, second []Row) []Row {
	out := slices.Clone(first)
	for i, r := range out {
		if r.Verdict != Missed {
			continue
		}
		k := slices.IndexFunc(second, func(o Row) bool { return o.Name == r.Name })
		switch {
		case k < 0 && r.Truth == nil || k >= 0 && second[k].Verdict == Back: // a host that was named, and is not named again
			if k >= 0 {
				out[i] = second[k]
			}
			out[i].Verdict, out[i].Again = Back, true
		case k >= 0 && second[k].Verdict == Missed:
			out[i] = second[k]
		}
	}
	return out
}

func Sentence(rows []Row, slowdown float64) string {
	c := CountOf(rows)
	where := func(some func(Row) bool) string {
		var list []string
		for _, r := range rows {
			if some(r) {
				list = append(list, r.Name)
			}
		}
		return strings.Join(list, ", ")
	}
	names := func(v Verdict) string { return where(func(r Row) bool { return r.Verdict == v }) }
	judged, of := c[Back]+c[Missed], "the copy"
	if slowdown > 1 {
		of = fmt.Sprintf("the copy, %g times slower,", slowdown)
	}
	var b strings.Builder
	switch {
	case judged == 0:
		b.WriteString("Inconclusive: nothing could be judged.")
	case c[Missed] > 0:
		fmt.Fprintf(&b, "Of %d results of %s %d did not come back: %s.", judged, of, c[Missed], names(Missed))
	case c[Undetermined] > 0:
		fmt.Fprintf(&b, "Inconclusive: %d of %d results of %s came back, the others were not determined.",
			c[Back], judged+c[Undetermined], of)
	default:
		fmt.Fprintf(&b, "All %d results of %s came back: on a network with these parameters calib finds these parameters.",
			c[Back], of)
	}
	if c[Undetermined] > 0 {
		fmt.Fprintf(&b, " Not determined: %s.", names(Undetermined))
	}
	if c[Agrees]+c[Differs] > 0 {
		fmt.Fprintf(&b, " Of %d values that are given to no network %d agree with the run", c[Agrees]+c[Differs], c[Agrees])
		if c[Differs] > 0 {
			fmt.Fprintf(&b, "; not %s", names(Differs))
		}
		b.WriteString(".")
	}
	if again := where(func(r Row) bool { return r.Again }); again != "" {
		fmt.Fprintf(&b, " Outside once and back the second time: %s.", again)
	}
	if other := where(func(r Row) bool { return r.Otherwise }); other != "" {
		fmt.Fprintf(&b, " The lab file says otherwise than the run of: %s.", other)
	}
	return b.String()
}

// structure judges what is no number: the kind of the network, and the hosts and pairs that are slow. They come back by
// their names.
func structure(s *netspec.Spec, run, copied *params.Params) []Row {
	var out []Row
	if run.Network != nil && copied.Network != nil {
		played := params.Switch
		if s.Mode == netspec.Shared {
			played = params.Shared
		}
		r := Row{Name: "network", Label: "what the network behaves like", RunStatus: string(run.Network.Packets), Verdict: Back,
			Status: string(copied.Network.Packets), Why: "played as " + string(played), Otherwise: run.Network.Packets != played && run.Network.Packets != params.Unknown}
		switch copied.Network.Packets {
		case played:
		case params.Unknown:
			if r.Verdict = Undetermined; run.Network.Packets == params.Unknown {
				r.Verdict = NotPlayed
			}
		default:
			r.Verdict = Missed
		}
		out = append(out, r)
	}
	slow, pairs := standingOut(copied)
	add := func(name, label string, v Verdict, status, why string) {
		out = append(out, Row{Name: name, Label: label, Verdict: v, Status: status, Why: why})
	}
	played := func(name, label string, named, measured bool) {
		switch {
		case named:
			add(name, label, Back, "named", "played as slow")
		case measured:
			add(name, label, Missed, "not named", "played as slow")
		default:
			add(name, label, Undetermined, "not measured", "played as slow")
		}
	}
	for _, i := range slices.Sorted(maps.Keys(s.Overrides)) {
		played(fmt.Sprintf("host %d", i), "slow host", slow[i], true)
	}
	for _, i := range slices.Sorted(maps.Keys(slow)) {
		if _, ok := s.Overrides[i]; !ok {
			add(fmt.Sprintf("host %d", i), "slow host", Missed, "named", "played as fast as the others")
		}
	}
	for _, l := range s.Links {
		pair := [2]int{min(l.Between[0][0], l.Between[1][0]), max(l.Between[0][0], l.Between[1][0])}
		named, measured := pairs[pair]
		played(fmt.Sprintf("pair %d, %d", pair[0], pair[1]), "slow pair", named, measured)
	}
	return out
}

// standingOut returns the hosts that a run names as slow, by index, and its pairs, with whether they stand out.
func standingOut(p *params.Params) (hosts map[int]bool, pairs map[[2]int]bool) {
	hosts, pairs = map[int]bool{}, map[[2]int]bool{}
	pair := func(a, b string) [2]int {
		i, j := slices.Index(p.Run.Hosts, a), slices.Index(p.Run.Hosts, b)
		return [2]int{min(i, j), max(i, j)}
	}
	for _, q := range p.Pairs {
		k := pair(q.From, q.To)
		pairs[k] = pairs[k] || q.Slow != ""
	}
	for _, f := range p.AllFindings(params.Warning) {
		switch {
		case f.Code == params.SlowHost && len(f.Hosts) == 1 && slices.Contains(p.Run.Hosts, f.Hosts[0]):
			hosts[slices.Index(p.Run.Hosts, f.Hosts[0])] = true
		case f.Code == params.SlowHost && len(f.Hosts) == 2:
			pairs[pair(f.Hosts[0], f.Hosts[1])] = true
		}
	}
	return hosts, pairs
}
