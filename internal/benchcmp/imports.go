package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/importer"
	"calib/internal/programs"
	"calib/internal/rundir"
)

// The sizes of the comparison of imports: NPtcp's own without perturbation, so that both fit the same points; sockperf's
// are some of them.
const (
	importSizes = "1,2,3,4,6,8,12,16,24,32,48,64,96,128,192,256,384,512,768,1024,1536,2048,3072,4096,6144,8192,12288,16384,24576,32768,49152,65536,98304,131072,196608,262144"
	importLimit = "262144"
	// streamWrite is the write of calib's streams on a fast path.
	streamWrite = "131072"
	// importRun bounds what one tool does in one round.
	importRun = 2 * time.Minute
)

var sockperfSizes = [...]int64{64, 1024, 4096, 16384, 49152}

// bothEnds is one path and what calib and the tools have measured of it so far.
type bothEnds struct {
	settings settings
	from, to side
	dir      string                        // of the files
	calib    string                        // the binary
	samples  *dataset.Dataset              // of calib's own runs
	outputs  map[string][]*dataset.Dataset // by format
	notes    map[string][]string
}

// imports compares calib's own run of a path with what NPtcp, sockperf and iperf3 print of it, imported and fitted by the
// same models: all over one veth pair, pinned to the same CPUs, in turn. Ping-pongs have both ends on one CPU: to wake an
// idle CPU would take longer than all the rest, and differs from run to run. Streams have one CPU for each end.
func imports(ctx context.Context, s settings) error {
	for _, tool := range []string{"NPtcp", "sockperf", "iperf3", "taskset"} {
		if !programs.Installed(tool) {
			return fmt.Errorf("%s is not installed", tool)
		}
	}
	dir, err := os.MkdirTemp("", "benchcmp")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b := &bothEnds{settings: s, dir: dir, calib: filepath.Join(dir, "calib"), outputs: map[string][]*dataset.Dataset{}, notes: map[string][]string{}}
	if s.calib != "" {
		b.calib = s.calib
	} else if err := programs.BuildCalib(ctx, b.calib); err != nil {
		return err
	}
	var remove func()
	if b.from, b.to, remove, err = wire(ctx); err != nil {
		return err
	}
	defer remove()
	rounds := max(1, (s.repeats+2)/3)
	for i := range rounds {
		for _, part := range []struct {
			cpu   int
			steps []func(context.Context, int) error
		}{
			{b.from.cpu, []func(context.Context, int) error{b.own(names.Pingpong), b.netpipe, b.sockperf}},
			{1 - b.from.cpu, []func(context.Context, int) error{b.own(names.Paired), b.iperf}},
		} {
			if err := b.place(ctx, part.cpu); err != nil {
				return err
			}
			if i%2 == 1 {
				slices.Reverse(part.steps)
			}
			for _, step := range part.steps {
				bounded, cancel := context.WithTimeout(ctx, importRun)
				err := step(bounded, i)
				cancel()
				if err != nil {
					return fmt.Errorf("round %d: %w", i, err)
				}
			}
		}
	}
	return b.table(rounds)
}

// place moves the server, and the CPU that receives its packets, to a CPU.
func (b *bothEnds) place(ctx context.Context, cpu int) error {
	b.to.cpu = cpu
	return steer(ctx, b.to)
}

// own measures an experiment with calib, and adds its samples as further rounds.
func (b *bothEnds) own(only string) func(context.Context, int) error {
	return func(ctx context.Context, i int) error { return b.ownRun(ctx, only, i) }
}

func (b *bothEnds) ownRun(ctx context.Context, only string, i int) error {
	var hosts strings.Builder
	for _, e := range []side{b.from, b.to} {
		fmt.Fprintf(&hosts, "%s addr=%s cpu=%d\n", e.prefix[len(e.prefix)-1], e.addr, e.cpu)
	}
	list, out := filepath.Join(b.dir, "hosts.txt"), filepath.Join(b.dir, fmt.Sprintf("own-%s-%d", only, i))
	if err := os.WriteFile(list, []byte(hosts.String()), 0o600); err != nil {
		return err
	}
	err := programs.Run(ctx, "", b.calib, "measure", "--hosts", list, "--launch", "ip netns exec {host}", "--plan", "quick",
		"--only", only, "--sizes", importSizes, "--seed", strconv.Itoa(i+1), "--out", out, "--quiet", "--yes")
	if err != nil {
		return err
	}
	d, err := dataset.ReadFile(filepath.Join(out, rundir.SamplesFile))
	if err != nil {
		return err
	}
	if b.samples == nil {
		b.samples = &dataset.Dataset{Header: d.Header}
	}
	b.samples.Samples = append(b.samples.Samples, later(d.Samples, b.samples.Samples)...)
	return nil
}

// later moves the rounds and slots of samples behind those of before.
func later(samples, before []dataset.Sample) []dataset.Sample {
	round, slot := 0, 0
	for i := range before {
		round, slot = max(round, before[i].Round+1), max(slot, before[i].Slot+1)
	}
	out := slices.Clone(samples)
	for i := range out {
		out[i].Round += round
		out[i].Slot += slot
	}
	return out
}

func (b *bothEnds) netpipe(ctx context.Context, i int) error {
	out := filepath.Join(b.dir, fmt.Sprintf("np-%d.out", i))
	if err := runNPtcp(ctx, b.from, b.to, out, "-u", importLimit, "-p", "0"); err != nil {
		return err
	}
	return b.take("netpipe", out, 0)
}

func (b *bothEnds) sockperf(ctx context.Context, i int) error {
	for _, size := range sockperfSizes {
		out := filepath.Join(b.dir, fmt.Sprintf("sockperf-%d-%d.csv", i, size))
		if _, err := runSockperf(ctx, b.from, b.to, strconv.FormatInt(size, 10), "--full-log", out); err != nil {
			return err
		}
		if err := b.take("sockperf", out, size); err != nil {
			return err
		}
	}
	return nil
}

func (b *bothEnds) iperf(ctx context.Context, i int) error {
	text, err := runIperf3(ctx, b.from, b.to, b.settings, streamWrite, "-i", "0.5")
	if err != nil {
		return err
	}
	out := filepath.Join(b.dir, fmt.Sprintf("iperf-%d.json", i))
	if err := os.WriteFile(out, []byte(text), 0o600); err != nil {
		return err
	}
	return b.take("iperf3", out, 0)
}

// take imports one output.
func (b *bothEnds) take(format, path string, size int64) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	d, notes, err := importer.Read(f, importer.Options{Format: format, File: filepath.Base(path), Bytes: size})
	if err != nil {
		return err
	}
	b.outputs[format] = append(b.outputs[format], d)
	for _, n := range notes {
		if !slices.Contains(b.notes[format], n) {
			b.notes[format] = append(b.notes[format], n)
		}
	}
	return nil
}
