package launch

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/rand"
	"crypto/sha256"
	"debug/buildinfo"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"

	"calib/internal/files"
)

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
		sum := sha256.Sum256(text)
		b.Hash = hex.EncodeToString(sum[:])
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
	w, err := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	if err != nil {
		return nil, err
	}
	_, err = io.Copy(w, f)
	err = errors.Join(err, w.Close())
	return out.Bytes(), err
}

// machines are Go's names for what uname -m says.
var machines = map[string]string{
	"x86_64": "amd64", "amd64": "amd64",
	"aarch64": "arm64", "arm64": "arm64",
	"i386": "386", "i486": "386", "i586": "386", "i686": "386",
	"armv6l": "arm", "armv7l": "arm", "armv8l": "arm",
	"ppc64le": "ppc64le", "ppc64": "ppc64", "s390x": "s390x", "riscv64": "riscv64", "loongarch64": "loong64",
}

// pick returns the first binary for a system, given as uname -s and -m name it.
func pick(binaries []Binary, system, machine string) (Binary, error) {
	goos, goarch := strings.ToLower(system), machines[machine]
	if goarch == "" {
		return Binary{}, fmt.Errorf("%w: it is a %s %s, which calib does not know", ErrArch, system, machine)
	}
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

func failure(word, another string) error {
	text := cmp.Or(failures[word], "step "+word+" failed")
	return fmt.Errorf("%w: %s", ErrUpload, strings.ReplaceAll(text, "{another}", "name another with "+another))
}

// streamsAdvice is how the streams of common launchers are made to pass on bytes as they are.
const streamsAdvice = "give it no terminal and no line buffer (srun --unbuffered, docker exec -i and kubectl exec -i without -t, ssh -T, stdbuf -o0)"
