package cost

import (
	"fmt"

	"calib/fit/loggp"
	"calib/internal/params"
)

// LoGPC predicts all-to-all exchanges by LoGPC, as package fit/loggp reads it off a params.json: LogGP, the contention
// of messages for what all hosts share (C_n), and that of messages whose hosts are the same (C_r). With a cube that
// is not zero, the hosts are its nodes, whose channels are as fast as their interfaces; else they share what the run
// says. With P hosts and T_c of loggp.Machine.Cost,
//
//   - alltoall-pairwise: P−1 injections, each begun when the message of the one before has come. The hosts go through permutations
//     together: (P−1)·T_c with one message under way;
//   - alltoall-shifted: P−1 injections, all under way, that never wait for a message: (P−1)·T_c + OneWay − gap;
//   - p2p-direct: one message, OneWay.
//
// alltoall-random is ErrNotPredicted: it ends with the host that waits longest, and the model has means over hosts. So
// are all other patterns: it does not know who waits for whom. It returns ErrParameters without LogGP, or if t is no
// cube. Source: Moritz, Frank 2001, section 5.1.
func LoGPC(p *params.Params, t loggp.Cube) (Model, error) {
	c, err := loggp.MachineOf(p)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrParameters, err)
	}
	switch {
	case t == loggp.Cube{}:
	case !(t.Dimension >= 1) || !(t.Distance > 0) || !possible(t.Dimension+t.Distance):
		return nil, fmt.Errorf("%w: a network of dimension %g and distance %g", ErrParameters, t.Dimension, t.Distance)
	default:
		c.Network, c.Service = t, c.Gap
	}
	return onPaper{"logpc", func(t *Traffic, _ *list) (float64, error) {
		return timeByLogPC(c, t.Pattern.Name(), t.Hosts, float64(t.Bytes))
	}}, nil
}

func timeByLogPC(c loggp.Machine, name string, hosts int, bytes float64) (float64, error) {
	r := loggp.Remap{Hosts: hosts, Bytes: bytes, UnderWay: 1, Among: 1}
	steps := float64(hosts - 1)
	switch name {
	case "p2p-direct":
		return c.OneWay(bytes), nil
	case "alltoall-pairwise":
		return steps * c.Cost(r).Interval, nil
	case "alltoall-shifted":
		r.UnderWay = loggp.Unlimited
		return steps*c.Cost(r).Interval + max(0, c.OneWay(bytes)-c.Gap(bytes)), nil
	case "alltoall-random":
		return 0, fmt.Errorf("drawn orders end with the host that waits longest, and the model has means over hosts: %w", ErrNotPredicted)
	}
	return 0, fmt.Errorf("the model has exchanges in which every host sends to every other (alltoall), and single messages (p2p): %w", ErrNotPredicted)
}
