package bench

import (
	"calib/internal/dataset"
)

// Between batches rank 0 sends orders, rank 1 acknowledges each, and hands over its counters after the last.
const (
	orderBytes          = 1
	reportWords         = 3
	mostOrders          = pingWarmMax + 2
	pingControl         = mostOrders*(orderBytes+1) + 8*reportWords
	pingControlMessages = 2*mostOrders + 1
)

// order tells rank 1 to follow, or that there is nothing more, and returns when it is about to: nothing is under way then.
func order(g Group, follow bool) error {
	b := [orderBytes]byte{lastMark(!follow)}
	if err := g.Send(1, b[:]); err != nil {
		return err
	}
	return g.Recv(1, b[:])
}

// lastMark is the byte by which rank 0 tells whether something is the last.
func lastMark(last bool) byte {
	if last {
		return 1
	}
	return 0
}

// answer is rank 1's part of a rally: it follows after every order until there is none, then reports what it counted
// since the order before that.
func answer(g Group, x exchange) error {
	var b [orderBytes]byte
	var lost dataset.TCP
	for {
		if err := g.Recv(0, b[:]); err != nil {
			return err
		}
		before, err := g.Counters(0)
		if err != nil {
			return err
		}
		if err := g.Send(0, b[:]); err != nil {
			return err
		}
		if b[0] == lastMark(true) {
			return report(g, 0, &lost)
		}
		if err := follow(g, x); err != nil {
			return err
		}
		d, err := delta(g, 0, before)
		if err != nil {
			return err
		}
		lost = *d
	}
}

// follow is rank 1's timed section.
func follow(g Group, x exchange) error {
	for {
		last, err := x.follow(g)
		if err != nil || last {
			return err
		}
	}
}

// finish dismisses rank 1 and adds to tcp what only rank 1 could see.
func finish(g Group, tcp *dataset.TCP) error {
	if err := order(g, false); err != nil {
		return err
	}
	return addReport(g, 1, tcp)
}

// report tells a rank what only this one saw of a batch: its own retransmissions and its thread's lost time.
func report(g Group, to int, t *dataset.TCP) error {
	return sendWords(g, to, t.Retrans, t.Involuntary, t.StealTicks)
}

// addReport adds a rank's report to tcp.
func addReport(g Group, from int, tcp *dataset.TCP) error {
	w, err := recvWords(g, from, reportWords)
	if err != nil {
		return err
	}
	tcp.Retrans += w[0]
	tcp.Involuntary += w[1]
	tcp.StealTicks = max(tcp.StealTicks, w[2])
	return nil
}
