package main

import (
	"errors"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"calib/internal/exit"
)

// What differs from one network to another, and from one run to the next.
var (
	aside = regexp.MustCompile(`\([^)]*\)|RUN:.*`)
	word  = regexp.MustCompile(`[A-Za-z_]{2,}`)
	vary  = regexp.MustCompile(`\b(ms|ns|Mbit|kbit|GOOD|USABLE|POOR|good|rough|limit|only|not|measurable)\b|µs`)
)

// essence is the words of a line that every run prints.
func essence(line string) string {
	return strings.Join(word.FindAllString(vary.ReplaceAllString(aside.ReplaceAllString(line, ""), ""), -1), " ")
}

// cmdTutorial runs the commands of a page, those behind "$ " in its blocks of console. Each must succeed and print the
// lines below it, in their order, with other numbers and maybe others between. A run in a late lab is tried three
// times.
func cmdTutorial(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, len(args) == 1, neg, "tutorial FILE")
	text, err := os.ReadFile(args[0])
	ts.Check(err)
	ts.Defer(func() { _ = exec.Command("calib", "lab", "down", "--name", "tutor").Run() }) // also where the script fails
	for _, block := range strings.Split(string(text), "```console\n")[1:] {
		block, _, _ = strings.Cut(block, "```")
		var said []string
		for line := range strings.Lines(block) {
			if command, ok := strings.CutPrefix(line, "$ "); ok {
				err := ts.Exec("sh", "-c", command)
				for try := 1; try < 3 && partial(err); try++ {
					ts.Check(os.RemoveAll(ts.MkAbs("first")))
					err = ts.Exec("sh", "-c", command)
				}
				ts.Check(err)
				said = strings.Split(ts.ReadFile("stdout"), "\n")
				continue
			}
			wanted, found := essence(line), false
			for !found && len(said) > 0 {
				found, said = essence(said[0]) == wanted, said[1:]
			}
			if !found {
				ts.Fatalf("not printed, or not in this place: %s", line)
			}
		}
	}
}

// partial reports whether a command ended as a run that had no time for what it planned: the lab was late.
func partial(err error) bool {
	var e *exec.ExitError
	return errors.As(err, &e) && e.ExitCode() == exit.Partial
}

// cmdSnippets runs the Python of a page: it ends well, and prints something.
func cmdSnippets(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, len(args) == 1, neg, "snippets FILE")
	text, err := os.ReadFile(args[0])
	ts.Check(err)
	_, code, found := strings.Cut(string(text), "```python\n")
	code, _, _ = strings.Cut(code, "```")
	ts.Check(ts.Exec("python3", "-c", code))
	if !found || len(strings.Fields(ts.ReadFile("stdout"))) < 2 {
		ts.Fatalf("%s prints %q", code, ts.ReadFile("stdout"))
	}
}

// cmdQuestions runs the commands of a table of questions: each must succeed, and print a line that begins like the one
// shown. Agents of this machine stand for those of a hosts file.
func cmdQuestions(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, len(args) == 1, neg, "questions FILE")
	text, err := os.ReadFile(args[0])
	ts.Check(err)
	asked := 0
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(line, "| \n"), " | ")
		if len(cells) != 3 || !strings.HasPrefix(cells[1], "`") {
			continue
		}
		asked++
		command := strings.ReplaceAll(strings.Trim(cells[1], "`"), "--hosts hosts.txt", "--local 2")
		ts.Check(ts.Exec("sh", "-c", command))
		if !slices.ContainsFunc(strings.Split(ts.ReadFile("stdout"), "\n"), func(l string) bool {
			return strings.HasPrefix(essence(l), essence(cells[2]))
		}) {
			ts.Fatalf("%s does not print: %s\n%s", command, cells[2], ts.ReadFile("stdout"))
		}
	}
	if asked < 20 {
		ts.Fatalf("%d questions", asked)
	}
}
