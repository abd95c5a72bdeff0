package launch

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"

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
	if b.Hash, _, err = files.SHA256(abs); err != nil { // also of what cannot be read to its end
		return Binary{}, fmt.Errorf("agent binary %s: %w", path, err)
	}
	info, err := buildinfo.ReadFile(abs)
	if err != nil {
		return Binary{}, fmt.Errorf("agent binary %s: %w", path, err)
	}
	b.GOOS, b.GOARCH = target(info)
	return b, nil
}

// Unpack is ReadBinary for an executable that is at hand under gzip.
func Unpack(packed []byte) (Binary, error) {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return Binary{}, fmt.Errorf("packed agent binary: %w", err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		return Binary{}, fmt.Errorf("packed agent binary: %w", err)
	}
	info, err := buildinfo.Read(bytes.NewReader(text))
	if err != nil {
		return Binary{}, fmt.Errorf("packed agent binary: %w", err)
	}
	sum := sha256.Sum256(text)
	b := Binary{Hash: hex.EncodeToString(sum[:]), packed: func() ([]byte, error) { return packed, nil }}
	b.GOOS, b.GOARCH = target(info)
	return b, nil
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

func target(info *debug.BuildInfo) (goos, goarch string) {
	for _, s := range info.Settings {
		switch s.Key {
		case "GOOS":
			goos = s.Value
		case "GOARCH":
			goarch = s.Value
		}
	}
	return goos, goarch
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
