package main

import (
	"embed"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/urfave/cli/v2"

	"calib/cmd/calib/internal/command"
	"calib/cmd/calib/internal/history"
	"calib/cmd/calib/internal/measuring"
	"calib/cmd/calib/internal/results"
	"calib/internal/doctor"
	"calib/internal/exit"
	"calib/internal/files"
	"calib/internal/machine"
	"calib/internal/progress"
	"calib/internal/rundir"
	"calib/reports"
	"calib/reports/compare"
)

type build struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Time     string `json:"time,omitempty"` // of the commit
	Modified bool   `json:"modified"`       // the working tree was not that of the commit
	Go       string `json:"go"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`
}

// buildOf is a build with the settings that the linker left in it.
func buildOf(all []debug.BuildSetting) build {
	values := map[string]string{}
	for _, s := range all {
		values[s.Key] = s.Value
	}
	return build{Version: machine.Version(), Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH,
		Commit: values["vcs.revision"], Time: values["vcs.time"], Modified: values["vcs.modified"] == "true"}
}

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

func printVersion(c *cli.Context) error {
	info, _ := debug.ReadBuildInfo() // which a program of a module has
	b := buildOf(info.Settings)
	return command.AnswerLines(c, "version", b, b.String())
}

// manCommand prints the manual that the cli library makes of the tree of commands.
func manCommand() *cli.Command {
	return &cli.Command{
		Name: "man", Category: command.Tools, Usage: "print the manual, or write a page for each command",
		Description: "calib man | man -l -                       read it\n" +
			"calib man --dir /usr/local/share/man/man1  write calib.1, calib-run.1, …",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "dir", Usage: "write calib.1 and a page for each command into `DIR`"},
			command.JSONFlag(),
		},
		Action: printManual,
	}
}

// printManual prints the page of calib. With --dir it writes that and a page for each command, each whole or not at
// all, and names the files.
func printManual(c *cli.Context) error {
	dir := c.String("dir")
	if c.IsSet("dir") {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("make the directory of the pages: %w", err)
		}
	}
	pages := []*cli.App{manual("", command.OfApp(c.App))}
	for _, verb := range c.App.VisibleCommands() {
		pages = append(pages, manual("calib ", verb))
	}
	var paths []string
	for _, p := range pages {
		text, err := p.ToManWithSection(1)
		if err != nil {
			return fmt.Errorf("manual of %s: %w", p.Name, err)
		}
		if dir == "" {
			return command.AnswerLines(c, "man", map[string]string{"page": text}, strings.TrimSuffix(text, "\n"))
		}
		paths = append(paths, filepath.Join(dir, p.Name+".1"))
		if err := files.Replace(paths[len(paths)-1], []byte(text)); err != nil {
			return err
		}
	}
	return command.AnswerLines(c, "man", command.Written{Format: "man", Files: paths}, paths...)
}

// manual is a command as an application with a page of its own. The library runs the lines of a description together;
// in a code block the examples keep their form.
func manual(above string, c *cli.Command) *cli.App {
	path := above + c.Name
	return &cli.App{Name: strings.ReplaceAll(path, " ", "-"), Usage: c.Usage, UsageText: command.Synopsis(path, c),
		Description: "```\n" + c.Description + "\n```", Flags: c.VisibleFlags(), Commands: described(path+" ", c.Subcommands)}
}

// described copies commands for the manual: each under its full name, and with synopsis and description, which the
// library leaves out, in the place of the usage text.
func described(above string, commands []*cli.Command) (out []*cli.Command) {
	for _, c := range commands {
		if c.Hidden {
			continue
		}
		path := above + c.Name
		out = append(out, &cli.Command{Name: path, Aliases: c.Aliases, Usage: c.Usage, Flags: c.VisibleFlags(),
			UsageText: command.Synopsis(path, c) + "\n\n" + c.Description, Subcommands: described(path+" ", c.Subcommands)})
	}
	return out
}

// completionCommand prints a script that completes commands and flags. The scripts for bash and zsh ask calib itself
// through the cli library's --generate-bash-completion, so that they stay true when calib is replaced. The script for
// fish is the library's. That for bash is not: the library's hands what is typed to eval. The script here runs on bash
// 3.2 and evaluates nothing that was typed. Where calib offers nothing, bash offers files.
func completionCommand() *cli.Command {
	return &cli.Command{
		Name: "completion", Category: command.Tools, ArgsUsage: "bash|zsh|fish",
		Usage: "print a script that completes commands in a shell",
		Description: "bash  source <(calib completion bash)          in ~/.bashrc\n" +
			"zsh   source <(calib completion zsh)           in ~/.zshrc, after compinit\n" +
			"fish  calib completion fish > ~/.config/fish/completions/calib.fish",
		Flags: []cli.Flag{command.JSONFlag()},
		Action: func(c *cli.Context) error {
			shell, err := command.OneArg(c, "shell: bash, fish, zsh")
			if err != nil {
				return err
			}
			text, err := scripts.ReadFile("completion/calib." + shell)
			script := string(text)
			if shell == "fish" {
				if script, err = c.App.ToFishCompletion(); err != nil {
					return fmt.Errorf("completion for fish: %w", err)
				}
			}
			if err != nil {
				return exit.Usagef("completion for %q: want one of bash, fish, zsh", shell)
			}
			return command.AnswerLines(c, "completion", map[string]string{"shell": shell, "script": script},
				strings.TrimSuffix(script, "\n"))
		},
	}
}

//go:embed completion
var scripts embed.FS

func schemaCommand() *cli.Command {
	return &cli.Command{
		Name: "schema", Category: command.Tools, ArgsUsage: "[NAME]",
		Usage: "print the JSON Schema of calib's files and documents",
		Description: "calib schema params\n" +
			"NAME is params (params.json), header and sample (samples.jsonl), run (run.json),\n" +
			"verdict (verdict.json), noise (noise.json), result (what --json prints), data-COMMAND\n" +
			"(the data of its result: data-history-list) or event (progress as JSON lines).\n" +
			"Without a name: all of them, by name.",
		Action: func(c *cli.Context) error {
			all, err := schemas()
			if err != nil {
				return err
			}
			if c.NArg() == 0 {
				return reports.WriteJSON(c.App.Writer, all)
			}
			if s, ok := all[c.Args().First()]; ok && c.NArg() == 1 {
				return reports.WriteJSON(c.App.Writer, s)
			}
			return exit.Usagef("schema: want one of %s", strings.Join(slices.Sorted(maps.Keys(all)), ", "))
		},
	}
}

// documents are what commands print and write, beyond what package reports knows.
func documents() []command.Document {
	own := []command.Document{
		{Name: "run", Schema: rundir.JSONSchema},
		command.DocumentOf[progress.Event]("event", "", "One line of progress on standard error."),
		command.DocumentOf[compare.Verdict]("verdict", compare.Schema,
			"verdict.json: whether runs have become slower; also the data of compare and gate."),
		command.DocumentOf[compare.Floor]("noise", compare.FloorSchema,
			"noise.json: how much runs of the same differ; also the data of run --aa."),
		command.DataOf[build]("version"), command.DataOf[doctor.Report]("doctor"),
		command.DataOf[measuring.Screened]("check"),
	}
	return slices.Concat(own, results.Documents(), history.Documents())
}

func schemas() (map[string]*jsonschema.Schema, error) {
	all, err := reports.Schemas()
	if err != nil {
		return nil, err
	}
	for _, d := range documents() {
		if all[d.Name], err = d.Schema(); err != nil {
			return nil, err
		}
	}
	return all, nil
}
