package cost

import (
	"calib/internal/params"
)

// Hockney predicts by T(m) = α + β·m [s], m in bytes (parameters alpha, beta). Hosts have one port out and one port in,
// which work at the same time and carry one message each. A message of m bytes occupies its sender for α + β·m and is
// then there; its first byte comes to the receiver's port after α, and occupies that for β·m as soon as it is free. So
// n messages of n senders are at one receiver after α + n·β·m, and those of one sender to n receivers after n·(α +
// β·m). The receiver itself does nothing. The network is not shared. It returns ErrParameters without both parameters.
//
// Source: Hockney 1994, Parallel Computing 20, 389-398; Thakur, Rabenseifner, Gropp 2005, Optimization of collective
// communication operations in MPICH, Int. J. High Perform. Comput. Appl. 19(1), section 3 (one port, both directions).
func Hockney(p *params.Params) (Model, error) {
	r := reader{params: p, model: "hockney", all: []string{"alpha", "beta"}}
	alpha, beta := r.value("alpha"), r.value("beta")
	if err := r.err(); err != nil {
		return nil, err
	}
	return hockney(alpha, beta), nil
}

func hockney(alpha, beta float64) Model {
	return byEvents("hockney", func(m float64) stages {
		whole := alpha + beta*m
		return stages{send: whole, gap: whole, flight: alpha, serve: beta * m}
	})
}
