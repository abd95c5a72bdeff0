package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"calib/cmd/calib/internal/command"
	"calib/internal/lists"
)

var update = flag.Bool("update", false, "write docs/reference/flags.md")

// docs/reference/flags.md is what the helps say: go test ./cmd/calib -run TestFlagsPage -update writes it.
func TestFlagsPage(t *testing.T) {
	const path = "../../docs/reference/flags.md"
	app := newApp()
	app.Setup()
	helps := helpsOf(app)
	for _, h := range helps {
		want := lists.Where(h.visible, func(f cli.Flag) bool { return f != cli.HelpFlag })
		if len(h.rows) != len(want) {
			t.Errorf("calib %s: %d flags in the help, %d in the command", h.command, len(h.rows), len(want))
		}
	}
	page := flagsPage(helps)
	if *update {
		if err := os.WriteFile(path, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != page {
		t.Errorf("%s is not what the helps say (%v): run this test with -update", path, err)
	}
}

// help is the flags of a command: those that its help prints, and those that the command has.
type help struct {
	command string
	rows    []flagRow
	visible []cli.Flag
}

// flagRow is a flag in a table. value is its default.
type flagRow struct{ name, code, says, value string }

// helpsOf are the helps of calib itself and of every command that is not hidden.
func helpsOf(app *cli.App) []help {
	all := []help{{"calib", flagRows(app), app.VisibleFlags()}}
	var below func(above string, commands []*cli.Command)
	below = func(above string, commands []*cli.Command) {
		for _, c := range commands {
			if !c.Hidden {
				all = append(all, help{above + c.Name, flagRows(c), c.VisibleFlags()})
				below(above+c.Name+" ", c.Subcommands)
			}
		}
	}
	below("", app.Commands)
	return all
}

var (
	// helpRow is a flag in a help: its name, the name of its value, and what it says, on one line or more.
	helpRow     = regexp.MustCompile(`(?m)^  (--\S+)( \S+)?(?:  +|$)((?:.*\n)(?:    .*\n)*)`)
	withDefault = regexp.MustCompile(`^(.*?)(?:; default (.*)| \(default (.*)\))?$`)
)

// flagRows reads the flags of a help, an argument of command.PrintHelp.
func flagRows(of any) (rows []flagRow) {
	var b bytes.Buffer
	command.PrintHelp(&b, "", of)
	_, options, _ := strings.Cut(b.String(), "\n\n") // behind the description
	cell := strings.NewReplacer("|", `\|`).Replace
	for _, r := range helpRow.FindAllStringSubmatch(options, -1) {
		says := withDefault.FindStringSubmatch(strings.Join(strings.Fields(r[3]), " "))
		rows = append(rows, flagRow{r[1], "`" + cell(r[1]+r[2]) + "`", cell(says[1]), cell(says[2] + says[3])})
	}
	return rows
}

// whichHosts is the group of flags that commands which measure have in common.
const whichHosts = "Which hosts"

// flagsPage has the shared flags first, and then a section for each command with flags of its own, which names its
// shared ones but for those of most commands.
func flagsPage(helps []help) string {
	helps = lists.Where(helps, func(h help) bool { return len(h.rows) > 0 })
	shared, hosts := sharedRows(helps)
	usual := lists.Where(shared, func(r flagRow) bool { return 2*len(without(helps, r)) < len(helps) })
	var b strings.Builder
	b.WriteString("# Flags\n\nWhat `calib help COMMAND` says of every command's flags, with the defaults at the right.\n")
	b.WriteString(section(whichHosts, hosts))
	b.WriteString(section("Other shared flags", rowsIn(shared, hosts, false)))
	for _, r := range usual {
		fmt.Fprintf(&b, "\nAll commands below but %s have %s.\n", strings.Join(without(helps, r), " and "), names(r))
	}
	sharedOnly := map[string][]string{}
	for _, h := range helps {
		own := rowsIn(h.rows, shared, false)
		also := names(rowsIn(rowsIn(h.rows, shared, true), usual, false)...)
		if all := names(hosts...); strings.Contains(also, all) {
			also = strings.Replace(also, all, "[which hosts](#which-hosts)", 1)
		}
		if len(own) == 0 {
			sharedOnly[also] = append(sharedOnly[also], h.command)
			continue
		}
		b.WriteString(section(h.command, own))
		if also != "" {
			b.WriteString("\nShared: " + also + ".\n")
		}
	}
	b.WriteString("\n## Commands with shared flags only\n\n| commands | shared |\n|---|---|\n")
	for flags, commands := range lists.ByKey(sharedOnly) {
		fmt.Fprintf(&b, "| %s | %s |\n", strings.Join(commands, ", "), flags)
	}
	return b.String()
}

// section is a table under a heading. The column of defaults is only where there are any.
func section(heading string, rows []flagRow) string {
	head := "| flag | |\n|---|---|\n"
	if slices.ContainsFunc(rows, func(r flagRow) bool { return r.value != "" }) {
		head = "| flag | | default |\n|---|---|---|\n"
	}
	text := "\n## " + heading + "\n\n" + head
	for _, r := range rows {
		text += "| " + r.code + " | " + r.says + " |"
		if r.value != "" {
			text += " " + r.value + " |"
		}
		text += "\n"
	}
	return text
}

// sharedRows are the rows that several commands have, by name; of two rows of one name, that of more commands. hosts
// are those of whichHosts.
func sharedRows(helps []help) (shared, hosts []flagRow) {
	times, of := map[flagRow]int{}, map[string]flagRow{}
	for _, h := range helps {
		for _, r := range h.rows {
			if times[r]++; times[r] > max(1, times[of[r.name]]) {
				of[r.name] = r
			}
		}
	}
	for _, r := range lists.ByKey(of) {
		shared = append(shared, r)
	}
	run := helps[slices.IndexFunc(helps, func(h help) bool { return h.command == "run" })]
	for _, f := range run.visible {
		if f.(cli.CategorizableFlag).GetCategory() == whichHosts {
			hosts = append(hosts, of["--"+f.Names()[0]])
		}
	}
	return shared, hosts
}

// rowsIn are the rows that are in others, or those that are not.
func rowsIn(rows, others []flagRow, in bool) []flagRow {
	return lists.Where(rows, func(r flagRow) bool { return slices.Contains(others, r) == in })
}

func names(rows ...flagRow) string {
	return strings.Join(lists.Map(rows, func(r flagRow) string { return "`" + r.name + "`" }), ", ")
}

// without are the commands that have no flag of this name.
func without(helps []help, flag flagRow) []string {
	missing := lists.Where(helps, func(h help) bool {
		return !slices.ContainsFunc(h.rows, func(r flagRow) bool { return r.name == flag.name })
	})
	return lists.Map(missing, func(h help) string { return h.command })
}
