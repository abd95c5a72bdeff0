package export

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"calib/internal/needs"
	"calib/internal/units"
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

func checkPrometheus(file []byte, in *input) error {
	got, err := readPrometheus(file)
	if err != nil {
		return err
	}
	var want []Series
	in.series(func(s Series) { want = append(want, s) })
	if err := in.err; err != nil {
		return err
	}
	for _, s := range want {
		var labels []string
		for l := range slices.Chunk(s.Labels, 2) {
			labels = append(labels, l[0]+"="+units.Printable(strings.ToValidUTF8(l[1], "_")))
		}
		k := seriesKey(s.Name, labels)
		if v, ok := got[k]; !ok || v != s.Value {
			return mismatch(k, v, s.Value, "(SI)")
		}
	}
	if len(want) != len(got) {
		return fmt.Errorf("%d values, want %d: %w", len(got), len(want), errMismatch)
	}
	return nil
}

// TestPromlint: the names of the gauges are what Prometheus recommends.
func TestPromlint(t *testing.T) {
	problems, err := promlint.New(bytes.NewReader(write(t, lookup(t, "prometheus"), fixture(), Options{}))).Lint()
	if err != nil || len(problems) > 0 {
		t.Error(problems, err)
	}
}

// TestSameLabels: two links of which the names differ in nothing that can be printed are an error.
func TestSameLabels(t *testing.T) {
	p := fixture()
	twin := p.Pairs[0]
	twin.From += "\xff"
	other := twin
	other.From = p.Pairs[0].From + "\xfe"
	p.Pairs = append(p.Pairs, twin, other)
	if _, _, err := lookup(t, "prometheus").Export(p, Options{}); !errors.Is(err, ErrLimit) {
		t.Errorf("two series of one name: %v", err)
	}
}

// TestNoTimestamps: the textfile collector refuses time stamps, and so does the reader.
func TestNoTimestamps(t *testing.T) {
	file := write(t, lookup(t, "prometheus"), fixture(), Options{})
	stamped := bytes.Replace(file, []byte("calib_run_hosts 8"), []byte("calib_run_hosts 8 1700000000000"), 1)
	if _, err := readPrometheus(stamped); !errors.Is(err, errSyntax) {
		t.Errorf("a time stamp: %v", err)
	}
}

// TestAlerts: Prometheus takes the metrics, and the alerts of examples/prometheus ring where they are to and nowhere
// else.
func TestAlerts(t *testing.T) {
	promtool := needs.Program(t, "promtool")
	for _, c := range []struct {
		args  []string
		stdin []byte
	}{
		{[]string{"check", "metrics"}, write(t, lookup(t, "prometheus"), fixture(), Options{})},
		{[]string{"check", "rules", "rules.yml"}, nil},
		{[]string{"test", "rules", "rules_test.yml"}, nil},
	} {
		cmd := exec.CommandContext(t.Context(), promtool, c.args...)
		cmd.Dir, cmd.Stdin = "../../examples/prometheus", bytes.NewReader(c.stdin)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("promtool %q: %v\n%s", c.args, err, out)
		}
	}
}
