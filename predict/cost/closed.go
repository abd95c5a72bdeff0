package cost

import (
	"fmt"
	"slices"
	"strings"

	"calib/bench/pattern"
	"calib/fit/cluster"
	"calib/fit/loggp"
	"calib/params"
)

// Cluster predicts by the cluster model, as package fit/cluster reads it off a params.json, with its own closed forms:
//
//   - bcast-binomial: eq. 2, which is of a broadcast that is repeated for every packet, whereas a rank of that pattern
//     passes nothing on before it has the whole message;
//   - a gather, a message of each other rank to one, all at once (gather-direct, incast-direct): eq. 8, uncoordinated;
//   - gather-windows: eq. 8 with two senders at once;
//   - a scatter, one message of one rank to every other (p2p, bcast-serial): gaps of the sender and a packet's way.
//
// Gathers and scatters are recognised by their messages, which are all of one size (one message is a scatter), the
// others by name. All other patterns are ErrNotPredicted. It returns ErrParameters without the functions O_s, U_r, g_s
// and L_cluster, or if one of them or g_r or O_r is withheld or impossible: gaps and L_cluster are positive, and the
// work of hosts is not negative. Source: Tam, Wang 2000, eq. 2 and 8.
func Cluster(p *params.Params) (Model, error) {
	c, err := cluster.Of(p)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrParameters, err)
	}
	r := reader{params: p, model: "cluster"}
	for _, m := range []float64{1, c.MTU} { // costs are straight in between, or bent upwards
		for name, v := range map[string]float64{"the packet": c.MTU, "g_s": c.Gs.Of(m), "g_r": c.Gr.Of(m),
			"L_cluster": c.L.At(m, 2), "O_s": c.Os.Of(m), "U_r": c.Ur.Of(m), "O_r": c.Or.Of(m)} {
			little := v == 0 && strings.ContainsAny(name, "OU") // the work of a host may be too little to be measured
			if !possible(v) && !little {
				r.wrong = append(r.wrong, fmt.Sprintf("%s of %g B is %g", name, m, v))
			}
		}
	}
	slices.Sort(r.wrong)
	if err := r.err(); err != nil {
		return nil, err
	}
	return onPaper{"cluster", func(t *Traffic, l *list) (float64, error) {
		hosts := len(l.ranks)
		bytes := float64(slices.MaxFunc(l.messages, func(a, b message) int { return a.bytes - b.bytes }).bytes)
		switch from, to := star(l); {
		case from:
			return c.Scatter(hosts, bytes)
		case t.Pattern.Name() == "gather-windows": // its start signals are shorter
			return c.GatherTime(hosts-1, bytes, pattern.Window)
		case to:
			return c.GatherTime(hosts-1, bytes, hosts-1)
		case t.Pattern.Name() == "bcast-binomial":
			return c.Broadcast(hosts, bytes)
		}
		return 0, fmt.Errorf("the model has broadcasts by a binomial tree, gathers to one rank and scatters from one: %w",
			ErrNotPredicted)
	}}, nil
}

// Postal predicts broadcasts by a binomial tree by the Postal (normalised LogP) model, told the parameters of the
// cluster model. It is what the cluster model was held against. Source: Tam, Wang 2000, eq. 1.
func Postal(p *params.Params) (Model, error) {
	c, err := cluster.Of(p)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrParameters, err)
	}
	return onPaper{"postal", func(t *Traffic, l *list) (float64, error) {
		if t.Pattern.Name() != "bcast-binomial" {
			return 0, fmt.Errorf("the model has broadcasts by a binomial tree: %w", ErrNotPredicted)
		}
		return c.BroadcastPostal(len(l.ranks), float64(t.Bytes))
	}}, nil
}

// star reports whether the messages, all of one size, go from one rank to every other, one each, or from every other to
// one.
func star(l *list) (from, to bool) {
	first := l.messages[0]
	if len(l.messages) != len(l.ranks)-1 {
		return false, false
	}
	from, to = true, true
	sent, received := make([]int, len(l.ranks)), make([]int, len(l.ranks))
	for _, m := range l.messages {
		sent[m.from]++
		received[m.to]++
		from = from && m.from == first.from && received[m.to] == 1 && m.bytes == first.bytes
		to = to && m.to == first.to && sent[m.from] == 1 && m.bytes == first.bytes
	}
	return from, to
}

// LoGPC predicts all-to-all exchanges by LoGPC, as package fit/loggp reads it off a params.json: LogGP, the contention
// of messages for what all hosts share (C_n), and that of messages whose hosts are the same (C_r). With a cube that
// is not zero, the hosts are its nodes, whose channels are as fast as their interfaces; else they share what the run
// says. With P hosts and T_c of loggp.Machine.Cost,
//
//   - alltoall-pairwise: P−1 injections, each begun when the message of the one before has come. The hosts go through
//     permutations together: (P−1)·T_c with one message under way;
//   - alltoall-shifted: P−1 injections, all under way, that never wait for a message: (P−1)·T_c + OneWay − gap;
//   - p2p-direct: one message, OneWay.
//
// alltoall-random is ErrNotPredicted: it ends with the host that waits longest, and the model has means over hosts. So
// are all other patterns: it does not know who waits for whom. It returns ErrParameters without LogGP, or if t is no
// cube. Source: Moritz, Frank 2001, section 5.1.
func LoGPC(p *params.Params, t loggp.Cube) (Model, error) {
	c, err := loggp.MachineOf(p, t)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrParameters, err)
	}
	return onPaper{"logpc", func(t *Traffic, _ *list) (float64, error) {
		bytes, steps := float64(t.Bytes), float64(t.Hosts-1)
		r := loggp.Remap{Hosts: t.Hosts, Bytes: bytes, UnderWay: 1, Among: 1}
		switch t.Pattern.Name() {
		case "p2p-direct":
			return c.OneWay(bytes), nil
		case "alltoall-pairwise":
			return steps * c.Cost(r).Interval, nil
		case "alltoall-shifted":
			r.UnderWay = loggp.Unlimited
			return steps*c.Cost(r).Interval + max(0, c.OneWay(bytes)-c.Gap(bytes)), nil
		case "alltoall-random":
			return 0, fmt.Errorf("drawn orders end with the host that waits longest, and the model has means over hosts: %w",
				ErrNotPredicted)
		}
		return 0, fmt.Errorf("the model has exchanges in which every host sends to every other (alltoall), "+
			"and single messages (p2p): %w", ErrNotPredicted)
	}}, nil
}
