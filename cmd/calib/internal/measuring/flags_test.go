package measuring

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

// What a run stores of its files names them from any directory. A preset is no file.
func TestFilesAreAbsolute(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, name := range []string{"net.yaml", "switch"} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ flag, value, want string }{
		{"sim", "net.yaml", filepath.Join(dir, "net.yaml")},
		{"sim", "net.yaml:8", filepath.Join(dir, "net.yaml:8")},
		{"sim", "switch", "switch"},
		{"sim", "switch:8", "switch:8"},
		{"sim", "nosuch:8", "nosuch:8"},
		{"agent-binary", "calib-agent", filepath.Join(dir, "calib-agent")},
	} {
		var got string
		cmd := &cli.Command{Name: "run", Flags: WhereFlags(), Action: func(ctx *cli.Context) error {
			w, err := whereOf(ctx)
			if got = w.Sim; c.flag != "sim" {
				got = w.AgentBinary
			}
			return err
		}}
		args := []string{"calib", "run", "--" + c.flag, c.value}
		if c.flag != "sim" {
			args = append(args, "--host", "a,b")
		}
		if err := (&cli.App{Commands: []*cli.Command{cmd}}).Run(args); err != nil || got != c.want {
			t.Errorf("--%s %s is stored as %q (%v), want %q", c.flag, c.value, got, err, c.want)
		}
	}
}

// --launch is not for --slurm and --sim. A CALIB_LAUNCH that is there for other runs changes nothing of that.
func TestLaunchIsNotForAll(t *testing.T) {
	t.Setenv("SLURM_JOB_ID", "7")
	for _, c := range []struct{ variable, launch, refuse string }{
		{"", "", ""}, {"ssh -q {host}", "", ""}, {"ssh -q {host}", "ssh -q {host}", ""},
		{"", "ssh -v {host}", "--launch"}, {"ssh -q {host}", "ssh -v {host}", "--launch"},
	} {
		for _, hosts := range []string{"--slurm", "--sim=switch"} {
			t.Setenv("CALIB_LAUNCH", c.variable)
			args := []string{"calib", "run", hosts}
			if c.launch != "" {
				args = append(args, "--launch", c.launch)
			}
			cmd := &cli.Command{Name: "run", Flags: WhereFlags(), Action: func(ctx *cli.Context) error {
				_, err := whereOf(ctx)
				return err
			}}
			err := (&cli.App{Commands: []*cli.Command{cmd}, ExitErrHandler: func(*cli.Context, error) {}}).Run(args)
			if (err != nil) != (c.refuse != "") || err != nil && !strings.Contains(err.Error(), c.refuse) {
				t.Errorf("CALIB_LAUNCH=%q %q: %v, want a refusal that says %q", c.variable, args, err, c.refuse)
			}
		}
	}
}
