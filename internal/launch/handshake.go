package launch

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"mvdan.cc/sh/v3/syntax"
)

// The exchange with the shell at the far end, a line at a time. Neither side writes before the other has answered, so that
// neither reads what is meant for a later step:
//
//	→ echo calib-launch uname "$(uname -s)" "$(uname -m)"
//	← calib-launch uname Linux x86_64
//	→ one line of script with the hash, size and path of the binary for that machine
//	← calib-launch need       the shell now reads exactly so many bytes into its cache, unless it has them
//	→ the bytes
//	← calib-launch have       and the shell has become the agent
//
// Lines before a marker are what login scripts say, and are skipped.
const (
	marker      = "calib-launch "
	maxGreeting = 64 << 10 // bytes of login messages
)

// runScript finds this build by its hash, in the place where it is here (hosts often share a file system) or in the
// user's cache, or takes it from standard input; then becomes it. It has no newline: a shell reads it as a whole.
const runScript = `{ same() { test -x "$1" && s=$( { sha256sum <"$1" || shasum -a 256 <"$1"; } 2>/dev/null ) && ` +
	`test "${s%% *}" = "$h"; }; ` +
	`h=@HASH@; e=@EXE@; d=${XDG_CACHE_HOME:-${HOME:?is not set}/.cache}/calib; f=$d/calib-$h; t=$d/.tmp.@NONCE@; ` +
	`command -v sha256sum >/dev/null || command -v shasum >/dev/null || { echo "no sha256sum or shasum" >&2; exit 3; }; ` +
	`if same "$e"; then f=$e; elif same "$f"; then :; else echo calib-launch need; ` +
	`(umask 077; mkdir -p "$d") && head -c @SIZE@ >"$t" && chmod 755 "$t" && same "$t" && mv -f "$t" "$f" || ` +
	`{ rm -f "$t"; echo calib-launch fail; exit 3; }; fi; ` +
	`echo calib-launch have; exec "$f" @ARGS@; }`

// handshake turns the shell that p has reached into calib with args. It is bounded by ctx and, in each step, by the
// launcher's stepTimeout.
func (l *Launcher) handshake(ctx context.Context, p *Process, args []string) error {
	stop := context.AfterFunc(ctx, p.kill)
	err := l.exchange(p, args)
	if !stop() {
		return errors.Join(context.Cause(ctx), err)
	}
	p.setTimeout(0)
	return err
}

func (l *Launcher) exchange(p *Process, args []string) error {
	words, err := l.ask(p, `echo calib-launch uname "$(uname -s)" "$(uname -m)"`)
	if err != nil {
		return p.explain(ErrUnreachable, err)
	}
	if len(words) != 3 || words[0] != "uname" {
		return fmt.Errorf("%w: the shell there answered %q to uname", ErrArch, strings.Join(words, " "))
	}
	binary, err := pick(l.binaries, words[1], words[2])
	if err != nil {
		return err
	}
	script, err := fillScript(binary, args)
	if err != nil {
		return err
	}
	words, err = l.ask(p, script)
	if err == nil && words[0] == "need" {
		words, err = l.upload(p, binary)
	}
	switch {
	case err != nil:
		return p.explain(ErrUpload, err)
	case words[0] != "have":
		return p.explain(ErrUpload, io.EOF)
	}
	return nil
}

func fillScript(b Binary, args []string) (string, error) {
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
	return strings.NewReplacer("@HASH@", b.Hash, "@EXE@", quoted[0], "@SIZE@", strconv.FormatInt(b.Size, 10),
		"@NONCE@", rand.Text(), "@ARGS@", strings.Join(quoted[1:], " ")).Replace(runScript), nil
}

// upload sends the binary, each piece of it within the launcher's stepTimeout.
func (l *Launcher) upload(p *Process, b Binary) ([]string, error) {
	f, err := os.Open(b.Path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	_, err = io.CopyBuffer(timeoutWriter{p, l.stepTimeout}, io.LimitReader(f, b.Size), make([]byte, 256<<10))
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return nil, err
	}
	// Any other failure to write means that the far side gave up: it has said why, or has ended.
	return l.answer(p)
}

// timeoutWriter gives each Write the same time.
type timeoutWriter struct {
	p *Process
	d time.Duration
}

func (w timeoutWriter) Write(b []byte) (int, error) {
	w.p.setTimeout(w.d)
	return w.p.stdin.Write(b)
}

// ask sends a line and returns the words of the answer, at least one.
func (l *Launcher) ask(p *Process, line string) ([]string, error) {
	p.setTimeout(l.stepTimeout)
	if _, err := io.WriteString(p.stdin, line+"\n"); errors.Is(err, os.ErrDeadlineExceeded) {
		return nil, err
	}
	return l.answer(p)
}

// answer reads up to the next marker.
func (l *Launcher) answer(p *Process) ([]string, error) {
	p.setTimeout(l.stepTimeout)
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
