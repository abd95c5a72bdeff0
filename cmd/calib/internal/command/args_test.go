package command

import (
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

func TestFlagsFirst(t *testing.T) {
	cmds := []*cli.Command{
		{Name: "fit", Flags: []cli.Flag{&cli.StringFlag{Name: "out", Aliases: []string{"o"}}, &cli.BoolFlag{Name: "json"}}},
		{Name: "lab", Subcommands: []*cli.Command{{Name: "run", Flags: []cli.Flag{&cli.StringFlag{Name: "name"}}}}},
	}
	for _, c := range []struct{ in, want string }{
		{"calib", "calib"},
		{"calib --version", "calib --version"},
		{"calib fit run", "calib fit run"},
		{"calib fit run --out x", "calib fit --out x run"},
		{"calib fit run --out=x --json other", "calib fit --out=x --json run other"},
		{"calib fit --json run -o x", "calib fit --json -o x run"},
		{"calib fit run --json x", "calib fit --json run x"},
		{"calib fit run --out", "calib fit run --out"},
		{"calib fit run --out -1", "calib fit --out -1 run"},
		{"calib fit - --json", "calib fit --json -"},
		{"calib fit -- run --json", "calib fit -- run --json"},
		{"calib lab run FILE --name n -- calib run --hosts h", "calib lab run --name n FILE -- calib run --hosts h"},
		{"calib fit run --generate-bash-completion", "calib fit run --generate-bash-completion"},
	} {
		if got := FlagsFirst(cmds, strings.Fields(c.in)); !slices.Equal(got, strings.Fields(c.want)) {
			t.Errorf("%s: %s, want %s", c.in, strings.Join(got, " "), c.want)
		}
	}
}
