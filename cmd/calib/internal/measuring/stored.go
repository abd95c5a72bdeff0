package measuring

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"calib/cmd/calib/internal/command"
	"calib/internal/progress"
)

// defaultLaunch is what starts agents unless --launch says otherwise.
const defaultLaunch = "ssh {host}"

// executedFlags name the flags whose values are executed, here or on the hosts.
var executedFlags = []string{"launch", "agent-binary"}

// whatIsExecuted are the flags of those names.
func whatIsExecuted() []cli.Flag {
	return slices.DeleteFunc(WhereFlags(), func(f cli.Flag) bool { return !slices.Contains(executedFlags, f.Names()[0]) })
}

// confirmStored decides what is executed to measure again where a run was measured. run.json may come from somebody else, so that no
// command in it is executed unasked: a flag given again replaces it, else ask is shown it. ask is nil where nobody can be asked. again
// is the command line to which the flag is to be added.
func confirmStored(c *cli.Context, w *where, again string, ask asking) error {
	stored := map[string]*string{"launch": &w.Launch, "agent-binary": &w.AgentBinary}
	for _, name := range executedFlags {
		value := stored[name]
		switch {
		case c.IsSet(name):
			*value = c.String(name)
		case w.Local > 0 || w.Sim != "" || *value == "" || *value == defaultLaunch: // nothing but calib's own
		case ask == nil:
			return command.Usagef("the run has stored --%s %s, which would be executed. If that is right, give it again: %s --%s %s",
				name, quote(*value), again, name, quote(*value))
		default:
			question := fmt.Sprintf("The run has stored --%s:\n  %s\nIt is executed to start the agents. Execute it? [y/N] ", name, quote(*value))
			if err := ask(question, command.Usagef("not begun; --%s says what to execute instead", name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// quote writes s for a shell. Characters that a terminal would obey are escaped.
func quote(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 }) {
		return fmt.Sprintf("%q", s)
	}
	if s != "" && !strings.ContainsAny(s, " \t'\"\\$`&|;<>()*?[]#~={}!") {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// asking asks a question, and returns nil where the answer is yes, else the error no.
type asking func(question string, no error) error

// person asks who sits at the terminal; nil where nobody does. A signal ends the question, with ErrInterrupted.
func person(c *cli.Context) asking {
	if c.Bool("json") || !progress.IsTerminal(os.Stdin) {
		return nil
	}
	return func(question string, no error) error {
		fmt.Fprint(c.App.ErrWriter, question)
		answered := make(chan error, 1)
		go func() { // which waits for a line for as long as the program runs
			answer, err := bufio.NewReader(os.Stdin).ReadString('\n')
			if err == nil && slices.Contains([]string{"y", "yes"}, strings.ToLower(strings.TrimSpace(answer))) {
				no = nil
			}
			answered <- no
		}()
		select {
		case err := <-answered:
			return err
		case <-c.Context.Done():
			fmt.Fprintln(c.App.ErrWriter)
			return command.WithCode(command.ExitInterrupted, command.ErrInterrupted)
		}
	}
}
