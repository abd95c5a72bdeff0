package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"

	"calib/internal/dataset"
	"calib/internal/needs"
	"calib/internal/rundir"
)

// The commands of testdata/script beyond testscript's own:
//
//	needs PROGRAM                 skip the script, or fail under CI=true, where the program is not installed
//	namespaces                    skip the script, or fail under CI=true, where no emulated cluster can be made
//	exits CODE PROGRAM [ARG...]   run it and want this exit code; stdout and stderr can then be asked
//	start NAME PROGRAM [ARG...]   run it in the background; it writes NAME.out and NAME.err.
//	                              With -terminal NAME its input is a terminal
//	signal NAME INT|TERM|HUP|KILL send it a signal
//	await NAME CODE               wait for its end and want this exit code, -1 for one that a signal ended
//	capture VAR FILE REGEXP       wait until a file matches, and keep what the first group matched; VAR - keeps nothing
//	conforms SCHEMA FILE          want one JSON document, or stdout, or a line of it, that the
//	                              schema of that name allows; any allows all;
//	                              the data of a result conforms to the schema of its command, where there is one
//	same-run DIR DIR              want equal samples and parameters, apart from the name of the run
//	prefix FILE FILE              want the second file to begin with all of the first
//	listen VAR                    hold a port of 127.0.0.1 until the script ends
//	follow RUN VERB [ARG...]      run the commands that calib VERB names on RUN, until it names none
//	questions FILE                run the commands of a table of questions, and want the answers that it shows
//	tutorial FILE                 run the commands of a page, and want what it shows
//	snippets FILE                 run the Python of a page
//	slurm                         start a cluster of Slurm
//	sshd                          start eight hosts that ssh reaches
//	feed FILE LINK NAME PROGRAM [ARG...]
//	                              start it with LINK leading to a pipe, interrupt it when it
//	                              reads that, then give it the content of FILE

// background is a process that a script has started.
type background struct {
	cmd  *exec.Cmd
	done chan struct{}
}

type jobsKey struct{}

func jobs(ts *testscript.TestScript) map[string]*background {
	return ts.Value(jobsKey{}).(map[string]*background)
}

func job1(ts *testscript.TestScript, name string) *background {
	b := jobs(ts)[name]
	if b == nil {
		ts.Fatalf("no background process %s", name)
	}
	return b
}

// want is for what every command does first.
func want(ts *testscript.TestScript, ok, neg bool, usage string) {
	if !ok || neg {
		ts.Fatalf("usage: %s", usage)
	}
}

type testKey struct{}

func cmdNeeds(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, len(args) == 1, neg, "needs PROGRAM")
	needs.Program(ts.Value(testKey{}).(testscript.T), args[0])
}

func cmdNamespaces(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, len(args) == 0, neg, "namespaces")
	needs.Namespaces(ts.Value(testKey{}).(testscript.T))
}

func cmdExits(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, len(args) >= 2, neg, "exits CODE PROGRAM [ARG...]")
	err := ts.Exec(args[1], args[2:]...)
	code := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		code, err = exit.ExitCode(), nil
	}
	ts.Check(err)
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("exit code %d, want %s", code, args[0])
	}
}

func cmdStart(ts *testscript.TestScript, neg bool, args []string) {
	terminal := len(args) > 0 && args[0] == "-terminal"
	if terminal {
		args = args[1:]
	}
	want(ts, len(args) >= 2, neg, "start [-terminal] NAME PROGRAM [ARG...]")
	path := args[1]
	if !strings.Contains(path, "/") {
		var err error
		path, err = exec.LookPath(path)
		ts.Check(err)
	}
	b := &background{cmd: exec.Command(path, args[2:]...), done: make(chan struct{})}
	b.cmd.Dir = ts.MkAbs(".")
	b.cmd.Env = append(os.Environ(), "WORK="+ts.Getenv("WORK"), "HOME="+ts.Getenv("HOME"), "PATH="+ts.Getenv("PATH"))
	out, err := os.Create(ts.MkAbs(args[0] + ".out"))
	ts.Check(err)
	defer out.Close()
	said, err := os.Create(ts.MkAbs(args[0] + ".err"))
	ts.Check(err)
	defer said.Close()
	b.cmd.Stdout, b.cmd.Stderr = out, said
	if terminal {
		in := openTerminal(ts)
		defer in.Close()
		b.cmd.Stdin = in
	}
	ts.Check(b.cmd.Start())
	jobs(ts)[args[0]] = b
	go func() {
		_ = b.cmd.Wait() // await reads the state
		close(b.done)
	}()
	ts.Defer(func() {
		_ = b.cmd.Process.Kill() // fails where it has ended, as it should have
		<-b.done
	})
}

// openTerminal returns a terminal at which nobody types, until the script ends.
func openTerminal(ts *testscript.TestScript) *os.File {
	keys, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	ts.Check(err)
	ts.Defer(func() { keys.Close() })
	ts.Check(unix.IoctlSetPointerInt(int(keys.Fd()), unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(int(keys.Fd()), unix.TIOCGPTN)
	ts.Check(err)
	in, err := os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
	ts.Check(err)
	return in
}

func cmdSignal(ts *testscript.TestScript, neg bool, args []string) {
	signals := map[string]syscall.Signal{"INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP,
		"KILL": syscall.SIGKILL}
	want(ts, len(args) == 2 && signals[args[1]] != 0, neg, "signal NAME INT|TERM|HUP|KILL")
	ts.Check(job1(ts, args[0]).cmd.Process.Signal(signals[args[1]]))
}

func cmdAwait(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, len(args) == 2, neg, "await NAME CODE")
	b := job1(ts, args[0])
	ended := func() bool {
		select {
		case <-b.done:
			return true
		default:
			return false
		}
	}
	said := func() string { return ts.ReadFile(args[0]+".out") + ts.ReadFile(args[0]+".err") }
	if !poll(ended) {
		ts.Fatalf("%s has not ended in %v; it said:\n%s", args[0], patience, said())
	}
	if code := b.cmd.ProcessState.ExitCode(); strconv.Itoa(code) != args[1] {
		ts.Fatalf("%s: exit code %d, want %s; it said:\n%s", args[0], code, args[1], said())
	}
}

func cmdCapture(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, len(args) == 3, neg, "capture VAR FILE REGEXP")
	re, err := regexp.Compile(args[2])
	ts.Check(err)
	var m [][]byte
	var text []byte
	if !poll(func() bool {
		text, err = os.ReadFile(ts.MkAbs(args[1])) // may not be there yet
		m = re.FindSubmatch(text)
		return m != nil
	}) {
		ts.Fatalf("%s does not match %s in %v: %v\n%s", args[1], args[2], patience, err, text)
	}
	if args[0] != "-" {
		ts.Setenv(args[0], string(m[1]))
	}
}

func cmdConforms(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, len(args) == 2, neg, "conforms SCHEMA FILE")
	all, err := schemas()
	ts.Check(err)
	all["any"] = &jsonschema.Schema{}
	s := all[args[0]]
	if s == nil {
		ts.Fatalf("no schema %s", args[0])
	}
	schema, err := s.Resolve(nil)
	ts.Check(err)
	documents := []string{ts.ReadFile(args[1])}
	switch lines := strings.Split(strings.TrimSpace(documents[0]), "\n"); args[0] {
	case "header":
		documents = lines[:1]
	case "sample":
		documents = lines[1:]
	case "event":
		documents = lines
	}
	for _, text := range documents {
		var doc any
		dec := json.NewDecoder(strings.NewReader(text))
		ts.Check(dec.Decode(&doc))
		if dec.More() {
			ts.Fatalf("%s: more than one document", args[1])
		}
		ts.Check(schema.Validate(doc))
		result, _ := doc.(map[string]any)
		name, _ := result["command"].(string)
		if data := all["data-"+strings.ReplaceAll(name, " ", "-")]; args[0] == "result" && data != nil &&
			result["data"] != nil {
			of, err := data.Resolve(nil)
			ts.Check(err)
			ts.Check(of.Validate(result["data"]))
		}
	}
}

func cmdSameRun(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, len(args) == 2, neg, "same-run DIR DIR")
	for _, name := range []string{rundir.SamplesFile, rundir.ParamsFile} {
		var texts [2][]byte
		for i, dir := range args {
			d, err := dataset.ReadFile(filepath.Join(ts.MkAbs(dir), rundir.SamplesFile))
			ts.Check(err)
			texts[i] = bytes.ReplaceAll([]byte(ts.ReadFile(filepath.Join(dir, name))), []byte(d.Header.Run), []byte("RUN"))
		}
		if !bytes.Equal(texts[0], texts[1]) {
			ts.Fatalf("%s differs between %s and %s", name, args[0], args[1])
		}
	}
}

func cmdPrefix(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, len(args) == 2, neg, "prefix FILE FILE")
	if a, b := ts.ReadFile(args[0]), ts.ReadFile(args[1]); !strings.HasPrefix(b, a) || a == b {
		ts.Fatalf("%s does not go on from %s", args[1], args[0])
	}
}

func cmdListen(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, len(args) == 1, neg, "listen VAR")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Defer(func() { l.Close() })
	ts.Setenv(args[0], strconv.Itoa(l.Addr().(*net.TCPAddr).Port))
}

func cmdFeed(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, len(args) >= 4, neg, "feed FILE LINK NAME PROGRAM [ARG...]")
	first, rest, _ := strings.Cut(ts.ReadFile(args[0]), "\n")
	r, w, err := os.Pipe()
	ts.Check(err)
	defer r.Close()
	ts.Check(os.Symlink(fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), r.Fd()), ts.MkAbs(args[1])))
	_, err = w.WriteString(first + "\n")
	ts.Check(err)
	cmdStart(ts, false, args[2:])
	if !poll(func() bool {
		left, err := unix.IoctlGetInt(int(r.Fd()), unix.TIOCINQ)
		return err == nil && left == 0
	}) {
		ts.Fatalf("nobody reads %s", args[1])
	}
	cmdSignal(ts, false, []string{args[2], "INT"})
	_, err = w.WriteString(rest)
	ts.Check(errors.Join(err, w.Close()))
}
