package measuring

import "calib/run/watch"

type metrics struct{}

func newMetrics(hosts []string) *metrics { return &metrics{} }

func (m *metrics) after(s watch.Status) {}

// serve serves the metrics at an address, or nothing where it is empty.
func (m *metrics) serve(addr, config string, note func(string)) (stop func(), err error) {
	return func() {}, nil
}
