package export

import (
	"strings"
	"testing"
)

// What the programs themselves printed for files that calib had exported: the rules of this package's tests are theirs.
// The files were of a simulated sparc1994 of eight hosts.

// TestDimemasPrinted: Dimemas 5.5.0 (bsc-performance-tools/dimemas 4ab509953d24), ten round trips, and pairs that start
// together.
func TestDimemasPrinted(t *testing.T) {
	const config = `#DIMEMAS_CONFIGURATION
"wide area network information" {"", 1, 0, 4, 0.0, 0.0, 1};;
"environment information" {"calib", 0, "", 8, 0.6558548785025935, 2, 3};;
"multi node information" {0, 8, "", 1, 1.0, 0.0, 0.0, 0, 1, 1, 0.0021212966428021942, 1, 1, 0.0};;
`
	d, err := readDimemas([]byte(config))
	if err != nil {
		t.Fatal(err)
	}
	for x, printed := range map[float64]float64{1: 0.042455015, 1024: 0.072205768, 65536: 1.948335366,
		1 << 20: 30.53697687} {
		if got := 20 * d.transfer(1, x); !within(got, printed, 20*nanosecond) { // each message is rounded
			t.Errorf("ten round trips of %g bytes take %.9f s, Dimemas printed %.9f", x, got, printed)
		}
	}
	for n, printed := range map[int]float64{1: 1.526848844, 2: 1.526848844, 3: 3.05157639, 4: 3.05157639} {
		if got := d.transfer(n, 1<<20); !within(got, printed, nanosecond) {
			t.Errorf("a message of each of %d pairs takes %.9f s, Dimemas printed %.9f", n, got, printed)
		}
	}
}

// TestAtlahsPrinted: the LogGOPSim of spcl/atlahs 8837294abf62, started by its scripts/run_simulator.py; one message,
// in ns.
func TestAtlahsPrinted(t *testing.T) {
	q, err := readAtlahs([]byte("L: 1205299\no: 51\ng: 861721\nG: 1420.573972876219\nO: 0\nS: 2147483647\n"))
	if err != nil {
		t.Fatal(err)
	}
	for s, printed := range map[int64]int64{1: 2067122, 1024: 3520369, 65536: 95164437, 1 << 20: 1491645475} {
		if got := q.tree(2, s, false)[1]; got != printed {
			t.Errorf("a message of %d bytes takes %d ns, ATLAHS printed %d", s, got, printed)
		}
	}
}

// TestAstraSimPrinted: the congestion-unaware backend of astra-sim/astra-network-analytical 599a0473a9a7; one chunk, in
// ns.
func TestAstraSimPrinted(t *testing.T) {
	a, err := readAstraSim([]byte("topology: [ Switch ]\nnpus_count: [ 8 ]\nbandwidth: [ 0.000640483279787689 ]\n" +
		"latency: [ 1060648.321401097 ]\n"))
	if err != nil {
		t.Fatal(err)
	}
	for x, printed := range map[float64]float64{1: 2122750, 1024: 3610288, 65536: 97416768, 1 << 20: 1526848843,
		1 << 32: 6245286153263} {
		if got := a.at(x); got != printed {
			t.Errorf("a chunk of %g bytes takes %.0f ns, ASTRA-sim printed %.0f", x, got, printed)
		}
	}
}

// TestMininetNames: mn --custom makes every global of the file one of its own, and looks up its kinds of hosts,
// switches and links in globals (bin/mn of Mininet 2.3.0).
func TestMininetNames(t *testing.T) {
	own := map[string]bool{
		"PLACEMENT": true, "TOPODEF": true, "TOPOS": true, "SWITCHDEF": true, "SWITCHES": true, "HOSTDEF": true,
		"HOSTS": true, "CONTROLLERDEF": true,
		"CONTROLLERS": true, "LINKDEF": true, "LINKS": true, "TESTS": true, "VERSION": true, "CLI": true,
	}
	file, _, err := lookup(t, "mininet").Export(fixture(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(string(file), "\n") {
		if name, _, found := strings.Cut(line, " = "); found && own[name] {
			t.Errorf("the script's %s becomes that of mn", name)
		}
	}
}
