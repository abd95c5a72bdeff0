package measuring

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/exporter-toolkit/web"

	"calib/fit/fault"
	"calib/internal/exit"
	"calib/internal/history"
	"calib/internal/hosts"
	"calib/internal/machine"
	"calib/reports/export"
	"calib/run/watch"
)

const (
	// mostLinked is up to how many hosts each link has series of its own: four for each of two directions.
	mostLinked   = 256
	storeReadAt  = time.Minute // the store is asked for a newer run as often at most
	storeTimeout = 5 * time.Second
	serveEnds    = 2 * time.Second // scrapes under way have as long when the watch ends
	sentHeaders  = 10 * time.Second
	scrapes      = 4 // at once
)

// metrics are what a watch serves to Prometheus: what it has seen last, what has changed, what it costs, and the
// parameters of the newest run of its hosts. Names are those of reports/export where it is the same quantity.
type metrics struct {
	note             func(string)
	hosts            []string
	limit            float64
	latencies, rates prometheus.Histogram

	mu    sync.Mutex
	links map[[2]int]*link // by who sent, and who received
	last  watch.Status
	looks int

	runs newestRun
}

// link is what was seen last. The latency of a pair is that of the host that is listed first.
type link struct {
	latency, rate   float64
	segments, again int64
}

func newMetrics(o watch.Config, note func(string)) *metrics {
	distribution := func(name, help string, buckets []float64) prometheus.Histogram {
		return prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets,
			NativeHistogramBucketFactor: 1.1, NativeHistogramMaxBucketNumber: 160,
			NativeHistogramMinResetDuration: time.Hour})
	}
	return &metrics{note: note, hosts: o.Hosts, limit: o.Share, links: map[[2]int]*link{},
		latencies: distribution("calib_watch_latency_seconds", "Latencies of pairs over all looks.",
			prometheus.ExponentialBuckets(1e-6, 4, 10)),
		rates: distribution("calib_watch_rate_bytes_per_second", "Rates of links over all looks.",
			prometheus.ExponentialBuckets(1e6, 4, 10)),
		runs: newestRun{store: o.Store, hosts: slices.Sorted(slices.Values(o.Hosts)), now: time.Now,
			others: map[string]bool{}}}
}

func (m *metrics) after(s watch.Status) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.last, m.looks = s, m.looks+1
	for _, o := range s.Seen {
		l := m.link(o.From, o.To)
		l.segments, l.again = l.segments+o.Segments, l.again+o.Again
		if o.Failed {
			continue
		}
		pair := fault.Pair(o.From, o.To)
		m.link(pair[0], pair[1]).latency = o.Latency
		m.latencies.Observe(o.Latency)
		if o.PerByte > 0 {
			l.rate = 1 / o.PerByte
			m.rates.Observe(l.rate)
		}
	}
}

func (m *metrics) link(from, to int) *link {
	l := m.links[[2]int{from, to}]
	if l == nil {
		l = &link{}
		if len(m.hosts) <= mostLinked {
			m.links[[2]int{from, to}] = l
		}
	}
	return l
}

// series are the counts and states; the distributions and the newest run are beside them.
func (m *metrics) series(add func(export.Series)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	gauge := func(name, help string, value float64, labels ...string) {
		add(export.Series{Name: name, Help: help, Value: value, Labels: labels})
	}
	counter := func(name, help string, value float64, labels ...string) {
		add(export.Series{Name: name, Help: help, Counter: true, Value: value, Labels: labels})
	}
	s := &m.last
	counter("calib_watch_looks_total", "Looks since the watch was started.", float64(m.looks))
	gauge("calib_watch_share_limit", "Largest share that looks may take.", m.limit)
	if m.looks == 0 {
		return
	}
	for pair, l := range m.links {
		link := []string{"from", m.hosts[pair[0]], "to", m.hosts[pair[1]]}
		if l.latency > 0 {
			gauge("calib_link_latency_seconds",
				"Half round trip of the smallest message between two hosts, as last seen.", l.latency, link...)
		}
		if l.rate > 0 {
			gauge("calib_link_rate_bytes_per_second",
				"Rate of a stream from one host to another, as last seen.", l.rate, link...)
		}
		if l.segments > 0 {
			counter("calib_link_segments_total", "TCP segments that looks have sent.", float64(l.segments), link...)
			counter("calib_link_retransmitted_segments_total", "TCP segments of looks that were sent again.",
				float64(l.again), link...)
		}
	}
	for _, h := range s.Hosts {
		gauge("calib_host_up", "1 where the last look found the host, or found it busy.", of(h.Lost == "" || h.Busy),
			"host", h.Name)
	}
	gauge("calib_changes_open", "Changes that are not over.", float64(len(s.Open)))
	seen := map[[3]string]bool{}
	for _, c := range slices.Backward(s.Open) { // of two on the same subject, the newer
		subject := [3]string{strings.Join(c.Hosts, ","), c.Quantity, c.Direction}
		if c.Group {
			subject[0] = "group " + hosts.Fold(c.Hosts)
		}
		if seen[subject] {
			continue
		}
		seen[subject] = true
		change := []string{"hosts", subject[0], "quantity", c.Quantity, "direction", c.Direction}
		gauge("calib_change_open", "1 for a change that is not over; hosts is one, two with a comma, a group, or empty "+
			"for the network.", 1, change...)
		gauge("calib_change_since_timestamp_seconds", "When a change that is not over began.", seconds(c.Since),
			change...)
		if c.Ratio != nil {
			gauge("calib_change_ratio", "How many times the usual value; of loss, the share of segments that are sent "+
				"again; none of reach.", *c.Ratio, change...)
		}
	}
	gauge("calib_watch_last_look_timestamp_seconds", "When the last look began.", seconds(s.At))
	gauge("calib_watch_next_look_seconds", "Time from the last look to the next.", s.Next.Seconds())
	gauge("calib_watch_longest_gap_seconds", "Time that the pair had waited for the last look that had waited "+
		"longest; never seen: since the start.", s.Waited.Seconds())
	if s.Within > 0 {
		gauge("calib_watch_gap_limit_seconds", "Time within which each pair of hosts that answer is seen again, if "+
			"looks cost what the last did.", s.Within.Seconds())
	}
	gauge("calib_watch_network_share", "Share of the time of links that looks have taken.", s.Share)
	gauge("calib_watch_cpu_share", "Share of a processor that looks have taken on the host with most.", s.CPUShare)
	gauge("calib_watch_learning", "1 while it is not known yet what is usual.", of(s.Learning))
	gauge("calib_watch_unsaved_looks", "Looks that the store could not take yet.", float64(s.Unsaved))
}

func of(yes bool) float64 { return map[bool]float64{true: 1}[yes] }

func seconds(t time.Time) float64 { return float64(t.UnixNano()) / 1e9 }

// newestRun is the newest run in a store that is of certain hosts, and of no others.
type newestRun struct {
	store *history.Store
	hosts []string // sorted
	now   func() time.Time

	mu     sync.Mutex
	read   time.Time
	id     string
	others map[string]bool // runs of other hosts, by ID
	found  []*dto.MetricFamily
	failed bool
}

// gather lists the runs of the store where that was not done within a minute, and decodes each run once. What the store
// had stays where it cannot be read.
func (n *newestRun) gather(note func(string)) []*dto.MetricFamily {
	n.mu.Lock()
	defer n.mu.Unlock()
	if now := n.now(); n.store != nil && now.Sub(n.read) >= storeReadAt {
		n.read = now
		err := n.find()
		if err != nil && !n.failed {
			note("the parameters of the newest run are not served, or are old: " + err.Error())
		}
		n.failed = err != nil
	}
	return n.found
}

func (n *newestRun) find() error {
	ctx, cancel := context.WithTimeout(context.Background(), storeTimeout)
	defer cancel()
	all, err := n.store.List(ctx, history.Filter{})
	if err != nil {
		return err
	}
	for _, e := range slices.Backward(all) {
		if e.Hosts != len(n.hosts) || n.others[e.ID] {
			continue
		}
		if e.ID == n.id {
			return nil
		}
		p, _, err := n.store.Read(ctx, e.ID)
		if err != nil {
			return err
		}
		if !slices.Equal(slices.Sorted(slices.Values(p.Run.Hosts)), n.hosts) {
			n.others[e.ID] = true
			continue
		}
		found, err := export.Gather(p, machine.Version())
		if err != nil {
			return err
		}
		n.id = e.ID
		n.found = slices.DeleteFunc(found, func(f *dto.MetricFamily) bool { // links are as last seen, not as in the run
			name := f.GetName()
			return name != "calib_run_info" && name != "calib_run_started_timestamp_seconds" &&
				!strings.HasPrefix(name, "calib_parameter_")
		})
		return nil
	}
	n.id, n.found = "", nil
	return nil
}

func (m *metrics) gatherer() prometheus.Gatherer {
	r := prometheus.NewRegistry()
	r.MustRegister(export.Collector(m.series), m.latencies, m.rates,
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return prometheus.Gatherers{r, prometheus.GathererFunc(func() ([]*dto.MetricFamily, error) {
		return m.runs.gather(m.note), nil
	})}
}

// serve serves the metrics at an address, or nothing where it is empty. The file of the web toolkit of Prometheus says
// who may read them, and with which certificate.
func (m *metrics) serve(addr, config string) (stop func(), err error) {
	if addr == "" {
		return func() {}, nil
	}
	if err := web.Validate(config); err != nil {
		return nil, exit.Usagef("--web-config %s: %w", config, err)
	}
	page, err := web.NewLandingPage(web.LandingConfig{Name: "calib watch", Version: machine.Version(),
		Profiling: "false", Links: []web.LandingLinks{{Address: "/metrics", Text: "Metrics"}}})
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, exit.Usagef("--listen %s: %w", addr, err)
	}
	mux := http.NewServeMux()
	mux.Handle("/", page)
	mux.Handle("/metrics", promhttp.HandlerFor(m.gatherer(), promhttp.HandlerOpts{EnableOpenMetrics: true,
		MaxRequestsInFlight: scrapes}))
	server := &http.Server{Handler: mux, ReadHeaderTimeout: sentHeaders, ErrorLog: log.New(io.Discard, "", 0)}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		err := web.Serve(l, server, &web.FlagConfig{WebConfigFile: &config}, slog.New(slog.DiscardHandler))
		if !errors.Is(err, http.ErrServerClosed) {
			m.note("metrics are served no more: " + err.Error())
		}
	}()
	m.note("metrics for Prometheus are at " + l.Addr().String())
	if len(m.hosts) > mostLinked {
		m.note(fmt.Sprintf("links have no metrics of their own: there are more than %d hosts", mostLinked))
	}
	return func() {
		ctx, cancel := context.WithTimeout(context.Background(), serveEnds)
		defer cancel()
		if server.Shutdown(ctx) != nil {
			server.Close()
		}
		<-ended
	}, nil
}
