//go:build harness

package harness

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"calib/internal/stats"
)

var minutesFlag = flag.Int("minutes", 120, "how long the cost of a watch is measured")

const (
	watchPeriod = 10 * time.Minute // with a watch, and without: longer than from look to look
	watchCosts  = "127.0.0.1:9478"
	watchFaulty = "127.0.0.1:9479"
	watchFast   = "--every 10s --share 0.1 --learn 4m"
	faultLasts  = 2 * time.Minute // or until it is found, where that takes longer
	memoryGrows = 1.25            // from the first quarter of a watch to the last, at most
)

// watched is a watch on a lab of eight hosts.
type watched struct {
	t      *testing.T
	calib  string
	lab    string
	store  string
	listen string
	flags  []string
	c      *exec.Cmd
	mu     sync.Mutex
	events []watchEvent
	ended  chan struct{}
}

type watchEvent struct {
	At         time.Time
	Kind, Text string
}

func (w *watched) start() {
	w.t.Helper()
	args := append([]string{"watch", "--hosts", w.store + ".hosts", "--store", w.store, "--json", "--quiet",
		"--listen", w.listen}, inNamespaces...)
	w.c = exec.Command(w.calib, append(args, w.flags...)...)
	w.c.Stderr = os.Stderr
	out, err := w.c.StdoutPipe()
	if err == nil {
		err = w.c.Start()
	}
	if err != nil {
		w.t.Fatal(err)
	}
	w.ended = make(chan struct{})
	go func() {
		defer close(w.ended)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			var e watchEvent
			if json.Unmarshal(lines.Bytes(), &e) == nil {
				w.mu.Lock()
				w.events = append(w.events, e)
				w.mu.Unlock()
			}
		}
	}()
}

func (w *watched) stop(s syscall.Signal) {
	w.t.Helper()
	if err := w.c.Process.Signal(s); err != nil {
		w.t.Fatal(err)
	}
	<-w.ended
	_ = w.c.Wait() // it was interrupted
}

// since are the events from a time on, without marks.
func (w *watched) since(at time.Time) (out []watchEvent) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range w.events {
		if !e.At.Before(at.Add(-time.Second)) && e.Kind != "mark" {
			out = append(out, e)
		}
	}
	return out
}

// until waits for an event, and returns how long that took.
func (w *watched) until(from time.Time, kind, text string, most time.Duration) (time.Duration, bool) {
	for time.Since(from) < most && interrupted.Err() == nil {
		for _, e := range w.since(from) {
			if e.Kind == kind && strings.Contains(e.Text, text) {
				return e.At.Sub(from), true
			}
		}
		time.Sleep(time.Second)
	}
	return most, false
}

// metric reads a number that the watch serves.
func (w *watched) metric(name string) float64 {
	r, err := http.Get("http://" + w.listen + "/metrics")
	if err != nil {
		return -1
	}
	defer r.Body.Close()
	text, _ := io.ReadAll(r.Body)
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == name {
			v, _ := strconv.ParseFloat(f[1], 64)
			return v
		}
	}
	return -1
}

// memory is what a process has [MiB].
func memory(pid int) float64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, after, _ := strings.Cut(string(text), "VmRSS:")
	kib, _ := strconv.ParseFloat(strings.Fields(after + " 0")[0], 64)
	return kib / 1024
}

// shell runs a line of shell in the test's lab.
func shell(t *testing.T, line string) string {
	t.Helper()
	return ran(t, "sh", "-c", line)
}

// watchedLab is a lab of eight hosts for the time of a test.
func watchedLab(t *testing.T, name, listen string) *watched {
	calib, dir := build(t), t.TempDir()
	file := put(t, dir, "lab.yaml", strings.Replace(fastSwitch, "hosts: 16", "hosts: 8", 1))
	hosts := ran(t, calib, "lab", "up", "--name", name, file)
	w := &watched{t: t, calib: calib, lab: name, store: filepath.Join(dir, "h.db"), listen: listen}
	t.Cleanup(func() {
		if w.c != nil {
			_ = w.c.Process.Kill() // where the test has failed
		}
		_, _ = output(context.Background(), calib, "lab", "down", "--name", name)
	})
	put(t, dir, "h.db.hosts", hosts)
	return w
}

const watchHeader = "what was done | what is wanted | what was seen | "

// row adds a row with its verdict.
func (p *table) row(t *testing.T, ok bool, done, wanted, seen string) {
	t.Helper()
	verdict := good
	if !ok {
		verdict = outside
		t.Errorf("%s: %s, want %s", done, seen, wanted)
	}
	p.add(t, fmt.Sprintf("| %s | %s | %s | %s |", done, wanted, seen, verdict))
}

// TestWatchCost holds a watch on eight emulated hosts against what it may cost: half of the time a stream without and
// with it, by turns; the other half one watch that is not stopped.
func TestWatchCost(t *testing.T) {
	w := watchedLab(t, "watchc", watchCosts)
	p := &table{name: "watch-cost", header: watchHeader}
	ns := func(h int) string { return fmt.Sprintf("ip netns exec %s-h%d ", w.lab, h) }
	server := exec.Command("sh", "-c", "exec "+ns(1)+"iperf3 -s")
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = server.Process.Kill(); _ = server.Wait() }()
	address := strings.Fields(shell(t, ns(1)+"hostname -I"))[0]
	rate := func() float64 {
		client := fmt.Sprintf("%s iperf3 -J -c %s -O 2 -t %d", ns(0), address, int(watchPeriod.Seconds()))
		rate, err := received(shell(t, client))
		if err != nil {
			t.Fatal(err)
		}
		return rate
	}
	half := time.Duration(*minutesFlag) * time.Minute / 2
	begun := time.Now()
	signal := func(s syscall.Signal) {
		if err := w.c.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
	}
	var ratios []float64
	inStream := 0.0 // looks
	w.start()
	time.Sleep(time.Minute) // the first look has asked which pairs disturb each other
	for time.Since(begun) < half && interrupted.Err() == nil {
		signal(syscall.SIGSTOP)
		without := rate()
		before := inStream
		signal(syscall.SIGCONT) // the look that was due comes now
		inStream -= w.metric("calib_watch_looks_total")
		ratios = append(ratios, rate()/without)
		if inStream += w.metric("calib_watch_looks_total"); inStream == before {
			t.Error("no look in a stream with a watch")
		}
	}
	w.stop(syscall.SIGTERM)
	p.row(t, stats.Median(ratios) > 0.995 && inStream > 0,
		fmt.Sprintf("a stream from host 0 to host 1, %v without and with a watch, %d times", watchPeriod, len(ratios)),
		"ratio of rates within 0.5%", fmt.Sprintf("median %.4f, %.4f to %.4f; %.0f looks in the streams",
			stats.Median(ratios), slices.Min(ratios), slices.Max(ratios), inStream))

	carried := func() (out []float64) { // bytes that each host has sent, and received
		for h := range 8 {
			for _, n := range strings.Fields(shell(t, ns(h)+"sh -c 'cat /sys/class/net/calib0/statistics/?x_bytes'")) {
				v, _ := strconv.ParseFloat(n, 64)
				out = append(out, v)
			}
		}
		return out
	}
	w.start()
	unbroken := time.Now()
	quiet := carried()
	var sizes []float64
	for ; time.Since(unbroken) < half || w.metric("calib_watch_looks_total") < 3; time.Sleep(10 * time.Second) {
		if time.Since(unbroken) > half+40*time.Minute || interrupted.Err() != nil {
			t.Fatal("three looks take longer than 40 minutes")
		}
		sizes = append(sizes, memory(w.c.Process.Pid))
	}
	took := time.Since(unbroken)
	busiest := 0.
	for i, v := range carried() {
		busiest = max(busiest, v-quiet[i])
	}
	link := busiest * 0.25e-6 / took.Seconds() // of fastSwitch
	looks := w.metric("calib_watch_looks_total")
	share, cpu := w.metric("calib_watch_network_share"), w.metric("calib_watch_cpu_share")
	gap, next := w.metric("calib_watch_longest_gap_seconds"), w.metric("calib_watch_next_look_seconds")
	used := cpuTime(t, w.c.Process.Pid) / took.Seconds()
	w.stop(syscall.SIGTERM)
	done := fmt.Sprintf("a watch of %v, %.0f looks: ", took.Round(time.Minute), looks)
	first, last := stats.Median(sizes[:1+len(sizes)/4]), stats.Median(sizes[len(sizes)*3/4:])
	p.row(t, last < 100 && last <= memoryGrows*first, done+"memory of the coordinator",
		fmt.Sprintf("below 100 MiB, and in the last quarter at most %g times that in the first", memoryGrows),
		fmt.Sprintf("%.0f MiB in the first quarter, %.0f in the last", first, last))
	p.row(t, share <= 0.001 && cpu <= 0.001, done+"share of the time of a link, and of a processor, by its own account",
		"at most 0.1% each", fmt.Sprintf("%.3f%% and %.3f%%", 100*share, 100*cpu))
	p.row(t, link <= 0.001, done+"bytes of the busiest link, by the kernel", "at most 0.1% of its rate",
		fmt.Sprintf("%.3f%%", 100*link))
	p.row(t, used <= 0.009, done+"processor time of the coordinator and eight agents, by the kernel",
		"at most 0.1% for each of nine", fmt.Sprintf("%.3f%% in all", 100*used))
	p.row(t, gap < 3600, done+"longest time between looks at a pair, and from the last look to the next", "is known",
		fmt.Sprintf("%.0f s, %.0f s", gap, next))
	events := w.since(begun)
	for _, e := range events {
		t.Logf("%v %s: %s", e.At, e.Kind, e.Text)
	}
	p.row(t, len(events) == 0, fmt.Sprintf("nothing is wrong, for %v", time.Since(begun).Round(time.Minute)), "no event",
		fmt.Sprintf("%d events", len(events)))
	p.save(t)
}

// cpuTime is what a process and its children that have ended have used [s].
func cpuTime(t *testing.T, pid int) float64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), ") ")
	ticks := 0.0
	for _, f := range strings.Fields(after)[11:15] { // utime, stime, cutime, cstime
		v, _ := strconv.ParseFloat(f, 64)
		ticks += v
	}
	return ticks / 100
}

// TestWatchFaults holds a watch on eight emulated hosts against faults.
func TestWatchFaults(t *testing.T) {
	w := watchedLab(t, "watchf", watchFaulty)
	p := &table{name: "watch-faults", header: watchHeader}
	w.flags = strings.Fields(watchFast)
	small := filepath.Join(filepath.Dir(w.store), "small") // a disk of its own
	shell(t, "mkdir "+small+" && mount -t tmpfs -o size=4m none "+small)
	t.Cleanup(func() { _, _ = output(context.Background(), "umount", "-l", small) })
	hosts := w.store + ".hosts"
	w.store = filepath.Join(small, "f.db")
	shell(t, "cp "+hosts+" "+w.store+".hosts")
	looks := func() int { return int(w.metric("calib_watch_looks_total")) }
	ended := func(p time.Duration, ok bool) string {
		if !ok {
			return "not within " + p.String()
		}
		return "after " + p.Round(time.Second).String()
	}
	begun := time.Now()
	w.start()
	for time.Since(begun) < 6*time.Minute && interrupted.Err() == nil {
		time.Sleep(time.Second)
	}
	p.row(t, len(w.since(begun)) == 0 && looks() > 20, "nothing, for 6 minutes", "no event",
		fmt.Sprintf("%d events in %d looks", len(w.since(begun)), looks()))

	// try disturbs the lab, for a while, waits for what is to be said of it, mends the lab, and waits for that too.
	try := func(name, disturb, mend, text string) {
		t.Helper()
		from := time.Now()
		shell(t, disturb)
		took, found := w.until(from, "slower", text, 10*time.Minute)
		time.Sleep(time.Until(from.Add(faultLasts)))
		mended := time.Now()
		shell(t, mend)
		over, gone := time.Duration(0), false
		if found {
			over, gone = w.until(mended, "over", text, 10*time.Minute)
		}
		others := 0
		for _, e := range w.since(from) {
			if !strings.Contains(e.Text, text) {
				t.Logf("%s: %s %s", name, e.Kind, e.Text)
				others++
			}
		}
		p.row(t, found && gone && others == 0, name, "“"+text+"”, and its end",
			fmt.Sprintf("%s; its end %s; %d other events", ended(took, found), ended(over, gone), others))
		time.Sleep(time.Minute)
	}
	h := func(k int) string { return fmt.Sprintf("%s-h%d", w.lab, k) }
	try("host 5 sends at 24 of 32 Mbit/s",
		"tc -n "+h(5)+" qdisc add dev calib0 root tbf rate 24mbit burst 1600 latency 100ms",
		"tc -n "+h(5)+" qdisc del dev calib0 root", "host "+h(5)+": a byte in sending")
	// A rule leaves the routes, which a link that goes down takes with it.
	down := func(k int) string { return "ip -n " + h(k) + " rule add pref 1 blackhole" }
	up := func(k int) string { return "ip -n " + h(k) + " rule del pref 1" }
	try("host 3 is cut off for two minutes", down(3), up(3), "host "+h(3)+": nothing comes through")
	var cut, mend []string
	for k := range 8 {
		cut, mend = append(cut, down(k)), append(mend, up(k))
	}
	try("all hosts are cut off for two minutes", strings.Join(cut, "; "), strings.Join(mend, "; "),
		"the network: nothing comes through")

	from := time.Now()
	before := looks()
	w.stop(syscall.SIGKILL)
	w.start()
	time.Sleep(2 * time.Minute)
	n, _ := strconv.Atoi(strings.TrimSpace(shell(t, "sqlite3 "+w.store+" 'select count(*) from looks'")))
	p.row(t, n > before && len(w.since(from)) == 0, "kill -9 of the watch, and a start", "it goes on; no event",
		fmt.Sprintf("%d looks before, %d stored after two minutes, %d events", before, n, len(w.since(from))))

	from = time.Now()
	killed := 0
	for time.Since(from) < 2*time.Minute && killed == 0 {
		kill := fmt.Sprintf("p=$(pgrep -P %d) && [ $(echo $p | wc -w) = 8 ] && kill -9 $p && echo $p", w.c.Process.Pid)
		out, _ := output(interrupted, "sh", "-c", kill)
		killed = len(strings.Fields(out))
	}
	time.Sleep(2 * time.Minute)
	alarms := slices.DeleteFunc(w.since(from), func(e watchEvent) bool { return e.Kind == "trouble" })
	p.row(t, killed == 8 && len(alarms) == 0, "kill -9 of all eight agents in a look",
		"no change; that no host can be looked at may be said", fmt.Sprintf("%d killed, %d changes", killed, len(alarms)))

	from = time.Now()
	stored := func() string {
		return strings.TrimSpace(shell(t, "sqlite3 "+w.store+" 'select count(*), max(key) from looks'"))
	}
	shell(t, "dd if=/dev/zero of="+small+"/full bs=64k 2>/dev/null || true")
	trouble, full := w.until(from, "trouble", "cannot be stored", 3*time.Minute)
	time.Sleep(time.Minute)
	shell(t, "rm "+small+"/full")
	again, ok := w.until(from, "trouble", "is stored again", 6*time.Minute)
	w.stop(syscall.SIGTERM)
	count, last, _ := strings.Cut(stored(), "|")
	p.row(t, full && ok && count == last, "the disk is full for minutes", "it says so; nothing is lost",
		fmt.Sprintf("said %s, stored again %s; %s looks, the last is number %s", ended(trouble, full),
			ended(again, ok), count, last))

	shell(t, "dd if=/dev/urandom of="+w.store+" bs=1k seek=2 count=8 conv=notrunc 2>/dev/null")
	args := append(strings.Fields("watch --store "+w.store+" --hosts "+w.store+".hosts --for 1m"), inNamespaces...)
	text, err := exec.Command(w.calib, args...).CombinedOutput()
	said := strings.TrimSpace(string(text))
	p.row(t, err != nil && strings.Contains(said, "damaged"), "the store is damaged", "a clear error",
		said[strings.LastIndex(said, "\n")+1:])
	p.save(t)
}
