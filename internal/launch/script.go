package launch

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	_ "embed"
	"fmt"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// runScript becomes the agent. It runs only what nobody but root and this user can change between check and exec: the
// binary in the place where it is here (hosts often share a file system), where every directory above it is safe too,
// or a copy in a directory of the user's own.
//
//go:embed run.sh
var runScript string

// sample is what no stream but one that passes on bytes as they are lets through: it ends without a line break, and has
// what a terminal changes.
const sample = "\x00\xff\r\n\x04\x1b"

// streamCheck sends sample to the coordinator, and expects it from there.
var streamCheck = fmt.Sprintf(`say stream; printf '\000\377\015\012\004\033'; s=$(head -c %d | hash); test "${s%%%% *}" = %x || fail stream`,
	len(sample), sha256.Sum256([]byte(sample)))

// unameScript says what machine it is. It needs no more than a shell.
const unameScript = `echo "calib-launch @NAME@uname $(uname -s) $(uname -m)"`

// fill makes the script that becomes b with args and, behind them, the shell's words more. name is what the shell puts
// in front of each answer; check tests its streams.
func fill(b Binary, name, check string, packed int, args []string, more ...string) (string, error) {
	quoted := make([]string, 0, len(args)+1)
	for _, s := range append([]string{b.Path}, args...) {
		q, err := syntax.Quote(s, syntax.LangPOSIX)
		if err != nil {
			return "", fmt.Errorf("argument %q: %w", s, err)
		}
		if strings.Contains(q, "\n") {
			return "", fmt.Errorf("argument %q: a line break in it", s)
		}
		quoted = append(quoted, q)
	}
	return strings.NewReplacer("@NAME@", name, "@HASH@", b.Hash, "@EXE@", quoted[0], "@SIZE@", strconv.Itoa(packed), "@NONCE@", rand.Text(),
		"@STREAM@", check, "@ARGS@", strings.Join(append(quoted[1:], more...), " ")).Replace(runScript), nil
}

// failures say what the script's word for what failed means, and how to mend it; {another} is how another directory is
// named.
var failures = map[string]string{
	"tools": "step tools: a program is missing there: install it",
	"cache": "step cache: no directory for calib can be made there: {another}",
	"private": "step cache: calib's directory there is not the user's own, or not of mode 0700, so that others could exchange what is run: " +
		"remove it, or {another}",
	"write":  "step copy: what was sent could not be written: make room there, or {another}",
	"noexec": "step copy: nothing can be run from calib's directory there (a file system mounted noexec): {another}",
	"hash":   "step copy: what arrived there is not what was sent: the prefix changes or loses bytes",
	"stream": "step streams: the prefix changed what was sent: " + streamsAdvice,
}

// failure is the error of a word of failures.
func failure(word, another string) error {
	text := cmp.Or(failures[word], "step "+word+" failed")
	return fmt.Errorf("%w: %s", ErrUpload, strings.ReplaceAll(text, "{another}", "name another with "+another))
}

// streamsAdvice is how the streams of common launchers are made to pass on bytes as they are.
const streamsAdvice = "give it no terminal and no line buffer (srun --unbuffered, docker exec -i and kubectl exec -i without -t, ssh -T, stdbuf -o0)"
