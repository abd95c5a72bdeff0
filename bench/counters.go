package bench

import "calib/internal/dataset"

// CountersSince reads a peer's counters and subtracts those read before.
func (x Team) CountersSince(peer int, before dataset.TCP) *dataset.TCP {
	d := x.Counters(peer).Sub(before)
	return &d
}

// tcpFlags labels a batch by what the kernel counted during it. Retransmissions up to a share loss of the segments do
// not count.
func tcpFlags(t dataset.TCP, loss float64) []string {
	var f []string
	if float64(t.Retrans) > loss*float64(t.DataSegsOut) {
		f = append(f, dataset.FlagRetrans)
	}
	if t.Involuntary > 0 {
		f = append(f, dataset.FlagPreempt)
	}
	if t.StealTicks > 0 {
		f = append(f, dataset.FlagSteal)
	}
	return f
}

// The counters that a sender hands to the rank that writes the line: only the sender sees its retransmissions.
const counters = 12

// CounterBytes is the length of the counters that one rank hands to another.
const CounterBytes = 8 * counters

func counterList(t *dataset.TCP) [counters]*int64 {
	return [counters]*int64{&t.SegsOut, &t.SegsIn, &t.DataSegsOut, &t.DataSegsIn, &t.Retrans, &t.RwndLimited,
		&t.SndbufLimit, &t.Busy, &t.Cwnd, &t.RTT, &t.Involuntary, &t.StealTicks}
}

// PutCounters writes the counters of t to b, in CounterBytes.
func PutCounters(b []byte, t *dataset.TCP) {
	for i, v := range counterList(t) {
		PutNumbers(b[8*i:], *v)
	}
}

// GetCounters overwrites the counters of t by what PutCounters wrote, and leaves its settings (congestion control,
// buffers).
func GetCounters(b []byte, t *dataset.TCP) {
	for i, v := range counterList(t) {
		*v = GetNumber(b[8*i:])
	}
}

// LossBytes is the length of what SendLosses sends.
const LossBytes = 3 * 8

// SendLosses sends to a rank what only this one saw of a batch: its own retransmissions and its thread's lost time.
func (x Team) SendLosses(to int, t *dataset.TCP) {
	x.SendNumbers(to, t.Retrans, t.Involuntary, t.StealTicks)
}

// AddLosses adds what a rank sent by SendLosses to tcp.
func (x Team) AddLosses(from int, tcp *dataset.TCP) {
	n := x.RecvNumbers(from, LossBytes/8)
	tcp.Retrans += n[0]
	tcp.Involuntary += n[1]
	tcp.StealTicks = max(tcp.StealTicks, n[2])
}

// CountersOf sums those of the connections to some ranks.
func (x Team) CountersOf(peers []int) (t dataset.TCP) {
	for _, k := range peers {
		t = t.Add(x.Counters(k))
	}
	return t
}
