package main

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"calib/cmd/calib/internal/command"
)

// prose is the beginning of a line that is no example.
var prose = regexp.MustCompile(`\n[A-Z{]`)

// nameless is a flag whose value has no name.
var nameless = regexp.MustCompile(`--[a-z-]+ VALUE`)

// Every help fits a screen of 80 columns, says an example first, and has no default that says nothing; that of calib
// run has at most 40 lines.
func TestHelp(t *testing.T) {
	app := newApp()
	app.Setup()
	var visit func(name string, c *cli.Command)
	visit = func(name string, c *cli.Command) {
		c.HelpName = name
		if examples := prose.Split("\n"+c.Description, 2)[0]; !strings.Contains(examples, name) {
			t.Errorf("%s: no example before other words: %q", name, c.Description)
		}
		var b bytes.Buffer
		command.PrintHelp(&b, "", c)
		lines := strings.Split(strings.TrimSpace(b.String()), "\n")
		for _, l := range lines {
			if utf8.RuneCountInString(l) > 80 {
				t.Errorf("%s: %d columns: %s", name, utf8.RuneCountInString(l), l)
			}
		}
		if text := b.String(); strings.Contains(text, "false)") || nameless.MatchString(text) {
			t.Errorf("%s: a flag without the name of its value, or with a default of false:\n%s", name, text)
		}
		if name == "calib run" && len(lines) > 40 {
			t.Errorf("%s: %d lines", name, len(lines))
		}
		for _, sub := range c.Subcommands {
			if !sub.Hidden {
				visit(name+" "+sub.Name, sub)
			}
		}
	}
	for _, c := range app.Commands {
		visit("calib "+c.Name, c)
	}
	var b bytes.Buffer
	command.PrintHelp(&b, "", app)
	for l := range strings.SplitSeq(b.String(), "\n") {
		if utf8.RuneCountInString(l) > 80 {
			t.Errorf("calib: %d columns: %s", utf8.RuneCountInString(l), l)
		}
	}
}

// Only commands that show progress, or notes, take --quiet.
func TestQuiet(t *testing.T) {
	var got []string
	var visit func(name string, c *cli.Command)
	visit = func(name string, c *cli.Command) {
		if slices.ContainsFunc(c.Flags, func(f cli.Flag) bool { return f.Names()[0] == "quiet" }) {
			got = append(got, name)
		}
		for _, sub := range c.Subcommands {
			visit(name+" "+sub.Name, sub)
		}
	}
	for _, c := range newApp().Commands {
		visit(c.Name, c)
	}
	slices.Sort(got)
	want := []string{"check", "doctor", "gate", "import", "lab selfcheck", "predict validate", "run", "watch"}
	if !slices.Equal(got, want) {
		t.Errorf("--quiet is a flag of %q, want %q", got, want)
	}
}
