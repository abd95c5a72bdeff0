package main

import (
	"regexp"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"calib/cmd/calib/internal/command"
)

// printedCommand is a command that calib prints for its user to run, on the hosts of the run before.
var printedCommand = regexp.MustCompile(
	`calib run --(sim switch:6|only [^\s;:()]*|plan \w+)( --[a-z-]+ [^\s;:()]*[^\s.,;:()])*`)

// lacking is what calib says of a number that no experiment of the run gives.
var lacking = regexp.MustCompile(`is missing|not measured|parameters are missing|no parameters of`)

// cmdFollow runs calib on RUN, and while that names a command that measures, runs this command as it is printed, and
// goes on with that run. No command may be named again once it was run, and in the end nothing may be lacking.
func cmdFollow(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, len(args) >= 2, neg, "follow RUN VERB [ARG...]")
	run, followed := args[0], []string{}
	for {
		err := ts.Exec("calib", append(slices.Clone(args[1:]), run)...)
		said := ts.ReadFile("stdout") + ts.ReadFile("stderr")
		hint := printedCommand.FindString(said)
		if hint == "" {
			if err != nil && lacking.MatchString(said) {
				ts.Fatalf("after %q, something is lacking and no command is named:\n%s", followed, said)
			}
			return
		}
		if slices.Contains(followed, hint) {
			ts.Fatalf("after %q, named again:\n%s", followed, said)
		}
		followed = append(followed, hint)
		if run = strings.ReplaceAll(hint, " ", "_"); command.Exists(ts.MkAbs(run)) {
			continue
		}
		args := append(strings.Fields(hint), "--quiet", "--yes", "--seed", "1", "--out", run)
		cmdExits(ts, false, append([]string{"0"}, args...))
	}
}
