package harness

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"calib/internal/netspec"
	"calib/params"
)

var (
	calibFlag = flag.String("calib", "", "the calib command; of several, with commas, each measures each case by turns")
	seedFlag  = flag.Int("seed", 1, "first seed of a suite")
	keepFlag  = flag.String("keep", "", "directory to keep the run directories in")
	refitFlag = flag.Bool("refit", false, "measure nothing: fit the runs that -keep has again")
	pagesFlag = flag.String("results", "docs/results", "folder of the pages of results")
	seedsFlag = flag.Int("seeds", 40, "quick runs of each network in virtual time; of standard half as many")
	turnsFlag = flag.Int("turns", 7, "turns of calib and of another program")
	hostsFlag = flag.String("hosts", "8,16,32,64,128,256,512,1000", "numbers of simulated hosts")
)

// interrupted ends at an interrupt, so that tests take down what they built.
var interrupted context.Context

// TestMain goes to the project's root, from which all paths here are.
func TestMain(m *testing.M) {
	if err := os.Chdir(".."); err != nil {
		log.Fatal(err)
	}
	var stop context.CancelFunc
	interrupted, stop = signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := m.Run()
	stop()
	os.Exit(code)
}

// command is a program that is interrupted when ctx ends, and has time to take down what it built.
func command(ctx context.Context, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, args[0], args[1:]...)
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	c.WaitDelay = time.Minute
	return c
}

// output runs a program to its end and returns what it printed. Its error holds the end of what it said.
func output(ctx context.Context, args ...string) (string, error) {
	c := command(ctx, args...)
	var said bytes.Buffer
	c.Stderr = &said
	out, err := c.Output()
	if err != nil {
		return "", failed(c, err, append(out, said.Bytes()...))
	}
	return string(out), nil
}

// ran is what a program printed that ended well, as it must.
func ran(t *testing.T, args ...string) string {
	t.Helper()
	out, err := output(interrupted, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// put writes a file below a directory, and returns its path.
func put(t *testing.T, dir, name, text string) string {
	t.Helper()
	file := filepath.Join(dir, name)
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// must is v. Its panic becomes the failure of the test that called defer recovered.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func recovered(t *testing.T) {
	if err := recover(); err != nil {
		t.Fatal(err)
	}
}

// failed is the error of a program that ended with err and printed text.
func failed(c *exec.Cmd, err error, text []byte) error {
	const longest = 2000 // bytes
	return fmt.Errorf("%s: %w: %s", strings.Join(c.Args, " "), err, bytes.TrimSpace(text[max(0, len(text)-longest):]))
}

// builds are the calib commands to measure with; one is built where none is named.
func builds(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, name := range strings.FieldsFunc(*calibFlag, func(r rune) bool { return r == ',' }) {
		path, err := filepath.Abs(name)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, path)
	}
	if len(out) == 0 {
		out = []string{filepath.Join(t.TempDir(), "calib")}
		ran(t, "env", "CGO_ENABLED=0", "go", "build", "-o", out[0], "./cmd/calib")
	}
	return out
}

// build is the one calib that is measured.
func build(t *testing.T) string {
	t.Helper()
	all := builds(t)
	if len(all) > 1 {
		t.Fatalf("-calib %s: one build is measured here", *calibFlag)
	}
	return all[0]
}

// network is where calib measures.
type network struct {
	name string        // as a word
	arg  string        // as find knows it
	spec *netspec.Spec // what is true of it; nil where nothing is known
	// start builds it for the time of t, and gives the command line of calib run on it, to which flags are added.
	start func(t *testing.T, calib string) []string
}

// labName is the name of the lab: there is one at a time.
const labName = "harness"

// inNamespaces is how agents are started in namespaces.
var inNamespaces = []string{"--launch", "ip netns exec {host}"}

// find knows a network by its name: a preset or a lab file, maybe with a number of hosts (sparc1994:8), a kernel queue
// (tbf:BYTES, pfifo:PACKETS), medium:RATIO, a shared medium of 8 hosts with b = RATIO × b_c, or veth:HOSTS and
// loopback:HOSTS. With strict a run fails whose lab was late.
func find(t *testing.T, name string, strict bool) network {
	t.Helper()
	kind, value, _ := strings.Cut(name, ":")
	n := network{name: strings.TrimSuffix(path.Base(kind), ".yaml"), arg: name}
	if value != "" {
		n.name += "-" + value
	}
	hosts, err := strconv.Atoi(value)
	inLab := func(arg string, flags ...string) {
		if strict {
			flags = append(flags, "--strict")
		}
		n.start = func(_ *testing.T, calib string) []string {
			return slices.Concat([]string{calib, "lab", "run", "--name", labName}, flags,
				[]string{arg, "--", calib, "run", "--hosts", "{hosts}"}, inNamespaces)
		}
	}
	switch {
	case kind == "loopback" && err == nil:
		n.start = func(_ *testing.T, calib string) []string { return []string{calib, "run", "--local", value} }
	case kind == "veth" && err == nil:
		n.start = func(t *testing.T, calib string) []string { return bridged(t, calib, hosts) }
	case kind == "tbf" && err == nil, kind == "pfifo" && err == nil:
		n.spec, n.start = kernelQueue(n.name, kind, hosts)
	case kind == "medium":
		ratio, err := strconv.ParseFloat(value, 64)
		if err != nil {
			t.Fatal(err)
		}
		file := medium(t, ratio)
		inLab(file)
		n.spec = resolve(t, file)
	default:
		inLab(name)
		n.spec = resolve(t, name)
	}
	return n
}

func resolve(t *testing.T, arg string) *netspec.Spec {
	t.Helper()
	spec, err := netspec.Resolve(arg)
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

// medium writes the description of a shared medium of 8 hosts whose b is some times its b_c. A fast host has a smaller
// a as well: a packet cannot cost less than its fixed time.
func medium(t *testing.T, ratio float64) string {
	t.Helper()
	text := fmt.Sprintf("name: medium-%g\nhosts: 8\nmode: shared\nmss: 1448\nhost: {a: %g, b: %g}\n"+
		"medium: {a: 346e-6, b: 0.92e-6}\n", ratio, min(1, ratio)*860e-6, ratio*0.92e-6)
	return put(t, t.TempDir(), "medium.yaml", text)
}

// bridges counts those of a test: builds that alternate have one each.
var bridges atomic.Int32

// bridged joins a namespace for each host by a bridge in one more, for the time of t, and runs the steps, in which
// BRIDGE stands for the bridge's namespace: its ports are p0, p1 and so on.
func bridged(t *testing.T, calib string, hosts int, steps ...string) []string {
	t.Helper()
	bridge := fmt.Sprintf("harness-%d-%d", os.Getpid(), bridges.Add(1))
	var list strings.Builder
	all := []string{"ip -n BRIDGE link add br0 type bridge", "ip -n BRIDGE link set br0 up"}
	namespaces := []string{bridge}
	for i := range hosts {
		host := fmt.Sprintf("%s-h%d", bridge, i)
		namespaces = append(namespaces, host)
		all = append(all, "ip -n "+host+" link set lo up",
			fmt.Sprintf("ip -n BRIDGE link add p%d type veth peer name eth0 netns %s", i, host),
			fmt.Sprintf("ip -n BRIDGE link set p%d master br0 up", i),
			fmt.Sprintf("ip -n %s addr add 10.56.0.%d/24 dev eth0", host, i+1), "ip -n "+host+" link set eth0 up")
		fmt.Fprintf(&list, "%s addr=10.56.0.%d\n", host, i+1)
	}
	addNamespaces(t, namespaces...)
	for _, step := range append(all, steps...) {
		ran(t, strings.Fields(strings.ReplaceAll(step, "BRIDGE", bridge))...)
	}
	file := put(t, t.TempDir(), "hosts.txt", list.String())
	return append([]string{calib, "run", "--hosts", file}, inNamespaces...)
}

// addNamespaces makes network namespaces for the time of t.
func addNamespaces(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		if _, err := output(interrupted, "ip", "netns", "add", name); err != nil {
			t.Fatalf("namespaces (needs root): %v", err)
		}
		t.Cleanup(func() {
			// After an interrupt, too.
			if _, err := output(context.Background(), "ip", "netns", "del", name); err != nil {
				t.Error(err)
			}
		})
	}
}

// run is a finished run.
type run struct {
	network network
	calib   string
	dir     string
	flags   []string
	told    string // progress, where it was asked for
	p       *params.Params
}

// A lab that was late is tried again so many times in all; lateExit is the exit code of calib lab run --strict then.
const (
	labTries = 3
	lateExit = 5
)

// calibrate runs calib on a network, into dir. A run whose lab was late never counts. With partial one does that did
// not end well.
func calibrate(t *testing.T, calib string, n network, dir string, partial bool, flags ...string) run {
	t.Helper()
	r := run{network: n, calib: calib, dir: dir, flags: flags}
	if *refitFlag {
		ran(t, calib, "fit", dir)
		return r.read(t)
	}
	args := slices.Concat(n.start(t, calib), []string{"--out", dir, "--yes", "--json"}, flags)
	for try := 1; ; try++ {
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		c := command(interrupted, args...)
		var said bytes.Buffer
		c.Stderr = &said
		out, err := c.Output()
		r.told = said.String()
		var exit *exec.ExitError
		switch late := errors.As(err, &exit) && exit.ExitCode() == lateExit && !partial; {
		case err == nil:
			return r.read(t)
		case late && try < labTries && interrupted.Err() == nil:
			t.Logf("%s: the lab was late, try %d", n.name, try)
		case exit != nil && partial:
			// A short budget may leave a run partial, or without any parameter.
			if _, lacking := os.Stat(filepath.Join(dir, "params.json")); lacking != nil {
				t.Log(failed(c, err, append(out, said.Bytes()...)))
				r.p = &params.Params{}
				return r
			}
			return r.read(t)
		default:
			t.Fatal(failed(c, err, append(out, said.Bytes()...)))
		}
	}
}

// read reads the run's parameters.
func (r run) read(t *testing.T) run {
	t.Helper()
	var err error
	if r.p, err = params.Load(filepath.Join(r.dir, "params.json")); err != nil {
		t.Fatal(err)
	}
	return r
}

// place is where a run is kept: below -keep, or until t ends.
func place(t *testing.T, name string) string {
	t.Helper()
	if *keepFlag == "" {
		return filepath.Join(t.TempDir(), name)
	}
	if err := os.MkdirAll(*keepFlag, 0o755); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(*keepFlag, name)
}
