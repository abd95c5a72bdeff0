package launch

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"debug/buildinfo"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"mvdan.cc/sh/v3/syntax"

	"calib/internal/files"
)

// The exchange with the shell at the far end. Neither side writes before the other has answered, so that neither reads
// what is meant for a later step:
//
//	→ a line of script that says what machine it is
//	← calib-launch uname Linux x86_64
//	→ run.sh with the hash, size and path of the binary for that machine
//	← calib-launch need       or have
//	→ copy, and the binary under gzip; or go
//	← calib-launch stream     and sample, which has no line break at its end
//	→ sample
//	← calib-launch ready      and the shell has become the agent
//
// Lines before a marker are what login scripts say, and are skipped. Where something fails, the answer is "calib-launch
// fail" and a word of failures.
const (
	marker      = "calib-launch "
	maxGreeting = 64 << 10 // bytes of login messages
)

// handshake turns the shell that p has reached into calib with args. It is bounded by ctx and, in each step, by the
// launcher's stepTimeout.
func (l *Launcher) handshake(ctx context.Context, p *Process, host string, args []string) error {
	stop := context.AfterFunc(ctx, p.end)
	err := l.exchange(p, host, args)
	if !stop() {
		return errors.Join(context.Cause(ctx), err)
	}
	p.setTimeout(0)
	return err
}

func (l *Launcher) exchange(p *Process, host string, args []string) error {
	words, err := p.ask(strings.ReplaceAll(unameScript, "@NAME@", "")+"\n", l.stepTimeout)
	if err != nil {
		return l.unreached(p, host, err)
	}
	if len(words) > 1 && strings.HasPrefix(words[1], "$(") {
		return fmt.Errorf("%w: it repeats what is sent, as a terminal does: %s", ErrStreams, streamsAdvice)
	}
	if len(words) != 3 || words[0] != "uname" {
		return oddAnswer("there", words)
	}
	binary, err := pick(l.binaries, words[1], words[2])
	if err != nil {
		return err
	}
	script, packed, err := fill(binary, "", streamCheck, args)
	if err != nil {
		return err
	}
	words, err = p.ask(script, l.stepTimeout)
	if err == nil && words[0] == "need" {
		words, err = p.ask("copy\n"+string(packed), l.stepTimeout)
	} else if err == nil && words[0] == "have" {
		words, err = p.ask("go\n", l.stepTimeout)
	}
	if err = l.expect(p, "stream", words, err); err != nil {
		return err
	}
	return l.testStreams(p)
}

// oddAnswer is the error of a shell, which where names, that does not say what machine it is on.
func oddAnswer(where string, words []string) error {
	return fmt.Errorf("%w: the shell %s answered %q to uname: its login files must print nothing", ErrArch, where,
		strings.Join(words, " "))
}

// unreached explains why no shell answered; where ssh failed, with the step.
func (l *Launcher) unreached(p *Process, host string, err error) error {
	err = p.explain(ErrUnreachable, err)
	step := ""
	if l.ssh() {
		step = sshStep(p.Stderr(), host)
	}
	if step == "" && errors.Is(err, ErrTimeout) {
		step = fmt.Sprintf("step login: no shell answered there within %v: see by hand what the prefix does (%s echo ready)",
			l.stepTimeout, strings.Join(p.cmd.Args[:len(p.cmd.Args)-1], " "))
	}
	if step == "" {
		return err
	}
	return fmt.Errorf("%w; %s", err, step)
}

// testStreams sees that bytes pass in both directions at once and as they are, also where no line ends.
func (l *Launcher) testStreams(p *Process) error {
	p.setTimeout(l.streamTimeout)
	got := make([]byte, len(sample))
	switch n, err := io.ReadFull(p.out, got); {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("%w: %d of %d bytes came within %v: the prefix holds bytes back until a line ends: %s",
			ErrStreams, n, len(sample), l.streamTimeout, streamsAdvice)
	case err != nil:
		return p.explain(ErrStreams, err)
	case !bytes.Equal(got, []byte(sample)):
		return fmt.Errorf("%w: %q came as %q: %s", ErrStreams, sample, got, streamsAdvice)
	}
	words, err := p.ask(sample, l.streamTimeout)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("%w: what was sent without a line break did not reach the host within %v: %s",
			ErrStreams, l.streamTimeout, streamsAdvice)
	}
	return l.expect(p, "ready", words, err)
}

func (l *Launcher) expect(p *Process, want string, words []string, err error) error {
	switch {
	case err != nil:
		return p.explain(ErrUpload, err)
	case words[0] == want:
		return nil
	case words[0] == "fail":
		another := "--launch '" + strings.Join(l.words, " ") + " env XDG_CACHE_HOME=/DIR'"
		return p.explain(failure(strings.Join(words[1:], " "), another), io.EOF)
	}
	return fmt.Errorf("%w: the shell there answered %q, not %q", ErrUpload, strings.Join(words, " "), want)
}

const pieceBytes = 256 << 10

// send gives each piece of text the same time, so that much may take long on a slow way, but not stand still. A failure
// other than for want of time means that the far side gave up: it has said why, or has ended, as who reads its answer
// sees.
func (p *Process) send(text string, within time.Duration) error {
	for piece := range slices.Chunk([]byte(text), pieceBytes) {
		p.setTimeout(within)
		if _, err := p.stdin.Write(piece); errors.Is(err, os.ErrDeadlineExceeded) {
			return err
		} else if err != nil {
			return nil
		}
	}
	return nil
}

// ask sends text and returns the words of the answer, at least one.
func (p *Process) ask(text string, within time.Duration) ([]string, error) {
	if err := p.send(text, within); err != nil {
		return nil, err
	}
	return p.answer(within)
}

func (p *Process) answer(within time.Duration) ([]string, error) {
	p.setTimeout(within)
	for n := 0; n < maxGreeting; {
		line, err := p.out.ReadSlice('\n')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return nil, err
		}
		n += len(line)
		if _, said, ok := strings.Cut(string(line), marker); ok && err == nil {
			if words := strings.Fields(said); len(words) > 0 {
				return words, nil
			}
		}
	}
	return nil, fmt.Errorf("more than %d bytes of other text before the shell's answer", maxGreeting)
}

// Binary is an executable of calib that may be copied to a host.
type Binary struct {
	Path         string // absolute; "" for one that is a part of calib
	Hash         string // SHA-256, hexadecimal
	GOOS, GOARCH string

	packed func() ([]byte, error) // the executable under gzip
}

// ReadBinary reads what a binary of Go says of itself, and its hash. It is compressed when it is first copied.
func ReadBinary(path string) (Binary, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return Binary{}, err
	}
	b := Binary{Path: abs, packed: sync.OnceValues(func() ([]byte, error) { return pack(abs) })}
	if b.Hash, _, err = files.SHA256(abs); err == nil { // which refuses what cannot be read to its end
		err = b.target(buildinfo.ReadFile(abs))
	}
	if err != nil {
		return Binary{}, fmt.Errorf("agent binary %s: %w", path, err)
	}
	return b, nil
}

// Unpack is ReadBinary for an executable that is at hand under gzip.
func Unpack(packed []byte) (Binary, error) {
	b := Binary{packed: func() ([]byte, error) { return packed, nil }}
	var text []byte
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err == nil {
		text, err = io.ReadAll(r)
	}
	if err == nil {
		b.Hash = fmt.Sprintf("%x", sha256.Sum256(text))
		err = b.target(buildinfo.Read(bytes.NewReader(text)))
	}
	if err != nil {
		return Binary{}, fmt.Errorf("packed agent binary: %w", err)
	}
	return b, nil
}

// target takes the system from what an executable says of itself.
func (b *Binary) target(info *debug.BuildInfo, err error) error {
	if err != nil {
		return err
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "GOOS":
			b.GOOS = s.Value
		case "GOARCH":
			b.GOARCH = s.Value
		}
	}
	return nil
}

// pack compresses fast: the file is a whole calib, and a person waits.
func pack(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var out bytes.Buffer
	w, _ := gzip.NewWriterLevel(&out, gzip.BestSpeed) // it fails for other levels only
	_, err = io.Copy(w, f)
	err = errors.Join(err, w.Close())
	return out.Bytes(), err
}

// machines are Go's names for what uname -m says, where they differ.
var machines = map[string]string{"x86_64": "amd64", "aarch64": "arm64", "i686": "386", "armv6l": "arm", "armv7l": "arm",
	"loongarch64": "loong64"}

// pick returns the first binary for a system, given as uname -s and -m name it.
func pick(binaries []Binary, system, machine string) (Binary, error) {
	goos, goarch := strings.ToLower(system), cmp.Or(machines[machine], machine)
	var have []string
	for _, b := range binaries {
		if b.GOOS == goos && b.GOARCH == goarch {
			return b, nil
		}
		have = append(have, b.GOOS+"/"+b.GOARCH)
	}
	return Binary{}, fmt.Errorf("%w: it is %s/%s, and calib here has agents for %s: build one for it "+
		"(GOOS=%s GOARCH=%s go build -o calib-agent-%s ./cmd/calib-agent) and give it with --agent-binary calib-agent-%s",
		ErrArch, goos, goarch, strings.Join(have, " and "), goos, goarch, goarch, goarch)
}

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
var streamCheck = fmt.Sprintf(`say stream; printf '\000\377\015\012\004\033'; s=$(head -c %d | hash); `+
	`test "${s%%%% *}" = %x || fail stream`, len(sample), sha256.Sum256([]byte(sample)))

// unameScript says what machine it is. It needs no more than a shell.
const unameScript = `echo "calib-launch @NAME@uname $(uname -s) $(uname -m)"`

// fill makes the script that becomes b with args and, behind them, the shell's words more, and returns b under gzip.
// name is what the shell puts in front of each answer; check tests its streams.
func fill(b Binary, name, check string, args []string, more ...string) (script string, packed []byte, err error) {
	if packed, err = b.packed(); err != nil {
		return "", nil, err
	}
	quoted := make([]string, 0, len(args)+1)
	for _, s := range append([]string{b.Path}, args...) {
		q, err := syntax.Quote(s, syntax.LangPOSIX)
		if err != nil {
			return "", nil, fmt.Errorf("argument %q: %w", s, err)
		}
		if strings.Contains(q, "\n") {
			return "", nil, fmt.Errorf("argument %q: a line break in it", s)
		}
		quoted = append(quoted, q)
	}
	return strings.NewReplacer("@NAME@", name, "@HASH@", b.Hash, "@EXE@", quoted[0], "@SIZE@", strconv.Itoa(len(packed)),
		"@NONCE@", rand.Text(), "@STREAM@", check,
		"@ARGS@", strings.Join(append(quoted[1:], more...), " ")).Replace(runScript), packed, nil
}

// failures say what the script's word for what failed means, and how to mend it; {another} is how another directory is
// named.
var failures = map[string]string{
	"tools": "step tools: a program is missing there: install it",
	"cache": "step cache: no directory for calib can be made there: {another}",
	"private": "step cache: calib's directory there is not the user's own, or not of mode 0700, " +
		"so that others could exchange what is run: remove it, or {another}",
	"write":  "step copy: what was sent could not be written: make room there, or {another}",
	"noexec": "step copy: nothing can be run from calib's directory there (a file system mounted noexec): {another}",
	"hash":   "step copy: what arrived there is not what was sent: the prefix changes or loses bytes",
	"stream": "step streams: the prefix changed what was sent: " + streamsAdvice,
}

func failure(word, another string) error {
	text := cmp.Or(failures[word], "step "+word+" failed")
	return fmt.Errorf("%w: %s", ErrUpload, strings.ReplaceAll(text, "{another}", "name another with "+another))
}

// streamsAdvice is how the streams of common launchers are made to pass on bytes as they are.
const streamsAdvice = "give it no terminal and no line buffer " +
	"(srun --unbuffered, docker exec -i and kubectl exec -i without -t, ssh -T, stdbuf -o0)"
