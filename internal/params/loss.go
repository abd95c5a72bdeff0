package params

// Loss is which share of the segments of some connections was sent again.
type Loss struct {
	Segments int64      `json:"segments"` // with payload, those sent again included
	Again    int64      `json:"again"`
	Rate     float64    `json:"rate"`
	CI95     [2]float64 `json:"ci95"` // as if segments were lost independently of each other (Wilson 1927)
}

const (
	// MaxDiscarded is the share of its timings that a model may lose to retransmissions and timeouts, and MaxMissing
	// the share of its planned slots that a run may lack, before the numbers are provisional and the run is partial.
	MaxDiscarded = 0.25
	MaxMissing   = 0.5
)

// The reasons in Fit.LeftOutWhy that are loss: flags of samples.
const (
	whyRetrans = "retrans"
	whyTimeout = "timeout"
)

// discards counts the timings of a fit that loss has made useless, and all of its timings.
func (f *Fit) discards() (lost, all int) {
	return f.LeftOutWhy[whyRetrans] + f.LeftOutWhy[whyTimeout], f.Used + f.LeftOut
}

// Discarded is the share of the timings of a fit that retransmissions and timeouts have made useless.
func (f *Fit) Discarded() float64 {
	lost, all := f.discards()
	return float64(lost) / float64(max(1, all))
}

// Discarded is that share over all fits.
func (p *Params) Discarded() float64 {
	lost, all := 0, 0
	for _, f := range p.Fits {
		l, n := f.discards()
		lost, all = lost+l, all+n
	}
	return float64(lost) / float64(max(1, all))
}
