package measuring

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"calib/internal/exit"
	"calib/internal/launch"
	"calib/run"
)

// A command that a run has stored is executed only where it was given again, or a person has seen it and agreed.
func TestStoredCommandsAreConfirmed(t *testing.T) {
	const evil = "sh -c 'touch /tmp/x' {host}"
	yes, no := func(string, error) error { return nil }, func(_ string, no error) error { return no }
	for _, c := range []struct {
		name   string
		stored run.Where
		flags  string // beside --resume, joined by |
		ask    asking
		launch string // what is then executed
		refuse string
	}{
		{"calib's own", run.Where{Launch: launch.SSH}, "", nil, launch.SSH, ""},
		{"agents here", run.Where{Local: 2, Launch: evil}, "", nil, evil, ""},
		{"nobody to ask", run.Where{Launch: evil}, "", nil, "", `give it again: calib run --resume DIR --launch 'sh -c '\''touch /tmp/x'\'' {host}'`},
		{"a person refuses", run.Where{Launch: evil}, "", no, "", "not begun; --launch says what to execute instead"},
		{"a person agrees", run.Where{Launch: evil}, "", yes, evil, ""},
		{"given again", run.Where{Launch: evil}, "--launch|" + evil, nil, evil, ""},
		{"replaced", run.Where{Launch: evil}, "--launch|ssh -q {host}", no, "ssh -q {host}", ""},
		{"a binary", run.Where{Launch: launch.SSH, AgentBinary: "/tmp/b"}, "", nil, "",
			"--agent-binary /tmp/b, which would be executed"},
		{"a binary, given again", run.Where{Launch: launch.SSH, AgentBinary: "/tmp/b"}, "--agent-binary|/tmp/b", nil,
			launch.SSH, ""},
		{"a binary from here, given again", run.Where{Launch: launch.SSH, AgentBinary: "/tmp/b"}, "--agent-binary|new",
			nil, launch.SSH, ""},
		{"a certificate, given again", run.Where{Launch: launch.SSH, Cert: "/old"}, "--cert|new", nil, launch.SSH, ""},
		{"escapes", run.Where{Launch: "x\x1b[2J {host}"}, "", nil, "", `"x\x1b[2J {host}"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var asked []string
			ask := c.ask
			if ask != nil {
				ask = func(q string, no error) error { asked = append(asked, q); return c.ask(q, no) }
			}
			var said bytes.Buffer
			w := c.stored
			cmd := &cli.Command{Name: "run", Flags: append(WhereFlags(), &cli.StringFlag{Name: "resume"}),
				Action: func(ctx *cli.Context) error {
					if err := onlyResume(ctx); err != nil {
						return err
					}
					return confirmStored(ctx, &w, "calib run --resume DIR", ask)
				}}
			app := &cli.App{Commands: []*cli.Command{cmd}, Writer: &said, ErrWriter: &said,
				ExitErrHandler: func(*cli.Context, error) {}}
			args := []string{"calib", "run", "--resume", "DIR"}
			if c.flags != "" {
				args = append(args, strings.Split(c.flags, "|")...)
			}
			err := app.Run(args)
			if c.refuse != "" {
				if exit.CodeOf(err) != exit.Usage || !strings.Contains(err.Error(), c.refuse) {
					t.Errorf("got %v, want a refusal that says %s", err, c.refuse)
				}
				return
			}
			if err != nil || w.Launch != c.launch {
				t.Errorf("executes %q (%v), want %q", w.Launch, err, c.launch)
			}
			given, _ := filepath.Abs("new")
			if c.stored.Cert != "" && w.Cert != given {
				t.Errorf("certificate %s, want %s", w.Cert, given)
			}
			if strings.HasSuffix(c.flags, "-binary|new") && w.AgentBinary != given {
				t.Errorf("binary %s, want %s", w.AgentBinary, given)
			}
			for _, q := range asked {
				if !strings.Contains(q, quote(c.stored.Launch)) {
					t.Errorf("asked without showing the command: %s", q)
				}
			}
		})
	}
}
