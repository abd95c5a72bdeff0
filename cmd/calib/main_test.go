package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain makes this binary calib where a script, or a coordinator that starts its agents, runs it under that name.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"calib": main, "oldagent": oldAgent, "relay": relay, "attack": attack})
}

// TestScriptUnderNohup: what a script starts ignores nothing, also where the tests are run by nohup.
func TestScriptUnderNohup(t *testing.T) {
	const inner = "CALIB_UNDER_NOHUP"
	if os.Getenv(inner) != "" {
		t.Fatal("the tests run by nohup are to be one script, and not this test again")
	}
	cmd := exec.Command("sh", "-c", `trap "" HUP; exec "$0" -test.run "^TestScript$/^dispositions$"`, os.Args[0])
	cmd.Env = append(os.Environ(), inner+"=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestScript runs testdata/script, in parallel.
func TestScript(t *testing.T) { runScripts(t, "script") }

// TestScriptAlone runs testdata/alone: scripts with a lab, which is late where others run beside it.
func TestScriptAlone(t *testing.T) { runScripts(t, "alone") }

// runScripts runs the scripts of testdata/dir. No script may leave a process behind, of calib or of a launch prefix.
func runScripts(t *testing.T, dir string) {
	t.Helper()
	// What a process ignores, its children ignore: the scripts send HUP, which nohup has ignored. They run in parallel,
	// after this function.
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	t.Cleanup(func() { signal.Stop(hangups) })
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", dir),
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"namespaces": cmdNamespaces, "needs": cmdNeeds, "exits": cmdExits, "start": cmdStart, "signal": cmdSignal,
			"await": cmdAwait, "capture": cmdCapture,
			"conforms": cmdConforms, "same-run": cmdSameRun, "prefix": cmdPrefix, "listen": cmdListen, "feed": cmdFeed,
			"follow": cmdFollow, "slurm": cmdSlurm, "jobless": cmdJobless, "sshd": cmdSSHD, "tutorial": cmdTutorial,
			"questions": cmdQuestions, "snippets": cmdSnippets,
		},
		RequireExplicitExec: true, RequireUniqueNames: true,
		Setup: func(e *testscript.Env) error {
			e.Values[jobsKey{}] = map[string]*background{}
			e.Values[testKey{}] = e.T()
			e.Setenv("HOME", e.WorkDir)
			docs, err := filepath.Abs("../../docs")
			if err != nil {
				return err
			}
			e.Setenv("DOCS", docs)
			e.Defer(func() {
				if left := poll(func() bool { return len(processesOf(e.WorkDir)) == 0 }); !left {
					e.T().Fatal("left behind: ", strings.Join(processesOf(e.WorkDir), ", "))
				}
			})
			return nil
		},
	})
}

// patience bounds every wait of a script: a run may observe its pairs for 20 s before it measures.
const patience = time.Minute

// poll reports whether cond came true in time.
func poll(cond func() bool) bool {
	for end := time.Now().Add(patience); !cond(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

// processesOf lists the processes that were started, however indirectly, by the script that works in dir: they have its
// environment.
func processesOf(dir string) []string {
	var out []string
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		return []string{err.Error()}
	}
	for _, f := range files {
		env, err := os.ReadFile(f) // fails for a process that has just ended
		if err != nil || !bytes.Contains(append([]byte{0}, env...), []byte("\x00WORK="+dir+"\x00")) {
			continue
		}
		if command, err := commandOf(filepath.Dir(f)); err == nil {
			out = append(out, fmt.Sprintf("%s (%s)", filepath.Base(filepath.Dir(f)), command))
		}
	}
	return out
}

// commandOf is the command line of a process, given by its directory in /proc.
func commandOf(proc string) ([]byte, error) {
	args, err := os.ReadFile(filepath.Join(proc, "cmdline"))
	return bytes.ReplaceAll(args, []byte{0}, []byte{' '}), err
}
