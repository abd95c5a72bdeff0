package progress

import (
	"math"
	"time"
)

const (
	memory    = 30 * time.Second // after which an observation counts 1/e
	learnTime = 2 * time.Second  // observed before an estimate is shown
	maxLeft   = 1000 * time.Hour // an estimate beyond this is no estimate
)

// rate estimates the work done per second: the ratio of two sums, of work and of time, in which older terms decay with the time
// constant memory. At the start that is the plain mean; later it follows a rate that changes.
type rate struct {
	at   time.Duration // of the last observation, since the phase began
	done float64       // at the last observation
	work float64       // decayed sum
	time float64       // decayed sum, s
}

// observe takes the total work done at a moment. Work that went down (a slot to be repeated) slows the estimate.
func (r *rate) observe(at time.Duration, done float64) {
	dt := (at - r.at).Seconds()
	if dt <= 0 {
		r.work += done - r.done
		r.done = done
		return
	}
	keep := math.Exp(-dt / memory.Seconds())
	r.work = r.work*keep + done - r.done
	r.time = r.time*keep + dt
	r.at, r.done = at, done
}

// left estimates the time from now until done reaches total. It counts down from the last observation. There is no estimate when
// the count reaches zero with work left: the work takes longer than it did before, and nobody knows how long.
func (r *rate) left(now time.Duration, done, total float64) (time.Duration, bool) {
	if total <= 0 || r.at < learnTime || r.work <= 0 || r.time <= 0 {
		return 0, false
	}
	s := max(total-done, 0)/(r.work/r.time) - (now - r.at).Seconds()
	if s > maxLeft.Seconds() || s < 0 && done < total {
		return 0, false
	}
	return time.Duration(max(s, 0) * float64(time.Second)), true
}
