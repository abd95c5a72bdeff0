package export

import (
	"bytes"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"

	"calib/internal/files"
	"calib/internal/lists"
	"calib/internal/units"
	"calib/params"
)

var csvColumns = [...]string{"kind", "name", "from", "to", "unit", "value", "lo", "hi", "status", "label"}

// rowsOf lists the rows of csvColumns. A number that is not known is an empty field.
func rowsOf(in *input) (out [][]string) {
	add := func(kind string, m params.Metric, value float64, ends *[2]float64) {
		if ends == nil {
			ends = &[2]float64{math.NaN(), math.NaN()}
		}
		out = append(out, []string{kind, m.Name, m.From, m.To, m.Unit, cell(value), cell(ends[0]), cell(ends[1]), m.Status,
			units.OneLine(m.Label)})
	}
	run := in.Params.Run
	for _, about := range [][2]string{{"calib", in.Version}, {"id", run.ID}, {"plan", run.Plan}} {
		add("run", params.Metric{Name: about[0], Label: about[1]}, math.NaN(), nil)
	}
	for _, m := range in.metrics() {
		kind := "coefficient"
		if m.Link() != "" {
			kind = "link"
		} else if _, ok := in.Params.Parameters[m.Name]; ok || m.Name == params.LossMetric {
			kind = "parameter"
		}
		add(kind, m, m.Value, m.CI95)
	}
	for name, q := range lists.ByKey(in.Params.Parameters) {
		m := params.Metric{Name: name, Unit: q.Unit, Status: q.Status, Label: q.Label}
		if v, estimated := q.Raw(); q.Value == nil && estimated {
			add("estimate", m, v, (*[2]float64)(q.Bound))
		} else if q.Value == nil {
			add("parameter", m, math.NaN(), (*[2]float64)(q.Bound))
		}
	}
	for name, f := range lists.ByKey(in.Params.Functions) {
		if f.Usable() {
			continue
		}
		for c, v := range lists.ByKey(f.Coeff) {
			m := params.Metric{Name: name + "." + c, Unit: f.CoeffUnit(c), Status: f.Status, Label: f.Label}
			add("estimate", m, v, f.Interval(c))
		}
	}
	for _, q := range in.Params.Times() {
		add("point", params.Metric{Name: number(q.X), Unit: "s", Status: params.StatusOK,
			Label: "time of a message of that many bytes, idle network"}, q.Measured, &[2]float64{q.Lo, q.Hi})
	}
	return out
}

// writeCSV writes a table of every number of a run, one a row (RFC 4180: a header, fields quoted where they must be,
// lines that end in CR LF). Columns:
//
//	kind   run, parameter (one number of the network), estimate (of a number that is not to be used), coefficient
//	       (of a cost function, or of one of segments its value at a size), link (of one pair), point (T of a size)
//	name   of it; of a point the message size in bytes
//	from, to   the hosts of a link
//	unit   SI; value; lo, hi   the 95% interval, or of a parameter without a value what the data allow
//	status that of params.json; label   what it is, in words
//
// A text that a spreadsheet would take for a formula has ' before it.
//
// The format has no comments: version and run are rows of kind run.
func writeCSV(in *input) []byte {
	return writeSheet(in, true, append([][]string{csvColumns[:]}, rowsOf(in)...))
}

func writeSheet(in *input, crlf bool, lines [][]string) []byte {
	var b bytes.Buffer
	c := files.NewSheet(&b)
	c.UseCRLF = crlf
	in.fail(c.WriteAll(lines))
	return b.Bytes()
}

func cell(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return ""
	}
	return number(v)
}

type benchmark struct {
	Name   string
	Iters  int
	Value  float64 // in Unit
	Unit   string
	Better string
}

func benchmarksOf(in *input) (out []benchmark) {
	for _, q := range in.Params.Times() {
		out = append(out, benchmark{"Pingpong/bytes=" + decimal(q.X, -1), max(1, q.N), q.Measured * 1e9, "ns/op",
			params.BetterLower})
	}
	for _, m := range in.metrics() {
		name := "Parameter/name=" + goName(m.Name)
		if m.Link() != "" {
			name = "Link/from=" + goName(m.From) + "/to=" + goName(m.To) + "/name=" + goName(m.Name)
		}
		unit := goUnit(m.Unit)
		if strings.ContainsFunc(unit, unicode.IsSpace) {
			in.failf("unit %q of %s: %w: it must be one word", m.Unit, m.Name, ErrLimit)
		}
		out = append(out, benchmark{name, 1, m.Value, unit, m.Better})
	}
	return out
}

// goName makes text a part of a benchmark's name: characters that separate parts or words become _.
func goName(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || strings.ContainsRune("/=\"\\", r) {
			return '_'
		}
		return r
	}, units.OneLine(s))
}

// goUnit names an SI unit as Go benchmarks do.
func goUnit(si string) string {
	if name, ok := map[string]string{"s": "sec", "s/B": "sec/B", "1": "ratio", "": "ratio"}[si]; ok {
		return name
	}
	return strings.ReplaceAll(si, " ", "_")
}

// writeGobench writes the Go benchmark format (golang.org/design/14313-benchmark-format), for benchstat: a line for T
// of every message size in ns/op, for every number of the network in a unit of its own, and for every link. Unit lines
// say which way is better. Iterations of a size are its raw timings.
//
// params.json holds one median for a size, so that there is one line for each: benchstat tells two files apart by
// significance only where several runs of each are concatenated. What names a run is a comment, not a configuration
// line: benchstat would put runs of different configuration into different tables.
func writeGobench(in *input) []byte {
	all, better := benchmarksOf(in), map[string]string{}
	for _, m := range all {
		if m.Better != params.BetterNeither && m.Unit != goUnit("1") { // of ratios only loss has a direction
			better[m.Unit] = m.Better
		}
	}
	in.warnf("one value for each benchmark: benchstat calls no difference significant from a single run on each side")
	return in.render("gobench", map[string]any{"better": better, "hosts": len(in.Params.Run.Hosts), "benchmarks": all})
}

const otavaTime = "2006-01-02 15:04:05 -0700" // how the time is written, in UTC

// runTime is the start of a run's ID.
var runTime = regexp.MustCompile(`^(?:.*?-)?([0-9]{8}-[0-9]{6})(?:-|$)`)

func timeOf(id string) (t time.Time, err error) {
	if m := runTime.FindStringSubmatch(id); m != nil {
		t, err = time.Parse("20060102-150405", m[1])
	}
	if t.IsZero() {
		err = fmt.Errorf("time of the run: %w: its ID %q does not begin with date and time, as calib run makes it",
			ErrMissing, id)
	}
	return t, err
}

// writeOtava writes a table for Apache Otava (formerly Hunter): a header and one row, to be appended to the rows of
// earlier runs. Its importer takes a column as metric if every value is a number, as time if it is a date, and as
// attribute otherwise (hunter/importer.py, class CsvImporter). So time is that of the run, commit is the run's ID,
// which a date parser does not take for one, and the rest are the numbers of the run.
func writeOtava(in *input) []byte {
	metrics := in.metrics()
	t, err := timeOf(in.Params.Run.ID)
	in.fail(err)
	head, row := []string{"time", "commit"}, []string{t.Format(otavaTime), units.OneLine(in.Params.Run.ID)}
	seen := map[string]bool{}
	for _, m := range metrics {
		if m.Status != params.StatusOK { // a change of it would be taken for one of the network
			continue
		}
		column := m.Name // "a_c", "latency h0→h1"
		if link := m.Link(); link != "" {
			column += " " + link
		}
		column = units.OneLine(column)
		if seen[column] {
			in.failf("column %q: %w: two numbers of the run have this name", column, ErrLimit)
		}
		seen[column] = true
		head, row = append(head, column), append(row, number(m.Value))
	}
	in.warnf("intervals are not in the file: Otava has none")
	return writeSheet(in, false, [][]string{head, row})
}

// Series is one number that Prometheus reads.
type Series struct {
	Name, Help string
	Counter    bool // else a gauge
	Value      float64
	Labels     []string // names, each with its value behind it
}

// Collector gives Prometheus the series that it adds. It is unchecked: what there is depends on what was seen.
type Collector func(add func(Series))

func (c Collector) Describe(chan<- *prometheus.Desc) {}

func (c Collector) Collect(ch chan<- prometheus.Metric) {
	known := map[string]*prometheus.Desc{}
	c(func(s Series) {
		var names, values []string
		for label := range slices.Chunk(s.Labels, 2) {
			names = append(names, label[0])
			values = append(values, units.Printable(strings.ToValidUTF8(label[1], "_")))
		}
		if known[s.Name] == nil {
			known[s.Name] = prometheus.NewDesc(s.Name, s.Help, names, nil)
		}
		kind := map[bool]prometheus.ValueType{true: prometheus.CounterValue, false: prometheus.GaugeValue}[s.Counter]
		ch <- prometheus.MustNewConstMetric(known[s.Name], kind, s.Value, values...)
	})
}

func (in *input) series(to func(Series)) {
	one := func(name, help string, value float64, labels ...string) {
		to(Series{Name: name, Help: help, Value: value, Labels: labels})
	}
	add := func(name, help string, m params.Metric, labels ...string) {
		one(name, help, m.Value, labels...)
		if m.CI95 != nil {
			one(name+"_ci_low", "Lower end of the 95% interval of "+name+".", m.CI95[0], labels...)
			one(name+"_ci_high", "Upper end of the 95% interval of "+name+".", m.CI95[1], labels...)
		}
	}
	run := in.Params.Run
	one("calib_run_info", "The run that the other values are from; always 1.", 1, "run", run.ID, "plan", run.Plan,
		"version", in.Version)
	one("calib_run_hosts", "Hosts of the run.", float64(len(run.Hosts)))
	if t, err := timeOf(run.ID); err == nil {
		one("calib_run_started_timestamp_seconds", "When the run was started.", float64(t.Unix()))
	}
	for _, m := range in.metrics() {
		of, _ := params.SplitSize(m.Name)
		switch q, ok := in.Params.Parameters[m.Name]; {
		case m.Link() != "" && of == "latency":
			add("calib_link_latency_seconds", "Half round trip of the smallest message between two hosts.", m,
				"from", m.From, "to", m.To)
		case m.Link() != "" && of == "rate":
			add("calib_link_rate_bytes_per_second", "Rate of the largest message between two hosts.", m,
				"from", m.From, "to", m.To)
		case m.Name == params.LossMetric:
			add("calib_loss_ratio", "Share of segments that were sent again.", m)
		case m.Link() != "":
		case ok:
			add("calib_parameter_value", "Parameter of a communication cost model, in the SI unit of label unit.", m,
				"name", m.Name, "unit", m.Unit, "model", q.Model, "experiment", q.Experiment)
			one("calib_parameter_ok", "1 where the status of a parameter is ok, 0 where it is provisional.",
				map[bool]float64{true: 1}[m.Status == params.StatusOK], "name", m.Name)
		default:
			dot := strings.LastIndexByte(m.Name, '.') // "g_s.c0"
			function := m.Name[:max(dot, 0)]
			add("calib_coefficient_value",
				"Coefficient of a cost function, or of one of segments its value at a size, in the SI unit of label unit.", m,
				"function", function, "coefficient", m.Name[dot+1:], "unit", m.Unit,
				"model", in.Params.Functions[function].Model)
		}
	}
}

// writePrometheus writes a file for the textfile collector of node_exporter: gauges in the text format, without time
// stamps, which that collector refuses. Values are in SI units. A parameter without a value has no line; an interval
// that is not known has none either. Write the file under another name and rename it, as calib export --out does: the
// collector reads at any moment.
//
// The run's ID is a label of calib_run_info alone, so that a new run continues the series of the old.
func writePrometheus(in *input) []byte {
	gathered := gather(in)
	b := bytes.NewBuffer(in.render("prometheus", nil))
	enc := expfmt.NewEncoder(b, expfmt.NewFormat(expfmt.TypeTextPlain))
	for _, f := range gathered {
		in.fail(enc.Encode(f))
	}
	return b.Bytes()
}

// Gather returns the gauges of a run for a program that serves metrics.
func Gather(p *params.Params, version string) ([]*dto.MetricFamily, error) {
	in := newInput(p, Options{Version: version})
	gathered := gather(in)
	return gathered, in.err
}

func gather(in *input) []*dto.MetricFamily {
	r := prometheus.NewRegistry()
	r.MustRegister(Collector(in.series))
	gathered, err := r.Gather()
	if err != nil {
		in.failf("two numbers of the run have the same labels: %w: %w", ErrLimit, err)
	}
	return gathered
}
