// Package netspec describes an emulated network by its parameters. The simulator (transport/sim) emulates it in virtual
// time, the lab (internal/lab) with real packets; calib must then find the parameters again.
//
// A packet passes, in this order: the sending host's block, the link between the two hosts' groups if there is one,
// its delay, the medium, the delay L, the receiving host's block. Every block is a first-come first-served server that
// takes A + m·(payload bytes) for a packet, but at least Min, where m = B − A/MSS (Stoica et al. 1994, eq. 2: b = a/p +
// m). In shared mode all packets pass one block; in switched mode each destination host has a port of its own, with a
// finite buffer. A packet without payload takes no time in the blocks.
//
// Beside the description: when packets pass it (Network), the queues of events for that, and what calib must find on it
// (TrueParameters, TrueFunctions).
package netspec

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"

	"calib/internal/files"
	"calib/internal/lists"
	"calib/internal/yaml"
)

const (
	Shared   = "shared"
	Switched = "switched"
)

// Block is a communication block: A seconds a packet and, in the limit of long messages, B seconds a byte.
type Block struct {
	A float64 `yaml:"a" json:"a"` // s
	B float64 `yaml:"b" json:"b"` // s/B, B ≥ A/MSS
	// Min is the least time of a packet, however short: that of the smallest frame [s].
	Min float64 `yaml:"min" json:"min,omitempty"`
}

// Fabric is the inside of a switch, as the term L(m, p) of Tam and Wang (2000, table 1) describes it: with p hosts
// active, a packet of m bytes is delayed, behind the medium, by
//
//	PerHost·p + Tau·m·(max(1, p·m/(Rate·g_s(m))) − 1),
//
// where g_s(m) is the service time of the sending host's block. It delays packets and does not reorder them.
type Fabric struct {
	PerHost float64 `yaml:"per_host" json:"per_host"` // s, l1
	Tau     float64 `yaml:"tau" json:"tau"`           // s/B
	Rate    float64 `yaml:"rate" json:"rate"`         // B/s, N: the aggregate limit; 0 is none
	// Window is how long after it has sent a packet a host counts as active [s]; 0 means 20 ms.
	Window float64 `yaml:"window" json:"window,omitempty"`
}

const activeWindow = 0.02 // s

func (f *Fabric) Active() float64 { return cmp.Or(f.Window, activeWindow) }

// Delay is what a packet of m payload bytes is delayed with p hosts active [s]; gs is the sending block's service time.
func (f *Fabric) Delay(m, p int, gs float64) float64 {
	d := f.PerHost * float64(p)
	if f.Rate > 0 && gs > 0 {
		d += f.Tau * float64(m) * (max(1, float64(p)*float64(m)/(f.Rate*gs)) - 1)
	}
	return d
}

type Spec struct {
	Name  string `yaml:"name" json:"name"`
	Hosts int    `yaml:"hosts" json:"hosts"`
	Mode  string `yaml:"mode" json:"mode"`
	// MSS is the payload of a full segment, p of eq. 1 [B]. The lab sets its devices' MTU from it.
	MSS  int   `yaml:"mss" json:"mss"`
	Host Block `yaml:"host" json:"host"`
	// Receive is the block of a receiving host; nil is that of the host as a sender.
	Receive *Block `yaml:"receive" json:"receive,omitempty"`
	// Medium is the shared medium, or each switch port.
	Medium Block `yaml:"medium" json:"medium"`
	// CutThrough: the medium begins with a packet when the sending host's block does, and ends no sooner than that
	// block. Otherwise it stores a packet before it forwards it.
	CutThrough bool `yaml:"cut_through" json:"cut_through,omitempty"`
	// Fabric delays packets by the load of the whole network; nil is none.
	Fabric *Fabric `yaml:"fabric" json:"fabric,omitempty"`
	// Slowdown says how many times slower this network is than the one it stands for. 0 is 1. It changes no packet's
	// time; the lab gives its hosts a least retransmission timeout that is as many times longer.
	Slowdown float64 `yaml:"slowdown" json:"slowdown,omitempty"`
	// L is the delay after the medium [s].
	L float64 `yaml:"l" json:"l"`
	// Buffer is the room of the medium's queue (of each port in switched mode), packets in service included [packets];
	// 0 is unlimited.
	Buffer int `yaml:"buffer" json:"buffer"`
	// Loss is the probability that the medium drops a packet, drawn from Seed.
	Loss float64 `yaml:"loss" json:"loss"`
	Seed uint64  `yaml:"seed" json:"seed"`
	// Links join groups of hosts: racks behind an uplink, one slow pair.
	Links []Link `yaml:"links" json:"links,omitempty"`
	// Overrides replace the block of single hosts, by index from 0: one slow host.
	Overrides map[int]Block `yaml:"overrides" json:"overrides,omitempty"`
}

func (s *Spec) HostBlock(i int) Block {
	if b, ok := s.Overrides[i]; ok {
		return b
	}
	return s.Host
}

func (s *Spec) ReceiveBlock(i int) Block {
	if b, ok := s.Overrides[i]; ok {
		return b
	}
	return *cmp.Or(s.Receive, &s.Host)
}

// Service returns the time in seconds that block b takes for a packet of payload bytes.
func (s *Spec) Service(b Block, payload int) float64 {
	return max(b.Min, b.A+(b.B-b.A/float64(s.MSS))*float64(payload))
}

func (s *Spec) Packets(x int) int { return max(1, (x+s.MSS-1)/s.MSS) }

func (s *Spec) Validate() error {
	switch {
	case s.Hosts < 1 || s.Hosts > 4096:
		return fmt.Errorf("hosts: %d, want 1 to 4096", s.Hosts)
	case s.Mode != Shared && s.Mode != Switched:
		return fmt.Errorf("mode: %q, want %s or %s", s.Mode, Shared, Switched)
	case s.MSS < 88 || s.MSS > 65000:
		return fmt.Errorf("mss: %d, want 88 to 65000 bytes", s.MSS)
	case !within(s.Slowdown, 1e6):
		return fmt.Errorf("slowdown: %g, want 0 to 1e6", s.Slowdown)
	}
	if err := checkQueue(s.L, s.Buffer, s.Loss); err != nil {
		return err
	}
	blocks := map[string]Block{"host": s.Host, "medium": s.Medium, "receive": *cmp.Or(s.Receive, &s.Host)}
	for i, b := range s.Overrides {
		if i < 0 || i >= s.Hosts {
			return fmt.Errorf("overrides: host %d, but there are %d hosts (from 0)", i, s.Hosts)
		}
		blocks[fmt.Sprintf("overrides[%d]", i)] = b
	}
	for i, l := range s.Links {
		blocks[fmt.Sprintf("links[%d]", i)] = l.Block
	}
	for name, b := range lists.ByKey(blocks) {
		if err := s.checkBlock(name, b); err != nil {
			return err
		}
	}
	if f := s.Fabric; f != nil && !(within(f.PerHost, 1) && within(f.Tau, 1) && within(f.Rate, 1e15) &&
		within(f.Window, 10)) {
		return fmt.Errorf("fabric: per_host=%g s, tau=%g s/B, rate=%g B/s, window=%g s: want per_host and tau in [0, 1], "+
			"rate in [0, 1e15], window in [0, 10]", f.PerHost, f.Tau, f.Rate, f.Window)
	}
	return s.checkLinks()
}

func (s *Spec) checkBlock(name string, b Block) error {
	if !within(b.A, 10) || !within(b.B, 1) || !within(b.Min, 10) {
		return fmt.Errorf("%s: a=%g s, b=%g s/B, min=%g s: want 0 ≤ a ≤ 10, 0 ≤ b ≤ 1 and 0 ≤ min ≤ 10",
			name, b.A, b.B, b.Min)
	}
	if b.B < b.A/float64(s.MSS)*(1-1e-12) {
		return fmt.Errorf("%s: b=%g s/B is below a/mss=%g s/B: a packet cannot cost less than its fixed time",
			name, b.B, b.A/float64(s.MSS))
	}
	return nil
}

// checkQueue checks the queue of a medium or a link, and the delay behind it.
func checkQueue(l float64, buffer int, loss float64) error {
	switch {
	case !within(l, 10):
		return fmt.Errorf("l: %g s, want 0 to 10", l)
	case buffer < 0:
		return fmt.Errorf("buffer: %d packets, want 0 (unlimited) or more", buffer)
	case !within(loss, 1) || loss == 1:
		return fmt.Errorf("loss: %g, want 0 to below 1", loss)
	}
	return nil
}

// within reports whether v is in [0, most], which NaN is not.
func within(v, most float64) bool { return v >= 0 && v <= most }

// Preset returns a named network with that many hosts (0 is the preset's own number).
func Preset(name string, hosts int) (*Spec, error) {
	s, ok := presets()[name]
	if !ok {
		return nil, fmt.Errorf("no such preset: %q (have %s)", name, strings.Join(PresetNames(), ", "))
	}
	if hosts > 0 {
		s.Hosts = hosts
	}
	return &s, s.Validate()
}

// Parse reads a lab file: YAML with the fields of Spec, and optionally preset: NAME, whose values it then changes.
// Times are in seconds.
func Parse(text []byte) (*Spec, error) {
	var document any
	if err := yaml.Decode(text, &document); err != nil {
		return nil, err
	}
	s := Spec{Hosts: 4, Mode: Switched, MSS: 1448}
	if document == nil { // the file has only comments, and the decoder would return an empty Spec
		return &s, nil
	}
	fields, _ := document.(map[string]any)
	if name := fields["preset"]; name != nil && name != "" {
		p, err := Preset(fmt.Sprint(name), 0)
		if err != nil {
			return nil, err
		}
		s = *p
	}
	file := struct {
		Preset string `yaml:"preset"`
		Spec   `yaml:",inline"`
	}{Spec: s}
	if err := yaml.Decode(text, &file); err != nil {
		return nil, err
	}
	return &file.Spec, file.Spec.Validate()
}

// Parts are the preset or file that arg names, and what asks for another number of hosts: ":8", or nothing.
func Parts(arg string) (name, hosts string) {
	if i := strings.LastIndexByte(arg, ':'); i >= 0 && strings.Trim(arg[i+1:], "-0123456789") == "" {
		return arg[:i], arg[i:]
	}
	return arg, ""
}

// Resolve reads a preset or a lab file, "PRESET" or "FILE", or with another number of hosts "PRESET:8" or "FILE:8".
func Resolve(arg string) (*Spec, error) {
	name, hosts := Parts(arg)
	s, known := presets()[name]
	if !known {
		text, err := files.Read(name, yaml.Max)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("neither a preset (%s) nor a file: %w", strings.Join(PresetNames(), ", "), err)
		}
		if err != nil {
			return nil, err
		}
		file, err := Parse(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		s = *file
	}
	if hosts != "" {
		var err error
		if s.Hosts, err = strconv.Atoi(hosts[1:]); err != nil || s.Hosts < 1 {
			return nil, fmt.Errorf("%q: want a number of hosts behind the colon, such as %s:8", arg, name)
		}
	}
	return &s, s.Validate()
}

// slowdown2000 is how many times slower the preset hku2000 is than its original, the cluster of Tam and Wang (2000) at
// the University of Hong Kong (HKU), so that one process can emulate it.
const slowdown2000 = 20

func presets() map[string]Spec {
	const us, slow = 1e-6, slowdown2000
	perPacket := func(fixed, perByte, least float64) Block { // [µs, µs/B, µs], slowed
		return Block{A: fixed * us * slow, B: (perByte + fixed/1448) * us * slow, Min: least * us * slow}
	}
	receive := perPacket(0, 0.0038, 0)
	return map[string]Spec{
		// Stoica, Sultan, Keyes 1994, section 4: SparcstationELC, SunOS 4.1.3, p4 1.3, shared Ethernet.
		"sparc1994": {
			Name: "sparc1994", Hosts: 8, Mode: Shared, MSS: 1448, Seed: 1994,
			Host:   Block{A: 859.52 * us, B: 1.42 * us},
			Medium: Block{A: 345.60 * us, B: 0.92 * us},
		},
		// Tam and Wang 2000, table 1: 16 PCs on a Fast Ethernet switch, slowdown2000 times slower. The host's block is
		// g_s, the port g_r; with cut-through, a packet of m bytes then takes 4.986 + 0.0788·m µs in the port, 11.698
		// µs in the delay and 0.0038·m µs at the receiver. Their sum is L of table 1, 16.684 + 0.0826·m µs, without its
		// terms 1.556·p and 90 B/µs, which are the fabric's.
		"hku2000": {
			Name: "hku2000", Hosts: 8, Mode: Switched, MSS: 1448, Seed: 2000, Slowdown: slow, CutThrough: true,
			Host: perPacket(3.027, 0.0796, 6.73), Medium: perPacket(4.986, 0.0788, 6.73), Receive: &receive,
			L: 11.698 * us * slow, Buffer: 1935,
			Fabric: &Fabric{PerHost: 1.556 * us * slow, Tau: 0.0826 * us * slow, Rate: 90 / us / slow, Window: 0.05},
		},
		// A switch of today, slowed so that one process can emulate it: T does not depend on the number of pairs.
		"switch": {
			Name: "switch", Hosts: 8, Mode: Switched, MSS: 1448, Seed: 7,
			Host:   Block{A: 400 * us, B: 0.60 * us},
			Medium: Block{A: 200 * us, B: 0.35 * us},
		},
	}
}

func PresetNames() []string {
	return slices.Sorted(maps.Keys(presets()))
}

// Link is what packets between two groups of hosts pass in addition, one server for each direction and a delay, between
// the sending host's block and the medium. It stores a packet before it forwards it: a medium that cuts through begins
// with the packet later by what the link took.
type Link struct {
	// Between are the two groups, as indices of hosts from 0. Packets pass all links that are between their hosts, in the
	// order of the file: the uplink of a rack is between its hosts and all others.
	Between [][]int `yaml:"between" json:"between"`
	Block   `yaml:",inline"`
	// L is the delay behind the server [s], in which it serves others.
	L float64 `yaml:"l" json:"l,omitempty"`
	// Buffer is the room of each direction's queue, the packet in service included [packets]; 0 is unlimited.
	Buffer int `yaml:"buffer" json:"buffer,omitempty"`
	// Loss is the probability that either direction drops a packet, drawn from the seed of the network.
	Loss float64 `yaml:"loss" json:"loss,omitempty"`
}

// Routes returns a function that says which of the links' servers a packet passes first, or next after a server, −1 for
// none. Servers 2i and 2i+1 are those of link i, from its first group to its second and back.
func (s *Spec) Routes() func(src, dst, after int) int {
	sides := s.sides()
	return func(src, dst, after int) int {
		for i := (after + 2) / 2; i < len(sides); i++ {
			switch side := sides[i]; {
			case side[src] == 1 && side[dst] == 2:
				return 2 * i
			case side[src] == 2 && side[dst] == 1:
				return 2*i + 1
			}
		}
		return -1
	}
}

// sides says for every link and host in which of the link's groups the host is: 1, 2, or 0 for neither.
func (s *Spec) sides() [][]uint8 {
	out := make([][]uint8, len(s.Links))
	for i, l := range s.Links {
		out[i] = make([]uint8, s.Hosts)
		for g, hosts := range l.Between {
			for _, h := range hosts {
				out[i][h] = uint8(g + 1)
			}
		}
	}
	return out
}

func (s *Spec) checkLinks() error {
	for i, l := range s.Links {
		name := fmt.Sprintf("links[%d]", i)
		if len(l.Between) != 2 || len(l.Between[0]) == 0 || len(l.Between[1]) == 0 {
			return fmt.Errorf("%s: between: want two lists of hosts, such as [[0, 1], [2, 3]]", name)
		}
		all := slices.Sorted(slices.Values(slices.Concat(l.Between...)))
		for _, h := range all {
			if h < 0 || h >= s.Hosts {
				return fmt.Errorf("%s: between: host %d, but there are %d hosts (from 0)", name, h, s.Hosts)
			}
		}
		if n := len(all); len(slices.Compact(all)) < n {
			return fmt.Errorf("%s: between: a host is named twice", name)
		}
		if err := checkQueue(l.L, l.Buffer, l.Loss); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}
