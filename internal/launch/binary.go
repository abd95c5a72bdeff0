package launch

import (
	"debug/buildinfo"
	"fmt"
	"path/filepath"
	"strings"

	"calib/internal/files"
)

// Binary is an executable of calib that may be copied to a host.
type Binary struct {
	Path         string // absolute
	Hash         string // SHA-256, hexadecimal
	Size         int64
	GOOS, GOARCH string
}

// ReadBinary reads what a binary of Go says of itself, and its hash.
func ReadBinary(path string) (Binary, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return Binary{}, err
	}
	info, err := buildinfo.ReadFile(abs)
	if err != nil {
		return Binary{}, fmt.Errorf("agent binary %s: %w", path, err)
	}
	b := Binary{Path: abs}
	for _, s := range info.Settings {
		switch s.Key {
		case "GOOS":
			b.GOOS = s.Value
		case "GOARCH":
			b.GOARCH = s.Value
		}
	}
	if b.Hash, b.Size, err = files.SHA256(abs); err != nil {
		return Binary{}, fmt.Errorf("agent binary %s: %w", path, err)
	}
	return b, nil
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
	return Binary{}, fmt.Errorf("%w: it is %s/%s, and calib here is %s: build one for it "+
		"(GOOS=%s GOARCH=%s go build -o calib-%s ./cmd/calib) and give it with --agent-binary calib-%s",
		ErrArch, goos, goarch, strings.Join(have, " and "), goos, goarch, goarch, goarch)
}
