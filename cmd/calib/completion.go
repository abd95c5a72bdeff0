package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"calib/bench"
	"calib/bench/experiments"
	"calib/internal/importer"
	"calib/internal/netspec"
	"calib/reports"
	"calib/reports/draw"
	"calib/reports/export"
)

// What a shell may offer beside the words.
const (
	completeWords = "words" // nothing
	completeFiles = "files"
	completeDirs  = "dirs"
)

// completionCommand prints scripts that ask calib itself, by calib completion --words, so that a script stays true when calib
// is replaced. The library's own way was rejected: its script hands what is typed to eval, it does not know values, and it
// is off behind "--", where the command line that is being completed would run.
func completionCommand() *cli.Command {
	return &cli.Command{
		Name: "completion", Usage: "print a script with which a shell completes calib's commands", ArgsUsage: "bash|zsh|fish",
		Description: "bash  source <(calib completion bash)               in ~/.bashrc\n" +
			"zsh   source <(calib completion zsh)                in ~/.zshrc, after compinit\n" +
			"fish  calib completion fish > ~/.config/fish/completions/calib.fish",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "words", Hidden: true, Usage: "list what can follow the arguments; the last one is half typed"},
			jsonFlag(),
		},
		Action: func(c *cli.Context) error {
			if c.Bool("words") {
				return tellCandidates(c)
			}
			shell, err := oneArg(c, "shell: "+strings.Join(shellNames(), ", "))
			if err != nil {
				return err
			}
			script, ok := shells()[shell]
			if !ok {
				return usagef("completion for %q: want one of %s", shell, strings.Join(shellNames(), ", "))
			}
			if c.Bool("json") {
				return reports.Result{Command: "completion", Data: map[string]string{"shell": shell, "script": script}}.Encode(c.App.Writer)
			}
			_, err = fmt.Fprint(c.App.Writer, script)
			return err
		},
	}
}

func shellNames() []string { return slices.Sorted(maps.Keys(shells())) }

// candidate is a word that can follow, and what it means.
type candidate struct{ word, about string }

// tellCandidates prints what to offer: a line that says what beside the words, then a line for each word that begins as what
// is typed, its meaning behind a tab.
func tellCandidates(c *cli.Context) error {
	words := c.Args().Slice()
	if len(words) == 0 {
		words = []string{""}
	}
	kind, all := candidates(c.App, words)
	var b strings.Builder
	fmt.Fprintln(&b, kind)
	for _, k := range all {
		if strings.HasPrefix(k.word, words[len(words)-1]) {
			_, about := placeholder(strings.Join(strings.Fields(k.about), " "))
			fmt.Fprintln(&b, strings.TrimSuffix(k.word+"\t"+about, "\t"))
		}
	}
	_, err := fmt.Fprint(c.App.Writer, b.String())
	return err
}

// candidates says what can stand in the place of the last of words, those behind "calib".
func candidates(app *cli.App, words []string) (string, []candidate) {
	at, last := place{commands: app.VisibleCommands(), flags: app.VisibleFlags()}, len(words)-1
	for _, w := range words[:last] {
		at.step(w)
	}
	current := words[last]
	name, typed, valued := strings.Cut(current, "=")
	switch {
	case at.pending != nil:
		return flagValues(at.pending, current)
	case at.args > 0 || at.ended || !strings.HasPrefix(current, "-"):
		if at.args == 0 && !at.ended && len(at.commands) > 0 {
			return completeWords, commandWords(at.commands)
		}
		return argValues(at.command, at.args)
	case valued && flagOf(at.flags, name) != nil:
		kind, all := flagValues(flagOf(at.flags, name), typed)
		for i := range all {
			all[i].word = name + "=" + all[i].word
		}
		return kind, all
	}
	return completeWords, flagWords(at.flags, words[:last])
}

// place is where in the tree of commands a command line has come to.
type place struct {
	command  *cli.Command
	commands []*cli.Command // that can follow
	flags    []cli.Flag
	pending  cli.Flag // wants the next word
	args     int
	ended    bool // by "--": no flags follow
}

// step goes on by one whole word.
func (p *place) step(w string) {
	name, _, valued := strings.Cut(w, "=")
	i := slices.IndexFunc(p.commands, func(c *cli.Command) bool { return c.HasName(w) })
	switch {
	case p.pending != nil:
		p.pending = nil
	case p.ended || p.args > 0:
		p.args++
	case w == "--":
		p.ended = true
	case strings.HasPrefix(w, "-") && w != "-":
		if f, ok := flagOf(p.flags, name).(cli.DocGenerationFlag); ok && f.TakesValue() && !valued {
			p.pending = f.(cli.Flag)
		}
	case i >= 0:
		p.command, p.flags = p.commands[i], p.commands[i].VisibleFlags()
		p.commands = visible(p.command.Subcommands)
	default:
		p.args++
	}
}

func visible(all []*cli.Command) []*cli.Command {
	return slices.DeleteFunc(slices.Clone(all), func(c *cli.Command) bool { return c.Hidden })
}

// flagOf finds a flag by its word, -name or --name; nil where there is none.
func flagOf(flags []cli.Flag, word string) cli.Flag {
	name := strings.TrimPrefix(strings.TrimPrefix(word, "-"), "-")
	for _, f := range flags {
		if slices.Contains(f.Names(), name) {
			return f
		}
	}
	return nil
}

func commandWords(all []*cli.Command) []candidate {
	var out []candidate
	for _, c := range all {
		out = append(out, candidate{c.Name, c.Usage})
	}
	return out
}

// flagWords lists the flags that are not there yet, and those that may be there again.
func flagWords(flags []cli.Flag, given []string) []candidate {
	var out []candidate
	for _, f := range flags {
		doc, ok := f.(cli.DocGenerationFlag)
		again, isList := f.(cli.DocGenerationSliceFlag)
		used := slices.ContainsFunc(given, func(w string) bool {
			name, _, _ := strings.Cut(w, "=")
			return strings.HasPrefix(w, "-") && flagOf([]cli.Flag{f}, name) != nil
		})
		if ok && (!used || isList && again.IsSliceFlag()) {
			out = append(out, candidate{"--" + f.Names()[0], doc.GetUsage()})
		}
	}
	return out
}

// flagValues lists the values of a flag. typed is what there is of one.
func flagValues(f cli.Flag, typed string) (string, []candidate) {
	switch f.Names()[0] {
	case "plan":
		return completeFiles, plainWords(bench.PlanNames())
	case "sim":
		return completeFiles, plainWords(netspec.PresetNames())
	case "preset":
		return completeWords, plainWords(netspec.PresetNames())
	case "only":
		before := typed[:strings.LastIndex(typed, ",")+1]
		var out []candidate
		for _, e := range experiments.All {
			out = append(out, candidate{before + e.Name(), ""})
		}
		return completeWords, out
	case "to":
		var out []candidate
		for _, t := range export.Targets() {
			out = append(out, candidate{t.Name, t.About})
		}
		return completeWords, out
	case "from":
		return completeWords, plainWords(importer.Formats())
	case "format":
		return completeWords, plainWords([]string{formatText, formatHTML, draw.SVG, draw.PNG})
	}
	doc, ok := f.(cli.DocGenerationFlag)
	if !ok {
		return completeWords, nil
	}
	value, _ := placeholder(doc.GetUsage())
	return named(value)
}

// argValues lists the values of argument number i, from 0, of a command.
func argValues(c *cli.Command, i int) (string, []candidate) {
	if c == nil {
		return completeWords, nil
	}
	if c.Name == "schema" {
		all, err := schemas()
		if err != nil {
			return completeWords, nil
		}
		return completeWords, plainWords(slices.Sorted(maps.Keys(all)))
	}
	args := strings.Fields(c.ArgsUsage)
	if n := len(args); n > 0 && i >= n && strings.HasSuffix(args[n-1], "...") {
		i = n - 1
	}
	if i >= len(args) {
		return completeWords, nil
	}
	return named(strings.Trim(args[i], "[]."))
}

// named lists what the name of a value in a usage stands for: "bash|zsh" are words, FILE is a file.
func named(value string) (string, []candidate) {
	kind := completeWords
	var out []candidate
	for _, v := range strings.Split(value, "|") {
		v = strings.Trim(v, "[].")
		switch {
		case v == "":
		case v == strings.ToLower(v):
			out = append(out, candidate{v, ""})
		case strings.HasPrefix(v, "FILE"), strings.HasPrefix(v, "PATH"), v == "PARAMS", v == "OLD", v == "NEW", v == "COMMAND":
			kind = completeFiles
		case (strings.HasPrefix(v, "DIR") || strings.HasPrefix(v, "RUN")) && kind == completeWords:
			kind = completeDirs
		case strings.HasPrefix(v, "PRESET"):
			out = append(out, plainWords(netspec.PresetNames())...)
		}
	}
	if len(out) < 2 && !strings.Contains(value, "PRESET") { // one lower-case word is an example, as in `5m`
		out = nil
	}
	return kind, out
}

// placeholder takes the name of a flag's value, between back quotes, out of its usage, and returns the usage without them.
func placeholder(usage string) (value, rest string) {
	before, after, ok := strings.Cut(usage, "`")
	if !ok {
		return "", usage
	}
	value, after, _ = strings.Cut(after, "`")
	if after != "" && after[0] >= 'a' && after[0] <= 'z' { // a word goes on: DIRectory
		return value, before + strings.ToLower(value) + after
	}
	return value, before + value + after
}

func plainWords(all []string) []candidate {
	var out []candidate
	for _, w := range all {
		out = append(out, candidate{word: w})
	}
	return out
}
