package harness

import (
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"calib/bench/pattern"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/stats"
	"calib/internal/units"
	"calib/params"
)

// simulated exports the run's platform, lets SimGrid run a ping-pong and a broadcast on it, and compares their times
// [s], by size [B], with the measured.
func simulated(t *testing.T, r run) (out []line) {
	platform := must(output(interrupted, r.calib, "export", "--to", "simgrid", r.dir))
	var hosts []string
	for _, m := range regexp.MustCompile(`<host id="([^"]+)"`).FindAllStringSubmatch(platform, -1) {
		hosts = append(hosts, m[1])
	}
	work := t.TempDir()
	platformFile := put(t, work, "platform.xml", platform)
	hostFile := put(t, work, "hosts.txt", strings.Join(hosts, "\n")+"\n")
	pingpongs, samples := map[int]float64{}, must(dataset.ReadFile(filepath.Join(r.dir, "samples.jsonl"))).Samples
	for _, f := range r.p.Fits {
		for _, s := range f.Of(params.Time) {
			for _, point := range s.Points {
				pingpongs[int(point.X)] = point.Measured
			}
		}
	}
	for _, c := range []struct {
		program, label string
		hosts          int
		measured       map[int]float64
	}{
		{"pingpong", "ping-pong, half round trip", 2, pingpongs},
		{"bcast", fmt.Sprintf("broadcast, %d hosts", len(hosts)), len(hosts), broadcasts(samples, len(hosts))},
	} {
		binary := filepath.Join(work, c.program)
		must(output(interrupted, "smpicc", "-O2", filepath.Join("examples", "smpi", c.program+".c"), "-o", binary))
		args := []string{"smpirun", "-np", strconv.Itoa(c.hosts), "-platform", platformFile,
			"-hostfile", hostFile, "--cfg=smpi/simulate-computation:no", "--cfg=smpi/wtime:0",
			"--log=root.thres:warning", binary}
		for _, x := range slices.Sorted(maps.Keys(c.measured)) {
			args = append(args, strconv.Itoa(x))
		}
		times := map[int]float64{}
		for l := range strings.Lines(must(output(interrupted, args...))) {
			var x int
			var s float64
			must(fmt.Sscan(l, &x, &s))
			times[x] = s
		}
		out = append(out, judged(c.label, c.measured, times)...)
	}
	return out
}

// broadcasts are the medians over rounds of the medians of a round, of the binomial broadcasts over all hosts.
func broadcasts(samples []dataset.Sample, hosts int) map[int]float64 {
	type key struct{ bytes, round int }
	binomial := must(pattern.Find("bcast", "binomial")).ID
	rounds, medians, out := map[key][]float64{}, map[int][]float64{}, map[int]float64{}
	for _, s := range samples {
		whole := int(s.Point[names.FactorHosts]) == hosts
		if whole && s.Phase == names.PhasePattern && s.Point[names.FactorPattern] == binomial && len(s.NS) > 0 {
			k := key{int(s.Point[names.FactorBytes]), s.Round}
			rounds[k] = append(rounds[k], stats.Median(stats.Floats(s.NS)))
		}
	}
	for k, v := range rounds {
		medians[k.bytes] = append(medians[k.bytes], stats.Median(v))
	}
	for x, v := range medians {
		out[x] = stats.Median(v) * 1e-9
	}
	return out
}

// judged compares the times of one program, and their errors relative to the measured times with what is allowed.
func judged(label string, measured, simulated map[int]float64) (out []line) {
	const mean, worst = 0.05, 0.10
	var errs []float64
	for _, x := range slices.Sorted(maps.Keys(measured)) {
		e := simulated[x]/measured[x] - 1
		errs = append(errs, math.Abs(e))
		out = append(out, line{cells: []string{label, strconv.Itoa(x), units.Format(measured[x], "s"),
			units.Format(simulated[x], "s"), fmt.Sprintf("%+.1f%%", 100*e)}})
	}
	l := line{cells: []string{label, "all", "", "", "nothing measured"}, verdict: outside}
	if len(errs) > 0 {
		l.cells[4] = fmt.Sprintf("mean %.1f%%, worst %.1f%%", 100*stats.Mean(errs), 100*slices.Max(errs))
		if stats.Mean(errs) <= mean && slices.Max(errs) <= worst {
			l.verdict = good
		}
	}
	return append(out, l)
}

func TestBroadcasts(t *testing.T) {
	sample := func(hosts int64, round int, ns ...int64) dataset.Sample {
		point := dataset.Point{"bytes": 64, "hosts": hosts, "pattern": 4}
		return dataset.Sample{Exp: "pattern", Phase: "pattern", Point: point, Round: round, NS: ns}
	}
	got := broadcasts([]dataset.Sample{sample(8, 0, 1000, 3000, 9000), sample(8, 1, 5000), sample(8, 2, 70000, 70000),
		sample(4, 2, 1)}, 8)
	if len(got) != 1 || math.Abs(got[64]-5e-6) > 1e-15 {
		t.Errorf("%v: want 5 µs for 64 B", got)
	}
}

func TestJudged(t *testing.T) {
	measured := map[int]float64{1: 1, 2: 1, 3: 1}
	for _, c := range []struct {
		got map[int]float64
		ok  bool
	}{
		{map[int]float64{1: 1, 2: 0.96, 3: 1.09}, true}, {map[int]float64{1: 1, 2: 1, 3: 1.11}, false},
		{map[int]float64{1: 1.06, 2: 0.94, 3: 1.06}, false}, {map[int]float64{1: 1, 2: 1}, false},
	} {
		if lines := judged("test", measured, c.got); lines[len(lines)-1].fails() == c.ok {
			t.Errorf("%v: %v, want ok %t", c.got, lines, c.ok)
		}
	}
}
