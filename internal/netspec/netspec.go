// Package netspec describes an emulated network: the parameters that the simulator (transport/sim) and the lab
// (internal/lab) both realise, one in virtual time and one with real packets, and that calib must then find again.
//
// A packet passes, in this order: the sending host's block, the medium, the delay L, the receiving host's block. Every
// block is a first-come first-served server that takes A + m·(payload bytes) for a packet, where m = B − A/MSS (Stoica et
// al. 1994, eq. 2: b = a/p + m). In shared mode all packets pass one block; in switched mode each destination host has a
// port of its own, with a finite buffer. A packet that carries no payload passes the blocks free unless ChargeAcks is set.
package netspec

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
)

// Modes of the medium.
const (
	Shared   = "shared"
	Switched = "switched"
)

// Block is a communication block: A seconds a packet and, in the limit of long messages, B seconds a byte.
type Block struct {
	A float64 `yaml:"a" json:"a"` // s
	B float64 `yaml:"b" json:"b"` // s/B, B ≥ A/MSS
}

// Spec is a whole network.
type Spec struct {
	Name  string `yaml:"name" json:"name"`
	Hosts int    `yaml:"hosts" json:"hosts"`
	Mode  string `yaml:"mode" json:"mode"`
	// MSS is the payload of a full segment, p of eq. 1 [B]. The lab sets its devices' MTU from it.
	MSS  int   `yaml:"mss" json:"mss"`
	Host Block `yaml:"host" json:"host"`
	// Medium is the shared medium, or each switch port.
	Medium Block `yaml:"medium" json:"medium"`
	// L is the delay after the medium [s].
	L float64 `yaml:"l" json:"l"`
	// Buffer is the room of the medium's queue (of each port in switched mode), packets in service included
	// [packets]; 0 is unlimited.
	Buffer int `yaml:"buffer" json:"buffer"`
	// Loss is the probability that the medium drops a packet, drawn from Seed.
	Loss       float64 `yaml:"loss" json:"loss"`
	Seed       uint64  `yaml:"seed" json:"seed"`
	ChargeAcks bool    `yaml:"charge_acks" json:"charge_acks"`
	// Overrides replace the block of single hosts, by index from 0: one slow host.
	Overrides map[int]Block `yaml:"overrides" json:"overrides,omitempty"`
}

// HostBlock returns the block of host i.
func (s *Spec) HostBlock(i int) Block {
	if b, ok := s.Overrides[i]; ok {
		return b
	}
	return s.Host
}

// Service returns the time in seconds that block b takes for a packet of payload bytes.
func (s *Spec) Service(b Block, payload int) float64 {
	return b.A + (b.B-b.A/float64(s.MSS))*float64(payload)
}

// Packets returns how many packets a message of x bytes needs: ⌈x/p⌉, at least one.
func (s *Spec) Packets(x int) int { return max(1, (x+s.MSS-1)/s.MSS) }

// Validate reports the first thing wrong with s.
func (s *Spec) Validate() error {
	switch {
	case s.Hosts < 1 || s.Hosts > 4096:
		return fmt.Errorf("hosts: %d, want 1 to 4096", s.Hosts)
	case s.Mode != Shared && s.Mode != Switched:
		return fmt.Errorf("mode: %q, want %s or %s", s.Mode, Shared, Switched)
	case s.MSS < 88 || s.MSS > 65000:
		return fmt.Errorf("mss: %d, want 88 to 65000 bytes", s.MSS)
	case !within(s.L, 0, 10):
		return fmt.Errorf("l: %g s, want 0 to 10", s.L)
	case s.Buffer < 0:
		return fmt.Errorf("buffer: %d packets, want 0 (unlimited) or more", s.Buffer)
	case !within(s.Loss, 0, 1) || s.Loss == 1:
		return fmt.Errorf("loss: %g, want 0 to below 1", s.Loss)
	}
	if err := s.checkBlock("host", s.Host); err != nil {
		return err
	}
	if err := s.checkBlock("medium", s.Medium); err != nil {
		return err
	}
	for i, b := range s.Overrides {
		if i < 0 || i >= s.Hosts {
			return fmt.Errorf("overrides: host %d, but there are %d hosts (from 0)", i, s.Hosts)
		}
		if err := s.checkBlock(fmt.Sprintf("overrides[%d]", i), b); err != nil {
			return err
		}
	}
	return nil
}

func (s *Spec) checkBlock(name string, b Block) error {
	if !within(b.A, 0, 10) || !within(b.B, 0, 1) {
		return fmt.Errorf("%s: a=%g s, b=%g s/B: want 0 ≤ a ≤ 10 and 0 ≤ b ≤ 1", name, b.A, b.B)
	}
	if b.B < b.A/float64(s.MSS)*(1-1e-12) {
		return fmt.Errorf("%s: b=%g s/B is below a/mss=%g s/B: a packet cannot cost less than its fixed time",
			name, b.B, b.A/float64(s.MSS))
	}
	return nil
}

// within reports whether v is in [lo, hi], which NaN is not.
func within(v, lo, hi float64) bool { return v >= lo && v <= hi }

// ErrPreset reports a preset that does not exist.
var ErrPreset = errors.New("no such preset")

// Preset returns a named network with that many hosts (0 is the preset's own number).
func Preset(name string, hosts int) (*Spec, error) {
	s, ok := presets()[name]
	if !ok {
		return nil, fmt.Errorf("%w: %q (have %s)", ErrPreset, name, strings.Join(PresetNames(), ", "))
	}
	if hosts > 0 {
		s.Hosts = hosts
	}
	return &s, s.Validate()
}

// Load reads a lab file: YAML with the fields of Spec, and optionally preset: NAME, whose values it then changes. Times
// are in seconds.
func Load(path string) (*Spec, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	s, err := Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// Parse is Load on the text itself.
func Parse(text []byte) (*Spec, error) {
	var document any
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, err
	}
	var base struct {
		Preset string `yaml:"preset"`
	}
	if err := yaml.Unmarshal(text, &base); err != nil {
		return nil, err
	}
	s := Spec{Hosts: 4, Mode: Switched, MSS: 1448}
	if document == nil { // nothing but comments, which the decoder would take for an empty Spec
		return &s, nil
	}
	if base.Preset != "" {
		p, err := Preset(base.Preset, 0)
		if err != nil {
			return nil, err
		}
		s = *p
	}
	file := struct {
		Preset string `yaml:"preset"`
		Spec   `yaml:",inline"`
	}{Spec: s}
	if err := yaml.UnmarshalWithOptions(text, &file, yaml.Strict()); err != nil {
		return nil, err
	}
	return &file.Spec, file.Spec.Validate()
}

// Resolve reads "FILE", "PRESET" or "PRESET:HOSTS".
func Resolve(arg string) (*Spec, error) {
	name, n, hasN := strings.Cut(arg, ":")
	if _, ok := presets()[name]; !ok {
		s, err := Load(arg)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%w, nor a preset of that name (have %s)", err, strings.Join(PresetNames(), ", "))
		}
		return s, err
	}
	hosts := 0
	if hasN {
		var err error
		if hosts, err = strconv.Atoi(n); err != nil || hosts < 1 {
			return nil, fmt.Errorf("%q: want PRESET:HOSTS, for example %s:8", arg, name)
		}
	}
	return Preset(name, hosts)
}
