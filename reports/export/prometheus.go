package export

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"calib/fit"
)

// prometheusTarget is a file for the textfile collector of node_exporter: gauges in the text format, without time stamps, which
// that collector refuses. Values are in SI units. A parameter without a value has no line; an interval that is not known has
// none either. Write the file under another name and rename it, as calib export --out does: the collector reads at any moment.
//
// The run's ID is a label of calib_run_info alone, so that a new run continues the series of the old.
func prometheusTarget() Target {
	return Target{
		Name: "prometheus", File: "calib.prom", NoHosts: true,
		About: "Prometheus: gauges for the textfile collector of node_exporter, without time stamps",
		Write: writePrometheus, Check: checkPrometheus,
	}
}

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

// interval are three families: the value and the ends of its 95% interval.
func interval(name, help string, labels ...string) [3]*family {
	return [3]*family{
		{name: name, help: help, labels: labels},
		{name: name + "_ci_low", help: "Lower end of the 95% interval of " + name + ".", labels: labels},
		{name: name + "_ci_high", help: "Upper end of the 95% interval of " + name + ".", labels: labels},
	}
}

func add(to [3]*family, m fit.Metric, labels ...string) {
	to[0].series = append(to[0].series, series{labels, m.Value})
	if m.CI95 != nil {
		to[1].series = append(to[1].series, series{labels, m.CI95[0]})
		to[2].series = append(to[2].series, series{labels, m.CI95[1]})
	}
}

// familiesOf lists the gauges of a run.
func familiesOf(p *fit.Params, o Options) ([]*family, error) {
	metrics, err := metricsOf(p)
	if err != nil {
		return nil, err
	}
	info := &family{name: "calib_run_info", help: "The run that the other values are from; always 1.", labels: []string{"run", "plan", "version"},
		series: []series{{[]string{p.Run.ID, p.Run.Plan, o.Version}, 1}}}
	hosts := &family{name: "calib_run_hosts", help: "Hosts of the run.", series: []series{{nil, float64(len(p.Run.Hosts))}}}
	parameter := interval("calib_parameter_value", "Parameter of a communication cost model, in the SI unit of label unit.",
		"name", "unit", "model", "experiment")
	coefficient := interval("calib_coefficient_value", "Coefficient of a cost function, or of one of segments its value at a size, in the SI unit of label unit.",
		"function", "coefficient", "unit", "model")
	latency := interval("calib_link_latency_seconds", "Half round trip of the smallest message between two hosts.", "from", "to")
	rate := interval("calib_link_rate_bytes_per_second", "Rate of the largest message between two hosts.", "from", "to")
	for _, m := range metrics {
		switch q, ok := p.Parameters[m.Name]; {
		case m.Link() != "" && m.Name == "latency":
			add(latency, m, m.From, m.To)
		case m.Link() != "" && m.Name == "rate":
			add(rate, m, m.From, m.To)
		case m.Link() != "":
		case ok:
			add(parameter, m, m.Name, m.Unit, q.Model, q.Experiment)
		default:
			function, c := splitLast(m.Name)
			add(coefficient, m, function, c, m.Unit, p.Functions[function].Model)
		}
	}
	out := []*family{info, hosts}
	for _, f := range [][3]*family{parameter, coefficient, latency, rate} {
		out = append(out, f[:]...)
	}
	return out, nil
}

// splitLast splits "model.function.coefficient" before the coefficient.
func splitLast(name string) (function, coefficient string) {
	i := strings.LastIndexByte(name, '.')
	return name[:max(i, 0)], name[i+1:]
}

func writePrometheus(w io.Writer, p *fit.Params, o Options) ([]string, error) {
	families, err := familiesOf(p, o)
	if err != nil {
		return nil, err
	}
	if err := comment(w, "# ", header(p, o, nil, nil, nil)); err != nil {
		return nil, err
	}
	r := prometheus.NewRegistry()
	for _, f := range families {
		g := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: f.name, Help: f.help}, f.labels)
		if err := r.Register(g); err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
		for _, s := range f.series {
			v, err := g.GetMetricWithLabelValues(valid(s.labels)...)
			if err != nil {
				return nil, fmt.Errorf("%s%q: %w", f.name, s.labels, err)
			}
			v.Set(s.value)
		}
	}
	gathered, err := r.Gather()
	if err != nil {
		return nil, err
	}
	enc := expfmt.NewEncoder(w, expfmt.NewFormat(expfmt.TypeTextPlain))
	for _, f := range gathered {
		if err := enc.Encode(f); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// valid makes label values UTF-8.
func valid(labels []string) []string {
	out := make([]string, len(labels))
	for i, l := range labels {
		out[i] = strings.ToValidUTF8(l, "_")
	}
	return out
}

// readPrometheus reads gauges as the collector does: values by name and labels, without time stamps.
func readPrometheus(file []byte) (map[string]float64, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(file))
	if err != nil {
		return nil, syntax("%v", err)
	}
	out := map[string]float64{}
	for name, f := range families {
		for _, m := range f.GetMetric() {
			if m.GetGauge() == nil || m.TimestampMs != nil {
				return nil, syntax("%s is not a gauge without time stamp", name)
			}
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, l.GetName()+"="+l.GetValue())
			}
			k, v := seriesKey(name, labels), m.GetGauge().GetValue()
			if _, twice := out[k]; twice || math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, syntax("%s is there twice, or not a finite number", k)
			}
			out[k] = v
		}
	}
	return out, nil
}

// seriesKey names a series whatever the order of its labels.
func seriesKey(name string, labels []string) string {
	slices.Sort(labels)
	return fmt.Sprintf("%s%q", name, labels)
}

func checkPrometheus(file []byte, p *fit.Params, o Options) error {
	got, err := readPrometheus(file)
	if err != nil {
		return err
	}
	families, err := familiesOf(p, o)
	if err != nil {
		return err
	}
	n := 0
	for _, f := range families {
		for _, s := range f.series {
			var labels []string
			for i, l := range valid(s.labels) {
				labels = append(labels, f.labels[i]+"="+l)
			}
			k := seriesKey(f.name, labels)
			if v, ok := got[k]; !ok || v != s.value {
				return mismatch(k, v, s.value, "(SI)")
			}
			n++
		}
	}
	if n != len(got) {
		return fmt.Errorf("%d values, want %d: %w", len(got), n, ErrMismatch)
	}
	return nil
}
