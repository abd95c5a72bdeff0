package export

import (
	"compress/gzip"
	"math"
	"os"
	"strings"
	"testing"

	"calib/params"
)

// racks is a run on two racks whose hosts could send twice what the uplinks carry.
func racks(t *testing.T) *params.Params {
	t.Helper()
	f, err := os.Open("../../fit/models/testdata/racks/params.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	p, err := params.Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Messages within racks and between take what was measured, and what leaves a rack shares its uplink.
func TestSimGridRacks(t *testing.T) {
	p := racks(t)
	p.Parameters["packet"] = parameter(1448, "B", "cluster", "load")
	for name, block := range map[string][2]float64{"g_s": {400e-6, 0.6e-6}, "g_r": {200e-6, 0.35e-6}} {
		p.Functions[name] = fixture().Functions[name]
		setLine(p, name, block[0], block[1]-block[0]/1448)
	}
	platform := readSimGrid(t, p, 8)
	for i, to := range []string{"sim-h2", "sim-h1"} {
		for _, x := range []int{1, 1000, 60000} {
			want, err := p.Classes[i].Functions["T"].At(float64(x), 2, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := platform.time("sim-h0", to, x); err != nil || math.Abs(got/want-1) > 0.1 {
				t.Errorf("%s, %d B: %g s, measured %g: %v", p.Classes[i].Name, x, got, want, err)
			}
		}
	}
	if rate := platform.links["group-1-up"].bandwidth; math.Abs(rate/(1/0.3e-6)-1) > 0.02 {
		t.Errorf("uplink of %g B/s", rate)
	}
}

func TestSlurmTopology(t *testing.T) {
	target, err := Lookup("slurm")
	if err != nil {
		t.Fatal(err)
	}
	file, _, err := target.Export(racks(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	const want = "SwitchName=group1 Nodes=sim-h[0,2,4,6]\nSwitchName=group2 Nodes=sim-h[1,3,5,7]\n" +
		"SwitchName=core Switches=group[1-2]\n"
	if !strings.HasSuffix(string(file), want) {
		t.Errorf("%s", file)
	}
}

// A lab of the run has a link between the racks, with the times of the network that was measured.
func TestLabRacks(t *testing.T) {
	target, _ := Lookup("lab")
	file, _, err := target.Export(racks(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s", file)
	if !strings.Contains(string(file), "between: [[0, 2, 4, 6], [1, 3, 5, 7]]") {
		t.Errorf("%s", file)
	}
}

// Kinds of hosts and slow pairs are warned of, where the file has groups, too.
func TestGroupsAreNotAll(t *testing.T) {
	p := racks(t)
	p.Parameters["packet"] = parameter(1448, "B", "cluster", "load")
	for _, name := range []string{"g_s", "g_r"} {
		p.Functions[name] = fixture().Functions[name]
	}
	p.Kinds = [][]string{p.Run.Hosts[:6], p.Run.Hosts[6:]}
	p.Pairs[0].Slow = "slow"
	for name, pairs := range map[string]string{"simgrid": "in the file all within a group are alike", "ompi": "",
		"ompi-json": "", "lab": "", "tc": "the file has one network for all pairs"} {
		target := lookup(t, name)
		_, warnings, err := target.Export(p, optionsOf(target))
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Join(warnings, "\n")
		const kinds = "hosts are of 2 kinds: the numbers of the largest stand for all"
		if strings.Count(text, kinds) != 1 || !strings.Contains(text, pairs) {
			t.Errorf("%s: %s", name, text)
		}
	}
}
