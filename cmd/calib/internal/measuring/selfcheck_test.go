package measuring

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/urfave/cli/v2"

	"calib/cmd/calib/internal/runfiles"
	"calib/fit/params"
	"calib/internal/netspec"
	"calib/internal/selfcheck"
	"calib/reports/export"
)

// calibrated is a run on a simulated network.
func calibrated(t *testing.T, network, out string, flags ...string) *params.Params {
	t.Helper()
	var said bytes.Buffer
	app := &cli.App{Commands: []*cli.Command{RunCommand()}, Writer: &said, ErrWriter: &said, ExitErrHandler: func(*cli.Context, error) {}}
	args := append([]string{"calib", "run", "--sim", network, "--budget", "0", "--quiet", "--yes", "--out", out}, flags...)
	if err := app.RunContext(t.Context(), args); err != nil {
		t.Fatalf("%v\n%s", err, &said)
	}
	p, err := runfiles.ReadParams(out)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The whole chain in virtual time: a network is calibrated, its lab file calibrated again, and what was measured there is judged. Nine
// in ten results come back, in all networks together, and three in four on each. The network with the slow host has the most misses: without
// the experiments of the cluster model the run does not tell the host's fixed time from the port's, on which the last packet of a message
// depends, and beta, r_inf and b_prime_joint, which are three names of one slope there, come out 0.8% off; intervals are 0.1% here.
func TestSelfcheckSimulated(t *testing.T) {
	const paired = "clock,pingpong,paired"
	var all selfcheck.Count
	for _, c := range []struct{ name, network, only, sizes, slow string }{
		{"shared", "preset: sparc1994\nhosts: 6\n", paired, "1,701,1401,16001,64001", ""},
		{"slow host", "preset: switch\nhosts: 6\noverrides: {3: {a: 800e-6, b: 1.2e-6}}\n", paired, "1,701,1401,16001", "host 3"},
		{"buffers", "hosts: 6\nmode: switched\nhost: {a: 150e-6, b: 0.25e-6}\nmedium: {a: 120e-6, b: 0.2e-6}\nreceive: {a: 20e-6, b: 0.03e-6}\n" +
			"l: 100e-6\nbuffer: 64\n", "clock,pingpong,overhead,gap,gather,flood,load,prtt", "1,701,1401,16001", ""},
		{"20 times too fast", "hosts: 6\nmode: switched\ncut_through: true\nhost: {a: 3.027e-6, b: 0.08169e-6, min: 6.73e-6}\n" +
			"medium: {a: 4.986e-6, b: 0.08224e-6, min: 6.73e-6}\nreceive: {a: 0, b: 0.0038e-6}\nl: 11.698e-6\nbuffer: 64\n", "clock,pingpong,overhead,gap,gather,flood,load,prtt", "1,701,1401,16001", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, "network.yaml")
			if err := os.WriteFile(file, []byte(c.network), 0o600); err != nil {
				t.Fatal(err)
			}
			flags := []string{"--plan", "quick", "--only", c.only, "--sizes", c.sizes}
			run := calibrated(t, file, filepath.Join(dir, "run"), append(flags, "--seed", "1")...)
			target, err := export.Lookup("lab")
			if err != nil {
				t.Fatal(err)
			}
			text, _, err := target.Export(run, export.Options{})
			if err != nil {
				t.Fatal(err)
			}
			spec, err := netspec.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			copied := filepath.Join(dir, "lab.yaml")
			if err := os.WriteFile(copied, text, 0o600); err != nil {
				t.Fatal(err)
			}
			rows := selfcheck.Judge(spec, run, calibrated(t, copied, filepath.Join(dir, "copy"), append(flags, "--seed", "2")...))
			for _, r := range rows {
				if r.Verdict != selfcheck.NotPlayed && r.Verdict != selfcheck.Back {
					t.Logf("%s is %s: run %s, given %s, copy %s %s", r.Name, r.Verdict, amount(r.Run, r.Unit, "–"), amount(r.Truth, r.Unit, "–"),
						amount(r.Copy, r.Unit, "–"), span(r.CI95, r.Unit))
				}
				if r.Name == c.slow && r.Verdict != selfcheck.Back {
					t.Errorf("%s is %s", r.Name, r.Verdict)
				}
			}
			n := selfcheck.CountOf(rows)
			t.Log(selfcheck.Sentence(rows, spec.Slowdown))
			if n.Back*4 < 3*(n.Back+n.Missed) {
				t.Errorf("%d of %d came back", n.Back, n.Back+n.Missed)
			}
			all.Back, all.Missed = all.Back+n.Back, all.Missed+n.Missed
		})
	}
	if all.Back*10 < 9*(all.Back+all.Missed) {
		t.Errorf("%d of %d came back on all networks, want nine in ten", all.Back, all.Back+all.Missed)
	}
}
