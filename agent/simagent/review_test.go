package simagent_test

import (
	"testing"

	"calib/fit"
	"calib/fit/models"
	"calib/internal/netspec"
	"calib/params"
)

// What a run of the quick plan may be relied on for, from the simulated wire to the status: on eight hosts of a shared
// medium and on four: that two numbers of pairs carry two parameters is said by a warning.
func TestStatuses(t *testing.T) {
	for hosts, want := range map[int]map[string]string{
		8: {"a": params.StatusOK, "a_c": params.StatusOK, "b": params.StatusOK, "b_c": params.StatusOK,
			"a_prime_limits": params.StatusOK, "b_prime_limits": params.StatusOK},
		4: {"a": params.StatusOK, "a_c": params.StatusOK, "b": params.StatusOK, "b_c": params.StatusOK,
			"a_prime_limits": params.StatusOK, "b_prime_limits": params.StatusOK},
	} {
		spec, err := netspec.Preset("sparc1994", hosts)
		if err != nil {
			t.Fatal(err)
		}
		p, errs := fit.Run(models.All, measure(t, *spec, noisy(1), quick(t, 1)), fit.Settings{Replicates: 200})
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		for name, status := range want {
			if q := p.Parameters[name]; q.Status != status {
				t.Errorf("%d hosts: %s is %s (%s), want %s", hosts, name, q.Status, q.Why, status)
			}
		}
		earned(t, p)
	}
}

// earned fails unless every parameter of status ok has an interval, or was read and not estimated, and is possible.
func earned(t *testing.T, p *params.Params) {
	t.Helper()
	read := map[string]bool{"packet": true, "send_buffer": true, "timer_resolution": true}
	for name, q := range p.Parameters {
		switch {
		case q.Status != params.StatusOK:
			if q.Why == "" {
				t.Errorf("%s is %s without a reason", name, q.Status)
			}
		case q.CI95 == nil && !read[name], *q.Value < 0:
			t.Errorf("%s is ok: %v, interval %v", name, *q.Value, q.CI95)
		}
	}
}
