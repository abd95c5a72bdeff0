package predict

import (
	"cmp"

	formulas "calib/fit/cluster"
	"calib/fit/loggp"
	"calib/fit/resample"
	"calib/params"
)

// GatherByWindows is a gather in which some senders at a time send, each of the others when one of them has ended.
// Times are in seconds. Source: Tam, Wang 2000, eq. 3 to 8.
type GatherByWindows struct {
	Hosts  int      `json:"hosts"`
	Bytes  int      `json:"bytes"`
	Window int      `json:"window"` // senders at once
	Least  int      `json:"g_al"`   // fewer at once leave the receiver's port idle
	Most   int      `json:"g_au"`   // more at once overflow it
	Time   Interval `json:"time"`
	Kept   float64  `json:"kept"`           // share of the packets that the port takes in the long run
	Full   *float64 `json:"full,omitempty"` // after how long the port is full, where the packets are so many
	// AtLeast says that of B_L only a lower bound is known: g_au, kept and full are lower bounds, too.
	AtLeast bool `json:"b_l_is_bound,omitempty"`
}

// Gather predicts a gather of bytes from all hosts but one with so many senders at once; 0 is the best number.
func Gather(p *params.Params, hosts, bytes, window int) (out GatherByWindows, err error) {
	c, err := formulas.Of(p)
	if err != nil {
		return out, err
	}
	senders, m := hosts-1, float64(bytes)
	best, _, err := c.GatherWindow(senders, m)
	if err != nil {
		return out, err
	}
	k, each := c.Packets(m)
	out = GatherByWindows{Hosts: hosts, Bytes: bytes, Window: min(cmp.Or(window, best), senders), AtLeast: c.BLLeast,
		Least: int(c.GatherLower(each)),
		Most:  int(min(float64(senders), c.GatherUpper(each, k)))}
	if out.Time.Value, err = c.GatherTime(senders, m, out.Window); err != nil {
		return out, err
	}
	arrive, leave := float64(out.Window)/c.Gs.Of(each), 1/c.Gr.Of(each)
	out.Kept = formulas.TransferRatio(float64(out.Window)*k, c.Room(each), arrive, leave)
	if full := formulas.Saturation(c.Room(each), arrive, leave); full < float64(out.Window)*k/arrive {
		out.Full = &full
	}
	times := resample.Map(draws(p)(drawsOfFormulas), func(p *params.Params) (float64, error) {
		c, err := formulas.Of(p)
		if err != nil {
			return 0, err
		}
		return c.GatherTime(senders, m, out.Window)
	})
	out.Time.CI95 = interval(times, out.Time.Value, 0)
	return out, nil
}

// RemapPrediction is the time between two injections of a host in an all-to-all remap with drawn destinations, and what
// contention adds to it (Moritz, Frank 2001, eq. 7 and table 4). Times are in seconds, those of loggp.Cost. C_n and C_r
// are nil where a queue grows as long as hosts inject: no message waits for a reply then.
type RemapPrediction struct {
	Hosts    int      `json:"hosts"`
	Bytes    int      `json:"bytes"`
	Sync     bool     `json:"synchronous"` // a host waits for a reply to each message
	Interval float64  `json:"interval"`
	Alone    float64  `json:"alone"`
	Network  *float64 `json:"c_n,omitempty"`
	Resource *float64 `json:"c_r,omitempty"`
}

// Remap predicts a remap by LoGPC.
func Remap(p *params.Params, t loggp.Cube, hosts, bytes int, sync bool) (RemapPrediction, error) {
	k, err := loggp.MachineOf(p, t)
	if err != nil {
		return RemapPrediction{}, err
	}
	c := k.Cost(loggp.Remap{Hosts: hosts, Bytes: float64(bytes), Sync: sync, UnderWay: loggp.Unlimited})
	network, resource := params.OrNull(c.Network), params.OrNull(c.Resource)
	return RemapPrediction{hosts, bytes, sync, c.Interval, c.Alone, network, resource}, nil
}
