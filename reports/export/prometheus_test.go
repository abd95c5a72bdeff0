package export

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"calib/reports/export/input"
)

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

func checkPrometheus(file []byte, in *input.Input) error {
	got, err := readPrometheus(file)
	if err != nil {
		return err
	}
	families, err := familiesOf(in)
	if err != nil {
		return err
	}
	n := 0
	for _, f := range families {
		for _, s := range f.series {
			var labels []string
			for i, l := range s.labels {
				labels = append(labels, f.labels[i]+"="+strings.ToValidUTF8(l, "_"))
			}
			k := seriesKey(f.name, labels)
			if v, ok := got[k]; !ok || v != s.value {
				return mismatch(k, v, s.value, "(SI)")
			}
			n++
		}
	}
	if n != len(got) {
		return fmt.Errorf("%d values, want %d: %w", len(got), n, errMismatch)
	}
	return nil
}
