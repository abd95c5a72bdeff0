package launch

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
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
	stop := context.AfterFunc(ctx, p.kill)
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
		return fmt.Errorf("%w: the shell there answered %q to uname", ErrArch, strings.Join(words, " "))
	}
	binary, err := pick(l.binaries, words[1], words[2])
	if err != nil {
		return err
	}
	packed, err := binary.packed()
	if err != nil {
		return err
	}
	script, err := fill(binary, "", streamCheck, len(packed), args)
	if err != nil {
		return err
	}
	words, err = p.ask(script, l.stepTimeout)
	if err == nil && words[0] == "need" {
		if words, err = p.ask("copy\n"+string(packed), l.stepTimeout); err == nil && words[0] == "stream" {
			l.add(len(packed))
		}
	} else if err == nil && words[0] == "have" {
		words, err = p.ask("go\n", l.stepTimeout)
	}
	if err = l.expect(p, "stream", words, err); err != nil {
		return err
	}
	return l.testStreams(p)
}

// unreached explains why no shell answered; where ssh failed, with the step.
func (l *Launcher) unreached(p *Process, host string, err error) error {
	err = p.explain(ErrUnreachable, err)
	step := ""
	if l.ssh() {
		step = sshStep(p.Stderr(), host)
	}
	if step == "" && errors.Is(err, ErrTimeout) {
		step = fmt.Sprintf("step login: no shell answered there within %v: see by hand what the prefix does (%s echo ready)", l.stepTimeout,
			strings.Join(p.cmd.Args[:len(p.cmd.Args)-1], " "))
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
		return fmt.Errorf("%w: %d of %d bytes came within %v: what ends no line is kept back: %s",
			ErrStreams, n, len(sample), l.streamTimeout, streamsAdvice)
	case err != nil:
		return p.explain(ErrStreams, err)
	case !bytes.Equal(got, []byte(sample)):
		return fmt.Errorf("%w: %q came as %q: %s", ErrStreams, sample, got, streamsAdvice)
	}
	words, err := p.ask(sample, l.streamTimeout)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("%w: what was sent without a line break did not reach the host within %v: %s", ErrStreams, l.streamTimeout, streamsAdvice)
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

// timeoutWriter gives each piece of what is written the same time, so that much may take long on a slow way, but not
// stand still.
type timeoutWriter struct {
	p *Process
	d time.Duration
}

const pieceBytes = 256 << 10

func (w timeoutWriter) Write(b []byte) (int, error) {
	for done := 0; ; {
		w.p.setTimeout(w.d)
		n, err := w.p.stdin.Write(b[done:min(done+pieceBytes, len(b))])
		if done += n; err != nil || done == len(b) {
			return done, err
		}
	}
}

// ask sends text, each piece of it within the time, and returns the words of the answer, at least one. A failure to
// write other than for want of time means that the far side gave up: it has said why, or has ended.
func (p *Process) ask(text string, within time.Duration) ([]string, error) {
	if _, err := io.WriteString(timeoutWriter{p, within}, text); errors.Is(err, os.ErrDeadlineExceeded) {
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
