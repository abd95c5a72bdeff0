package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/urfave/cli/v2"

	"calib/cmd/calib/internal/command"
	"calib/internal/exit"
	"calib/internal/machine"
)

// build is what is known of the program that runs.
type build struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Time     string `json:"time,omitempty"` // of the commit
	Modified bool   `json:"modified"`       // the working tree was not that of the commit
	Go       string `json:"go"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`
}

// thisBuild reads what the linker left in this program.
func thisBuild() build {
	b := build{Version: machine.Version(), Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok {
		b.addSettings(info.Settings)
	}
	return b
}

func (b *build) addSettings(all []debug.BuildSetting) {
	values := map[string]string{}
	for _, s := range all {
		values[s.Key] = s.Value
	}
	b.Commit, b.Time, b.Modified = values["vcs.revision"], values["vcs.time"], values["vcs.modified"] == "true"
}

// String is one line.
func (b build) String() string {
	var parts []string
	if b.Commit != "" {
		parts = append(parts, "commit "+b.Commit[:min(len(b.Commit), 12)])
	}
	if date, _, ok := strings.Cut(b.Time, "T"); ok {
		parts = append(parts, date)
	}
	if b.Modified {
		parts = append(parts, "dirty")
	}
	parts = append(parts, b.Go, b.OS+"/"+b.Arch)
	return "calib " + b.Version + " (" + strings.Join(parts, ", ") + ")"
}

// rootFlags stand before any verb.
func rootFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "version", Aliases: []string{"v"}, Usage: "print the version and how it was built", DisableDefaultText: true},
		&cli.BoolFlag{Name: "json", Usage: "with --version: print one JSON document", DisableDefaultText: true},
	}
}

// checkRoot rejects a --json that would do nothing.
func checkRoot(c *cli.Context) error {
	if c.Bool("json") && !c.Bool("version") {
		return exit.Usagef("--json before the verb: write it behind, as in calib run --json")
	}
	return nil
}

// printVersion answers --version.
func printVersion(c *cli.Context) error {
	b := thisBuild()
	return command.Answer(c, "version", b, func(w io.Writer) error {
		_, err := fmt.Fprintln(w, b)
		return err
	})
}
