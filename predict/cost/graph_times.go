package cost

import "calib/internal/params"

// Times are those of a message of x bytes [s]. A preemptive primitive works while the blocks behind it do; one that is
// not is held up by the slowest of them.
// Source: Stoica, Sultan, Keyes 1994, section 2.5 and figure 8.
type Times struct {
	Bytes float64 `json:"bytes"`
	// Communication is T_c, from the call of send to the delivery.
	Communication float64 `json:"t_c"`
	Ends          *Ends   `json:"ends,omitempty"`
}

// Ends are the times of the two processes [s].
type Ends struct {
	// Send is T_s of a preemptive send, SendBlocking the most of one that is not.
	Send         float64 `json:"t_s_preemptive"`
	SendBlocking float64 `json:"t_s_non_preemptive"`
	// Receive is T_r of a preemptive receive and the least of one that is not, ReceiveBlocking the most of that.
	Receive         float64 `json:"t_r_preemptive"`
	ReceiveBlocking float64 `json:"t_r_non_preemptive"`
}

// Times returns the times of a message of x bytes, with eq. 3 between the limits of short and long ones.
func (r Reduced) Times(x float64) Times {
	t := Times{Bytes: x, Communication: r.Path.T(x)}
	if r.First != nil && r.Last != nil {
		t.Ends = &Ends{
			Send: r.First.T(x), SendBlocking: params.ServiceTime(x, r.First.A, r.Path.B),
			Receive: r.Last.T(x), ReceiveBlocking: params.ServiceTime(x, r.Last.A, r.Path.B),
		}
	}
	return t
}
