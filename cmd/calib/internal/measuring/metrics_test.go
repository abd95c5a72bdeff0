package measuring

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"calib/fit/fault"
	"calib/internal/exit"
	"calib/internal/history"
	"calib/internal/needs"
	"calib/params"
	"calib/run/watch"
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// watched are metrics of four hosts after two looks, with a store that has a run of them and a newer one of others.
func watched(t *testing.T) *metrics {
	t.Helper()
	store, err := history.Open(t.Context(), filepath.Join(t.TempDir(), "h.db"), true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	hosts := []string{"h0", "h1", "h2", "h\"3\x1b"}
	addRun(t, store, "20260501-100000-a", 5e-5, hosts...)
	addRun(t, store, "20260501-110000-b", 7e-5, "h0", "h1", "h2", "h4")
	m := newMetrics(watch.Config{Hosts: hosts, Store: store, Share: 0.001}, func(string) {})
	m.runs.now = func() time.Time { return noon }
	s := watch.Status{Sighting: watch.Sighting{At: noon, Hosts: []watch.Machine{{Name: "h0"}, {Name: "h1"},
		{Name: "h2", Lost: "no route"}, {Name: hosts[3], Lost: "held by another run", Busy: true}}, Seen: []fault.Seen{
		{From: 0, To: 1, Latency: 2e-5, PerByte: 0x1p-30, Segments: 100, Again: 1},
		{From: 3, To: 0, Failed: true, Segments: 3, Again: 3}}},
		Learning: true, Next: 3 * time.Minute, Waited: time.Minute}
	m.after(s)
	s.At, s.Learning, s.Share, s.CPUShare, s.Unsaved = noon.Add(time.Hour), false, 5e-4, 1e-4, 2
	s.Waited, s.Within = time.Hour, 2*time.Hour
	s.Seen = []fault.Seen{{From: 1, To: 0, Latency: 3e-5, PerByte: 0x1p-29, Segments: 50}}
	ratio := 1.25
	s.Open = []history.Change{
		{Quantity: fault.Latency, Since: noon, Ratio: &ratio, CI95: &[2]float64{1.2, 1.3}},
		{Hosts: []string{"h1"}, Quantity: fault.Rate, Direction: "sending", Since: noon, Ratio: &ratio},
		{Hosts: []string{"h1"}, Quantity: fault.Rate, Direction: "sending", Since: noon.Add(time.Minute),
			Ratio: &ratio},
		{Hosts: []string{"h2", "h0"}, Quantity: "reach", Since: noon},
		{Hosts: []string{"h0", "h1"}, Group: true, Quantity: fault.Latency, Since: noon}}
	m.after(s)
	return m
}

func addRun(t *testing.T, s *history.Store, id string, latency float64, hosts ...string) {
	t.Helper()
	started, err := time.Parse("20060102-150405", id[:15])
	if err != nil {
		t.Fatal(err)
	}
	p := &params.Params{Schema: params.Schema, Run: params.Run{ID: id, Plan: "quick", Hosts: hosts},
		Parameters: map[string]params.Parameter{"t0": {Value: &latency, CI95: &[2]float64{0.9 * latency, 1.1 * latency},
			Unit: "s", Status: params.StatusOK, Model: "hockney", Experiment: "pingpong", Label: "start-up"}}}
	_, err = s.Add(t.Context(), history.Record{Entry: history.Entry{ID: id, Started: started}, Params: p})
	if err != nil {
		t.Fatal(err)
	}
}

// serving serves metrics, and returns what is at a path of them.
func serving(t *testing.T, m *metrics, client *http.Client, config, prefix string) func(path,
	accept string) (*http.Response, string) {
	t.Helper()
	var addr string
	m.note = func(text string) { addr = text[strings.LastIndexByte(text, ' ')+1:] }
	stop, err := m.serve("127.0.0.1:0", config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return func(path, accept string) (*http.Response, string) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, prefix+addr+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept", accept)
		answer, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer, string(body)
	}
}

// TestMetrics: what was seen is served in all of the formats of Prometheus, and its own checks find nothing.
func TestMetrics(t *testing.T) {
	m := watched(t)
	get := serving(t, m, http.DefaultClient, "", "http://")
	answer, open := get("/metrics", "application/openmetrics-text;version=1.0.0")
	kind := answer.Header.Get("Content-Type")
	if !strings.HasPrefix(kind, "application/openmetrics-text; version=1.0.0") {
		t.Errorf("content type %q", kind)
	}
	for _, want := range []string{
		`calib_change_open{direction="",hosts="",quantity="latency"} 1.0`,
		`calib_change_open{direction="",hosts="h2,h0",quantity="reach"} 1.0`,
		`calib_change_open{direction="",hosts="group h[0-1]",quantity="latency"} 1.0`,
		`calib_change_ratio{direction="",hosts="",quantity="latency"} 1.25`,
		`calib_change_since_timestamp_seconds{direction="sending",hosts="h1",quantity="rate"} 1.77763686e+09`,
		`calib_changes_open 5.0`, `calib_host_up{host="h0"} 1.0`, `calib_host_up{host="h2"} 0.0`,
		`calib_host_up{host="h\"3·"} 1.0`,
		`calib_link_latency_seconds{from="h0",to="h1"} 3e-05`,
		`calib_link_rate_bytes_per_second{from="h0",to="h1"} 1.073741824e+09`,
		`calib_link_rate_bytes_per_second{from="h1",to="h0"} 5.36870912e+08`,
		`calib_link_segments_total{from="h0",to="h1"} 100.0`,
		`calib_link_retransmitted_segments_total{from="h\"3·",to="h0"} 3.0`, `# TYPE calib_link_segments counter`,
		`calib_watch_looks_total 2.0`, `calib_watch_last_look_timestamp_seconds 1.7776404e+09`,
		`calib_watch_next_look_seconds 180.0`,
		`calib_watch_longest_gap_seconds 3600.0`, `calib_watch_gap_limit_seconds 7200.0`,
		`calib_watch_network_share 0.0005`, `calib_watch_cpu_share 0.0001`,
		`calib_watch_share_limit 0.001`, `calib_watch_learning 0.0`, `calib_watch_unsaved_looks 2.0`,
		`calib_watch_latency_seconds_count 2`,
		`calib_parameter_value{experiment="pingpong",model="hockney",name="t0",unit="s"} 5e-05`,
		`calib_parameter_value_ci_low{experiment="pingpong",model="hockney",name="t0",unit="s"} 4.5e-05`,
		`calib_parameter_ok{name="t0"} 1.0`, `process_cpu_seconds_total `,
	} {
		if !strings.Contains(open, "\n"+want) {
			t.Errorf("there is no %s", want)
		}
	}
	if strings.Contains(open, `calib_link_latency_seconds{from="h1"`) ||
		strings.Contains(open, `quantity="reach"} 1.25`) {
		t.Errorf("a pair has two latencies, or reach has a ratio:\n%s", open)
	}
	text, ok := strings.CutSuffix(open, "# EOF\n")
	if parser := expfmt.NewTextParser(model.UTF8Validation); !ok {
		t.Error("the end is missing")
	} else if _, err := parser.TextToMetricFamilies(strings.NewReader(text)); err != nil {
		t.Error(err)
	}
	_, plain := get("/metrics", "text/plain")
	if problems, err := promlint.New(strings.NewReader(plain)).Lint(); err != nil || len(problems) > 0 {
		t.Error(problems, err)
	}
	if problems, err := testutil.GatherAndLint(m.gatherer()); err != nil || len(problems) > 0 {
		t.Error(problems, err)
	}
	t.Run("promtool", func(t *testing.T) {
		cmd := exec.Command(needs.Program(t, "promtool"), "check", "metrics")
		cmd.Stdin = strings.NewReader(plain)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	})
	answer, packed := get("/metrics", string(expfmt.NewFormat(expfmt.TypeProtoDelim)))
	decoder := expfmt.NewDecoder(strings.NewReader(packed), expfmt.ResponseFormat(answer.Header))
	var native []string
	for f := new(dto.MetricFamily); decoder.Decode(f) == nil; f = new(dto.MetricFamily) {
		if f.GetType() == dto.MetricType_HISTOGRAM && len(f.GetMetric()[0].GetHistogram().GetPositiveSpan()) > 0 {
			native = append(native, f.GetName())
		}
	}
	want := []string{"calib_watch_latency_seconds", "calib_watch_rate_bytes_per_second"}
	if !slices.Equal(native, want) {
		t.Errorf("native histograms %q, want %q", native, want)
	}
	if _, page := get("/", "text/html"); !strings.Contains(page, `href="/metrics"`) {
		t.Errorf("the first page is %s", page)
	}
}

// TestMetricsProtected: with TLS and a password nobody reads metrics without.
func TestMetricsProtected(t *testing.T) {
	other := httptest.NewTLSServer(http.NotFoundHandler()) // whose certificate is used
	defer other.Close()
	own := other.TLS.Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(own.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	put := func(name string, b []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	put("cert.pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: own.Certificate[0]}))
	put("key.pem", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}))
	// The password is secret.
	config := put("web.yml", []byte("tls_server_config: {cert_file: cert.pem, key_file: key.pem}\n"+
		"basic_auth_users: {prometheus: '$2a$04$qLGAi3MZPT0aIbV5.FCOouw7u8sTdYr49UC.ze36UzNbeEee.Q/Pu'}\n"))
	m := watched(t)
	get := serving(t, m, other.Client(), config, "https://")
	if answer, _ := get("/metrics", ""); answer.StatusCode != http.StatusUnauthorized {
		t.Errorf("without a password: %s", answer.Status)
	}
	get = serving(t, m, other.Client(), config, "https://prometheus:secret@")
	answer, body := get("/metrics", "")
	if answer.StatusCode != http.StatusOK || !strings.Contains(body, "calib_changes_open 5") {
		t.Errorf("with it: %s", answer.Status)
	}
	for _, c := range [][2]string{{"9478", ""}, {"nowhere.invalid:1", ""}, {"127.0.0.1:0", filepath.Join(dir, "none")},
		{"127.0.0.1:0", put("bad.yml", []byte("tls: {}\n"))},
		{"127.0.0.1:0", put("half.yml", []byte("tls_server_config: {cert_file: cert.pem}\n"))}} {
		stop, err := m.serve(c[0], c[1])
		if exit.CodeOf(err) != exit.Usage {
			t.Errorf("--listen %s --web-config %s: %v", c[0], c[1], err)
		}
		if err == nil {
			stop()
		}
	}
}

// TestNewestRun: a newer run is found after a minute, not before.
func TestNewestRun(t *testing.T) {
	m := watched(t)
	now := noon
	m.runs.now = func() time.Time { return now }
	value := func() string {
		for _, f := range m.runs.gather(func(text string) { t.Error(text) }) {
			if f.GetName() == "calib_parameter_value" {
				return fmt.Sprint(f.GetMetric()[0].GetGauge().GetValue())
			}
		}
		return "none"
	}
	if got := value(); got != "5e-05" {
		t.Error(got)
	}
	addRun(t, m.runs.store, "20260501-130000-c", 6e-5, "h\"3\x1b", "h2", "h1", "h0")
	if now = now.Add(59 * time.Second); value() != "5e-05" {
		t.Error("the store was read within a minute")
	}
	if now = now.Add(time.Second); value() != "6e-05" {
		t.Error("the newer run was not found")
	}
	if err := m.runs.store.Remove(t.Context(), "20260501-130000-c"); err != nil {
		t.Fatal(err)
	}
	if err := m.runs.store.Remove(t.Context(), "20260501-100000-a"); err != nil {
		t.Fatal(err)
	}
	if now = now.Add(time.Minute); value() != "none" {
		t.Error("a run that was removed is served")
	}
}

// TestManyHosts: links have no series where there are too many.
func TestManyHosts(t *testing.T) {
	m := newMetrics(watch.Config{Hosts: make([]string, mostLinked+1)}, func(string) {})
	m.after(watch.Status{Sighting: watch.Sighting{At: noon,
		Seen: []fault.Seen{{From: 0, To: mostLinked, Latency: 1e-5, PerByte: 1e-9}}}})
	n, err := testutil.GatherAndCount(m.gatherer(), "calib_link_latency_seconds", "calib_watch_looks_total")
	if n != 1 || err != nil {
		t.Error(n, err)
	}
}
