package harness

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"calib/internal/stats"
	"calib/internal/units"
	"calib/params"
)

const benchHeader = "beside | where | number | calib | the other | ratio | least to most | turns | bar"

// rival is a program that calib is compared with.
type rival struct {
	name, program string
	flags         string // of calib run
	numbers       []comparison
	oneCPU        bool // measured with both ends on one CPU only: with two, waking an idle one is most of a ping-pong
	wired         bool // measured on the veth pair only
	measure       func(context.Context, *contest) (map[string]float64, error)
}

// comparison is a number of calib's and one of the other program's, which is calib's own where that has none of the
// name; and what the ratio may be, if it may not be anything.
type comparison struct {
	ours, theirs string
	bar          float64
}

// rivals are those of make bench.
func rivals() []rival {
	const (
		pingpong = "--only pingpong --sizes "
		// netpipe are NPtcp's own sizes without perturbation, so that both fit the same points.
		netpipe = "1,2,3,4,6,8,12,16,24,32,48,64,96,128,192,256,384,512,768,1024,1536,2048,3072,4096,6144,8192,12288," +
			"16384,24576,32768,49152,65536,98304,131072,196608,262144"
	)
	fitted := []comparison{{"alpha", "alpha", 0}, {"beta", "beta", 0}, {"T(64 B)", "T(64 B)", 0}}
	out := []rival{
		{name: "C", program: "cc", flags: pingpong + "1,64,1024,16384 --congestion cubic", measure: inC,
			numbers: []comparison{{"T(64 B)", "T(64 B)", 1.05}, {"T(16384 B)", "T(16384 B)", 1.05}}},
		{name: "NPtcp, imported", program: "NPtcp", flags: pingpong + netpipe, numbers: fitted, oneCPU: true, wired: true,
			measure: importNPtcp},
		{name: "sockperf, imported", program: "sockperf", flags: pingpong + sockperfSizes, numbers: fitted, oneCPU: true,
			wired: true, measure: importSockperf},
		{name: "iperf3, imported", program: "iperf3", flags: "--only paired", wired: true, measure: importIperf3,
			numbers: []comparison{{"b_prime", "b_prime", 0}}},
	}
	for _, control := range []string{"cubic", "bbr"} {
		out = append(out, rival{name: "iperf3, " + control, program: "iperf3",
			flags:   "--only paired,pingpong --sizes 1,64,1024,4MiB,6MiB,8MiB --budget 12s --congestion " + control,
			numbers: []comparison{{"b_prime", "b_prime", 1.05}, {"b_prime", "b_prime_limits", 1.10}},
			measure: func(ctx context.Context, c *contest) (map[string]float64, error) {
				return inIperf3(ctx, c, control)
			}})
	}
	return out
}

// end is where one end of a pair of processes runs: a namespace, empty for this one, an address and a CPU.
type end struct {
	netns, addr string
	cpu         int // below 0 it is the scheduler's to choose
}

// command is a command line of that end.
func (e end) command(args ...string) []string {
	if e.netns == "" {
		return args
	}
	return append([]string{"ip", "netns", "exec", e.netns}, args...)
}

// onCPU is one that is bound to the end's CPU.
func (e end) onCPU(args ...string) []string {
	if e.cpu < 0 {
		return e.command(args...)
	}
	return e.command(append([]string{"taskset", "-c", strconv.Itoa(e.cpu)}, args...)...)
}

// wire makes two namespaces joined by a veth pair, for the time of t, and moves the CPUs that receive packets to those
// of the ends. Without that a veth hands each packet to the CPU that sent it: data and acknowledgements overtake each
// other, and all programs measure reordering.
func wire(t *testing.T, from, to *end) {
	t.Helper()
	*from = end{fmt.Sprintf("harness-%d-a", os.Getpid()), "10.199.77.1", from.cpu}
	*to = end{fmt.Sprintf("harness-%d-b", os.Getpid()), "10.199.77.2", to.cpu}
	addNamespaces(t, from.netns, to.netns)
	pair := "ip link add veth0 netns " + from.netns + " type veth peer name veth0 netns " + to.netns
	steps := [][]string{strings.Fields(pair)}
	for _, e := range []*end{from, to} {
		steps = append(steps, strings.Fields("ip -n "+e.netns+" addr add "+e.addr+"/24 dev veth0"),
			strings.Fields("ip -n "+e.netns+" link set veth0 up"))
		if e.cpu >= 0 {
			steps = append(steps,
				e.command("sh", "-c", fmt.Sprintf("echo %x >/sys/class/net/veth0/queues/rx-0/rps_cpus", 1<<e.cpu)))
		}
	}
	for _, step := range steps {
		ran(t, step...)
	}
}

// contest is calib and a rival on one path.
type contest struct {
	rival
	from, to   end
	dir, calib string
	all        [][2]map[string]float64 // of each turn: calib's numbers and the rival's
}

// side is one that measures: it returns its numbers. A seed is that of the turn.
type side func(ctx context.Context, seed int) (map[string]float64, error)

// play measures so many turns of calib and of others, each for that long at most. Every other one begins with the
// others.
func (c *contest) play(t *testing.T, turns int, longest time.Duration, own, others side) {
	t.Helper()
	sides := []side{own, others}
	for i := range turns {
		var numbers [2]map[string]float64
		for k := range sides {
			side := (i + k) % 2
			ctx, cancel := context.WithTimeout(interrupted, longest)
			var err error
			numbers[side], err = sides[side](ctx, i+1)
			cancel()
			if err != nil {
				t.Fatal(err)
			}
		}
		c.all = append(c.all, numbers)
	}
}

// other measures the path by the rival.
func (c *contest) other(ctx context.Context, _ int) (map[string]float64, error) {
	return c.measure(ctx, c)
}

// own calibrates the path with the quick plan, as a user does. A run that lost segments may lack a number, and is made
// again.
func (c *contest) own(ctx context.Context, seed int) (map[string]float64, error) {
	const tries, step = 3, 1000 // of seeds
	lacks := ""
	for try := range tries {
		p, err := c.calibrated(ctx, seed+try*step)
		if err != nil {
			return nil, err
		}
		n := numbersOf(p)
		i := slices.IndexFunc(c.numbers, func(w comparison) bool { return n[w.ours] == 0 })
		if i < 0 {
			return n, nil
		}
		lacks = c.numbers[i].ours
	}
	return nil, fmt.Errorf("calib's runs have no %s", lacks)
}

// calibrated calibrates the path with the quick plan.
func (c *contest) calibrated(ctx context.Context, seed int) (*params.Params, error) {
	list, out := filepath.Join(c.dir, "hosts.txt"), filepath.Join(c.dir, "run")
	hosts, launch := [2]string{"from", "to"}, "env HOST={host}"
	if c.from.netns != "" {
		hosts, launch = [2]string{c.from.netns, c.to.netns}, inNamespaces[1]
	}
	text := ""
	for i, e := range []end{c.from, c.to} {
		cpu := "none"
		if e.cpu >= 0 {
			cpu = strconv.Itoa(e.cpu)
		}
		text += fmt.Sprintf("%s addr=%s cpu=%s\n", hosts[i], e.addr, cpu)
	}
	if err := os.WriteFile(list, []byte(text), 0o600); err != nil {
		return nil, err
	}
	return fitted(ctx, out, slices.Concat([]string{c.calib, "run", "--hosts", list, "--launch", launch, "--plan", "quick",
		"--seed", strconv.Itoa(seed), "--out", out, "--quiet", "--yes"}, strings.Fields(c.flags))...)
}

// fitted runs a command of calib that makes a run, and returns its parameters.
func fitted(ctx context.Context, dir string, args ...string) (*params.Params, error) {
	if err := os.RemoveAll(dir); err != nil {
		return nil, err
	}
	if _, err := output(ctx, args...); err != nil {
		return nil, err
	}
	return params.Load(filepath.Join(dir, "params.json"))
}

// numbersOf are the numbers of a run, whether they may be used or not: times and parameters.
func numbersOf(p *params.Params) map[string]float64 {
	out := map[string]float64{}
	for _, name := range []string{"alpha", "beta", "b_prime", "b_prime_limits"} {
		if e := estimateOf(p, name); e.has {
			out[name] = e.value
		}
	}
	for _, f := range p.Fits {
		if f.Model == "hockney" {
			for _, r := range f.Named("T(x)").Points {
				out[fmt.Sprintf("T(%.0f B)", r.X)] = r.Measured
			}
		}
	}
	return out
}

// imported are the numbers of another program's output files, as calib import fits them.
func (c *contest) imported(ctx context.Context, from string, args ...string) (map[string]float64, error) {
	out := filepath.Join(c.dir, "imported")
	args = append([]string{c.calib, "import", "--from", from, "--out", out, "--quiet"}, args...)
	p, err := fitted(ctx, out, args...)
	if err != nil {
		return nil, err
	}
	return numbersOf(p), nil
}

// rows adds what was compared to the page, and fails where a median of ratios is above its bar.
func (c *contest) rows(t *testing.T, p *table, path string) {
	t.Helper()
	where := fmt.Sprintf("%s, CPUs %d and %d", path, c.from.cpu, c.to.cpu)
	for _, w := range c.numbers {
		var ours, theirs, ratios []float64
		for _, n := range c.all {
			a, b := n[0][w.ours], n[1][w.theirs]
			if b == 0 {
				b = n[0][w.theirs]
			}
			ours, theirs, ratios = append(ours, a), append(theirs, b), append(ratios, a/b)
		}
		number, unit, bar := w.ours, "s/B", ""
		if w.theirs != w.ours {
			number += " / " + w.theirs
		}
		if w.ours == "alpha" || strings.HasPrefix(w.ours, "T(") {
			unit = "s"
		}
		ratio := stats.Median(ratios)
		if w.bar > 0 && (c.name != "C" || c.from.cpu == c.to.cpu) {
			bar = fmt.Sprintf("≤ %.2f: met", w.bar)
			if ratio > w.bar {
				bar = fmt.Sprintf("≤ %.2f: **missed**", w.bar)
				t.Errorf("%s beside %s, %s: %.3f, want at most %.2f", number, c.name, where, ratio, w.bar)
			}
		}
		p.add(t, fmt.Sprintf("| %s | %s | %s | %s | %s | %.3f | %.3f to %.3f | %d | %s |", c.name, where, number,
			units.Format(stats.Median(ours), unit), units.Format(stats.Median(theirs), unit), ratio, slices.Min(ratios),
			slices.Max(ratios), len(ratios), bar))
	}
}

// inC runs the ping-pong loop in C, with calib's receive timeout.
func inC(ctx context.Context, c *contest) (map[string]float64, error) {
	const rounds, timeout = "8000", "10000" // ms
	program, out := filepath.Join(c.dir, "pingpong"), map[string]float64{}
	if _, err := output(ctx, "cc", "-O2", "-o", program, "transport/testdata/pingpong.c"); err != nil {
		return nil, err
	}
	for _, size := range []string{"64", "16384"} {
		args := []string{program, size, rounds, strconv.Itoa(c.from.cpu), timeout, "cubic", strconv.Itoa(c.to.cpu)}
		if c.to.netns != "" {
			args = append(args, "/run/netns/"+c.to.netns, c.to.addr)
		}
		text, err := output(ctx, c.from.command(args...)...)
		if err != nil {
			return nil, err
		}
		ns, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil {
			return nil, err
		}
		out["T("+size+" B)"] = ns * 1e-9
	}
	return out, nil
}

func importNPtcp(ctx context.Context, c *contest) (map[string]float64, error) {
	file := filepath.Join(c.dir, "np.out")
	server := []string{"NPtcp", "-u", "262144", "-p", "0"}
	client := append(slices.Clone(server), "-h", c.to.addr, "-o", file)
	if _, err := c.clientServer(ctx, server, "Send and receive buffers", client); err != nil {
		return nil, err
	}
	return c.imported(ctx, "netpipe", file)
}

const sockperfSizes = "64,1024,4096,16384,49152"

func importSockperf(ctx context.Context, c *contest) (map[string]float64, error) {
	args := []string{"--bytes", sockperfSizes}
	for size := range strings.SplitSeq(sockperfSizes, ",") {
		file, err := c.sockperf(ctx, size, "1")
		if err != nil {
			return nil, err
		}
		args = append(args, file)
	}
	return c.imported(ctx, "sockperf", args...)
}

// sockperf plays ping-pong with messages of a size [B] for some seconds, and returns the file of its full log.
func (c *contest) sockperf(ctx context.Context, size, seconds string) (file string, err error) {
	file = filepath.Join(c.dir, "sockperf-"+size+".csv")
	at := []string{"--tcp", "-i", c.to.addr, "-p", "11199"}
	server := append([]string{"sockperf", "server"}, at...)
	client := slices.Concat([]string{"sockperf", "ping-pong"}, at, []string{"-m", size, "-t", seconds, "--full-log", file})
	_, err = c.clientServer(ctx, server, "using recvfrom", client)
	return file, err
}

func importIperf3(ctx context.Context, c *contest) (map[string]float64, error) {
	text, err := c.iperf3(ctx, "-i", "0.5", "-t", "3") // the last -t counts
	if err != nil {
		return nil, err
	}
	file := filepath.Join(c.dir, "iperf.json")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return nil, err
	}
	return c.imported(ctx, "iperf3", file)
}

// inIperf3 is the mean time per byte of a run in each direction, as b_prime is.
func inIperf3(ctx context.Context, c *contest, control string) (map[string]float64, error) {
	sum := 0.0
	for _, direction := range []string{"", " -R"} {
		text, err := c.iperf3(ctx, strings.Fields("-C "+control+direction)...)
		if err != nil {
			return nil, err
		}
		rate, err := received(text)
		if err != nil {
			return nil, err
		}
		sum += 8 / rate
	}
	return map[string]float64{"b_prime": sum / 2}, nil
}

// received is the rate in a report of iperf3 in JSON, as the receiver has it [bit/s].
func received(text string) (float64, error) {
	var report struct {
		End struct {
			Received struct {
				BPS float64 `json:"bits_per_second"`
			} `json:"sum_received"`
		} `json:"end"`
	}
	err := json.Unmarshal([]byte(text), &report)
	if err == nil && report.End.Received.BPS <= 0 {
		err = errors.New("iperf3 reports no throughput")
	}
	return report.End.Received.BPS, err
}

// iperf3 runs a stream with writes of 128 KiB for a second, and returns its report in JSON.
func (c *contest) iperf3(ctx context.Context, args ...string) (string, error) {
	at := []string{"-p", "5201"}
	server := append([]string{"iperf3", "-s", "-1", "--forceflush", "-B", c.to.addr}, at...)
	client := slices.Concat([]string{"iperf3", "-J", "-c", c.to.addr, "-l", "131072", "-O", "0.3", "-t", "1"}, at, args)
	return c.clientServer(ctx, server, "Server listening", client)
}

// clientServer starts a server at one end, waits until it has printed ready, runs the client at the other to its end
// and returns what that printed. The server is then stopped, if it does not end by itself.
func (c *contest) clientServer(ctx context.Context, server []string, ready string, client []string) (string, error) {
	const tries, pause = 5, 200 * time.Millisecond
	serving, stop := context.WithCancel(ctx)
	defer stop()
	s := command(serving, c.to.onCPU(server...)...)
	s.WaitDelay = 2 * time.Second
	r, w, err := os.Pipe()
	if err != nil {
		return "", err
	}
	defer r.Close()
	s.Stdout, s.Stderr = w, w
	err = s.Start()
	w.Close()
	if err != nil {
		return "", err
	}
	if err := waitFor(r, ready); err != nil {
		stop()
		return "", errors.Join(fmt.Errorf("%s: %w", server[0], err), s.Wait())
	}
	out, err := output(ctx, c.from.onCPU(client...)...)
	for try := 1; err != nil && try < tries && ctx.Err() == nil; try++ {
		time.Sleep(pause) // some servers print that they are ready before they listen
		out, err = output(ctx, c.from.onCPU(client...)...)
	}
	stop()
	_ = s.Wait() // it was stopped: its exit code means nothing
	return out, err
}

// waitFor reads until a line holds text; what follows is read and thrown away, so that the writer does not block.
func waitFor(r io.Reader, text string) error {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		if strings.Contains(lines.Text(), text) {
			go io.Copy(io.Discard, r)
			return nil
		}
	}
	return fmt.Errorf("it ended before it printed %q", text)
}

func TestWaitFor(t *testing.T) {
	if err := waitFor(strings.NewReader("one\ntwo is ready\nthree\n"), "ready"); err != nil {
		t.Error(err)
	}
	if err := waitFor(strings.NewReader("one\n"), "ready"); err == nil {
		t.Error("a server that ended is not ready")
	}
}

// The ratio is that of each turn; a number that the rival lacks is calib's own.
func TestContestRows(t *testing.T) {
	c := &contest{rival: rival{name: "test"}}
	c.numbers = []comparison{{"b_prime", "b_prime", 1.05}, {"b_prime", "b_prime_limits", 9}}
	for _, v := range [][3]float64{{1e-9, 2e-9, 4e-9}, {9e-9, 9e-9, 3e-9}, {3e-9, 3e-9, 1e-9}} {
		c.all = append(c.all, [2]map[string]float64{{"b_prime": v[0], "b_prime_limits": v[2]}, {"b_prime": v[1]}})
	}
	p := &table{}
	c.rows(t, p, "nowhere")
	want := "| test | nowhere, CPUs 0 and 0 | b_prime | 3 ns/B | 3 ns/B | 1.000 | 0.500 to 1.000 | 3 | ≤ 1.05: met |"
	other := "| b_prime / b_prime_limits | 3 ns/B | 3 ns/B | 3.000 | 0.250 to 3.000 |"
	if p.rows[0] != want || !strings.Contains(p.rows[1], other) {
		t.Errorf("%q, want %q", p.rows, want)
	}
}
