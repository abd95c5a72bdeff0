package hyperbolic

import (
	"fmt"
	"math"

	"calib/fit"
	"calib/fit/resample"
	"calib/internal/dataset/names"
	"calib/internal/units"
	"calib/params"
)

// Wakeup is what it costs a message of one byte that its receiver sleeps, from the half round trips of experiment
// wakeup:
//
//	wakeup             blocking − polling [s]: to wake a receiver that sleeps until the message comes
//	after_idle         idle − blocking [s]: what the message takes more after a millisecond without any
//	after_idle_awake   the same with CPUs kept out of sleep states; in blocking they are not: it may be below zero
//
// A round trip after a pause finds the follower's CPU asleep and the leader's awake: after_idle is half of what the
// follower takes more to wake up, and of what caches and clocks lost on both. Tam and Wang count the way in which a
// receiver learns of a message, by polling or by being woken, to U_r. calib's U_r is the receiving call alone, so that
// the wake-up is in L_cluster. Source: Tam, Wang 2000, section 3.2.
var Wakeup = fit.Model{Name: "wakeup", Needs: []string{names.Wakeup},
	Fit: func(p *fit.Prepared) (*params.Fit, error) { return fit.Shared(p, fitWakeup) }}

// WakeupTime is parameter wakeup and its standard uncertainty [s]; zeros where it is not known to be above zero.
func WakeupTime(p *fit.Prepared) (v, u float64) {
	f, err := Wakeup.Fit(p)
	if err != nil {
		return 0, 0
	}
	if q := f.Parameters["wakeup"]; q.CI95 != nil && q.CI95[0] > 0 {
		return *q.Value, resample.Uncertainty(*q.CI95)
	}
	return 0, 0
}

// fitWakeup returns fit.ErrNeeds without blocking round trips.
func fitWakeup(p *fit.Prepared) (*params.Fit, error) {
	r := p.New("wakeup", names.Wakeup, "Tam, Wang 2000 section 3.2")
	var t resample.Table[string]
	phases := []string{names.PhaseBlocking, names.PhasePolling, names.PhaseIdle, names.PhaseIdleAwake}
	used := r.EachLine(names.Wakeup, phases, func(phase string, b *fit.Batch) {
		t.Add(t.OneWay(phase), 0, b.Round, b.Timings(), fit.HalfTrips(b.Lines[0])...)
	})
	if _, ok := t.Index[names.PhaseBlocking]; !ok {
		return nil, fit.Needs("no blocking round trips without loss")
	}
	r.Account(used)
	est, err := fit.Resample(r, &t, "no round trips without loss")
	if err != nil {
		return nil, err
	}
	blocking := est.Values[t.Index[names.PhaseBlocking]]
	difference := func(name, label, more, less, why string) (v float64, ci [2]float64) {
		a, haveA := t.Index[more]
		b, haveB := t.Index[less]
		if !haveA || !haveB {
			r.Unknown(name, "s", label, math.Inf(-1), math.Inf(1), why)
			return 0, ci
		}
		v, ci = est.Of(func(v []float64) float64 { return v[a] - v[b] })
		r.Found(name, "s", label, v, ci)
		return v, ci
	}
	v, ci := difference("wakeup", "time to wake a receiver that sleeps until the message comes", names.PhaseBlocking,
		names.PhasePolling, "both hosts of every pair share a CPU, and a host that polls would keep it from the other")
	if ci[0] > 0 {
		r.Add(params.Notef("wake-up", "waking the receiver takes %s of the %s of a message of one byte. alpha, L "+
			"and L_cluster hold it, U_r does not (that of Tam and Wang does). A program that polls saves it",
			units.Format(v, "s"), units.Format(blocking, "s")).With("share", v/blocking).Of("wakeup"))
	}
	const after = "what a message takes more after 1 ms of idling"
	idle, idleCI := difference("after_idle", after, names.PhaseIdle, names.PhaseBlocking,
		"no round trips after a pause without loss")
	awake, awakeCI := difference("after_idle_awake", after+", CPUs kept awake", names.PhaseIdleAwake, names.PhaseBlocking,
		"the agents could not open /dev/cpu_dma_latency, which keeps CPUs awake: run them as root")
	if idleCI[0] > 0 {
		says := "how much of that is the CPU's sleep state is not known: the agents could not open /dev/cpu_dma_latency"
		if awakeCI[0] > 0 || awakeCI[1] < 0 {
			says = fmt.Sprintf("with the CPUs kept out of sleep states %s %s", units.Format(math.Abs(awake), "s"),
				map[bool]string{true: "more", false: "less"}[awake > 0])
		} else if _, tried := t.Index[names.PhaseIdleAwake]; tried {
			says = "with the CPUs kept out of sleep states it may be zero"
		}
		r.Add(params.Notef("cold-messages", "alpha, a, L and L_cluster are of messages in a row; after 1 ms of idling "+
			"a message takes %s more, and %s",
			units.Format(idle, "s"), says).With("share", idle/blocking).Of("after_idle"))
	}
	r.WidenDomain("bytes", 1)
	r.JudgeTable()
	return r.Fit, nil
}
