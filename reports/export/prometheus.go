package export

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"

	"calib/internal/params"
	"calib/internal/printable"
	"calib/reports/export/input"
)

// family is a gauge with its labels and values.
type family struct {
	name, help string
	labels     []string
	series     []series
}

type series struct {
	labels []string
	value  float64
}

// withInterval returns three families: the value and the ends of its 95% interval.
func withInterval(name, help string, labels ...string) [3]*family {
	return [3]*family{
		{name: name, help: help, labels: labels},
		{name: name + "_ci_low", help: "Lower end of the 95% interval of " + name + ".", labels: labels},
		{name: name + "_ci_high", help: "Upper end of the 95% interval of " + name + ".", labels: labels},
	}
}

func add(to [3]*family, m params.Metric, labels ...string) {
	to[0].series = append(to[0].series, series{labels, m.Value})
	if m.CI95 != nil {
		to[1].series = append(to[1].series, series{labels, m.CI95[0]})
		to[2].series = append(to[2].series, series{labels, m.CI95[1]})
	}
}

// familiesOf lists the gauges of a run.
func familiesOf(in *input.Input) ([]*family, error) {
	metrics, err := in.Metrics()
	if err != nil {
		return nil, err
	}
	run := in.Params.Run
	info := &family{name: "calib_run_info", help: "The run that the other values are from; always 1.", labels: []string{"run", "plan", "version"},
		series: []series{{[]string{run.ID, run.Plan, in.Version}, 1}}}
	hosts := &family{name: "calib_run_hosts", help: "Hosts of the run.", series: []series{{nil, float64(len(run.Hosts))}}}
	parameter := withInterval("calib_parameter_value", "Parameter of a communication cost model, in the SI unit of label unit.",
		"name", "unit", "model", "experiment")
	coefficient := withInterval("calib_coefficient_value", "Coefficient of a cost function, or of one of segments its value at a size, in the SI unit of label unit.",
		"function", "coefficient", "unit", "model")
	status := &family{name: "calib_parameter_ok", help: "1 where the status of a parameter is ok, 0 where it is provisional.", labels: []string{"name"}}
	latency := withInterval("calib_link_latency_seconds", "Half round trip of the smallest message between two hosts.", "from", "to")
	rate := withInterval("calib_link_rate_bytes_per_second", "Rate of the largest message between two hosts.", "from", "to")
	for _, m := range metrics {
		of, _ := params.SplitSize(m.Name)
		switch q, ok := in.Params.Parameters[m.Name]; {
		case m.Link() != "" && of == "latency":
			add(latency, m, m.From, m.To)
		case m.Link() != "" && of == "rate":
			add(rate, m, m.From, m.To)
		case m.Link() != "" || m.Name == params.LossMetric:
		case ok:
			add(parameter, m, m.Name, m.Unit, q.Model, q.Experiment)
			good := 0.0
			if m.Status == params.StatusOK {
				good = 1
			}
			status.series = append(status.series, series{[]string{m.Name}, good})
		default:
			dot := strings.LastIndexByte(m.Name, '.') // "model.function.coefficient"
			function := m.Name[:max(dot, 0)]
			add(coefficient, m, function, m.Name[dot+1:], m.Unit, in.Params.Functions[function].Model)
		}
	}
	out := []*family{info, hosts, status}
	for _, f := range [][3]*family{parameter, coefficient, latency, rate} {
		out = append(out, f[:]...)
	}
	return out, nil
}

// writePrometheus writes a file for the textfile collector of node_exporter: gauges in the text format, without time
// stamps, which that collector refuses. Values are in SI units. A parameter without a value has no line; an interval
// that is not known has none either. Write the file under another name and rename it, as calib export --out does: the
// collector reads at any moment.
//
// The run's ID is a label of calib_run_info alone, so that a new run continues the series of the old.
func writePrometheus(b *bytes.Buffer, in *input.Input) ([]string, error) {
	families, err := familiesOf(in)
	if err != nil {
		return nil, err
	}
	in.WriteHeader(b, "# ", nil, nil, nil)
	r := prometheus.NewRegistry()
	for _, f := range families {
		if err := r.Register(f); err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
	}
	gathered, err := r.Gather() // an error is two values with the same labels
	if err != nil {
		return nil, fmt.Errorf("two numbers of the run have the same labels: %w: %w", ErrLimit, err)
	}
	enc := expfmt.NewEncoder(b, expfmt.NewFormat(expfmt.TypeTextPlain))
	for _, f := range gathered {
		if err := enc.Encode(f); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

func (f *family) description() *prometheus.Desc {
	return prometheus.NewDesc(f.name, f.help, f.labels, nil)
}

// Describe makes f a prometheus.Collector.
func (f *family) Describe(to chan<- *prometheus.Desc) { to <- f.description() }

// Collect makes f a prometheus.Collector.
func (f *family) Collect(to chan<- prometheus.Metric) {
	for _, s := range f.series {
		labels := make([]string, len(s.labels))
		for i, l := range s.labels {
			labels[i] = printable.Text(strings.ToValidUTF8(l, "_"))
		}
		to <- prometheus.MustNewConstMetric(f.description(), prometheus.GaugeValue, s.value, labels...)
	}
}
