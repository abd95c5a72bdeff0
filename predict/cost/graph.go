// Graphs of communication are read, and reduced, step by step, to one block.
//
// A file names blocks (a in s, b in s/B), the messages that are under way at once (size in bytes), the one that is
// asked for, and what that message passes:
//
//	blocks:
//	  host1: {a: 860e-6, b: 1.42e-6}
//	  network: {a: 346e-6, b: 0.92e-6}
//	messages: {m1: 1000, m2: 2000, m3: 500}
//	message: m1
//	path:
//	  serial:
//	    - host1
//	    - concurrent: network
//	      messages: [m1, m2, m3]
//
// A node is the name of a block, a block {a, b}, or one of serial: [nodes], parallel: [nodes], both with dependent:
// true where only one of the parts works at a time and serial with times: n where they follow each other n times, and
// concurrent: node with the messages that it serves at once. Where short and long messages meet different graphs (rule
// 4), small and large stand for path.
// Source: Stoica, Sultan, Keyes 1994, section 2.
package cost

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"calib/internal/files"
	"calib/internal/params"
	"calib/internal/yaml"
)

// ErrGraph reports a file that describes no communication graph.
var ErrGraph = errors.New("bad communication graph")

// Graph is a communication graph, as far as one message passes it.
type Graph struct {
	Name     string
	Blocks   map[string]params.Block
	Messages map[string]float64 // B
	Message  string
	// Small and Large are what a short and a long message passes; the same Node where the file has one path.
	Small, Large *Node
}

// Kind is what a node stands for.
type Kind string

// Kinds of nodes.
const (
	Single     Kind = "block"
	Serial     Kind = "serial"
	Parallel   Kind = "parallel"
	Concurrent Kind = "concurrent"
)

// Node is a block, or blocks that belong together.
type Node struct {
	Kind      Kind
	Name      string // of a Single
	Block     params.Block
	Parts     []*Node // one of a Concurrent
	Dependent bool
	Messages  []string // of a Concurrent
}

// LoadGraph reads a file. Blocks that it uses and does not have may come from known.
func LoadGraph(path string, known map[string]params.Block) (*Graph, error) {
	text, err := files.Read(path, yaml.Max)
	if err != nil {
		return nil, err
	}
	g, err := parseGraph(text, known)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return g, nil
}

// parseGraph is LoadGraph on the text itself.
func parseGraph(text []byte, known map[string]params.Block) (*Graph, error) {
	var file struct {
		Name     string                  `yaml:"name"`
		Blocks   map[string]params.Block `yaml:"blocks"`
		Messages map[string]float64      `yaml:"messages"`
		Message  string                  `yaml:"message"`
		Path     any                     `yaml:"path"`
		Small    any                     `yaml:"small"`
		Large    any                     `yaml:"large"`
	}
	if err := yaml.Decode(text, &file); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrGraph, err)
	}
	g := &Graph{Name: file.Name, Blocks: maps.Clone(known), Messages: file.Messages, Message: file.Message}
	if g.Blocks == nil {
		g.Blocks = map[string]params.Block{}
	}
	maps.Copy(g.Blocks, file.Blocks)
	err := g.check()
	switch {
	case err != nil:
	case file.Path != nil && file.Small == nil && file.Large == nil:
		g.Small, err = g.node("path", file.Path)
		g.Large = g.Small
	case file.Path == nil && file.Small != nil && file.Large != nil:
		if g.Small, err = g.node("small", file.Small); err == nil {
			g.Large, err = g.node("large", file.Large)
		}
	default:
		err = errors.New("want path, or both small and large")
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrGraph, err)
	}
	return g, nil
}

func (g *Graph) check() error {
	for _, name := range slices.Sorted(maps.Keys(g.Blocks)) {
		if err := g.Blocks[name].Check(); err != nil {
			return fmt.Errorf("blocks: %s: %w", name, err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(g.Messages)) {
		if x := g.Messages[name]; !(x > 0 && x <= 1e15) {
			return fmt.Errorf("messages: %s: %g B, want above 0 and at most 1e15", name, x)
		}
	}
	if _, ok := g.Messages[g.Message]; !ok && (g.Message != "" || len(g.Messages) > 0) {
		return fmt.Errorf("message: %q, want one of messages (%s)", g.Message, listed(slices.Sorted(maps.Keys(g.Messages))))
	}
	return nil
}

// node reads what stands at a place of the file.
func (g *Graph) node(at string, v any) (*Node, error) {
	switch v := v.(type) {
	case string:
		b, ok := g.Blocks[v]
		if !ok {
			return nil, fmt.Errorf("%s: no block %q (have %s)", at, v, listed(slices.Sorted(maps.Keys(g.Blocks))))
		}
		return &Node{Kind: Single, Name: v, Block: b}, nil
	case map[string]any:
		return g.compound(at, v)
	}
	return nil, fmt.Errorf("%s: %v, want the name of a block, {a, b}, serial, parallel or concurrent", at, v)
}

// maxTimes bounds times.
const maxTimes = 10_000

// fields of each kind of node, beside its own.
var fields = map[Kind][]string{Serial: {"dependent", "times"}, Parallel: {"dependent"}, Concurrent: {"messages"}}

func (g *Graph) compound(at string, v map[string]any) (*Node, error) {
	var kinds []Kind
	for _, k := range []Kind{Serial, Parallel, Concurrent} {
		if _, ok := v[string(k)]; ok {
			kinds = append(kinds, k)
		}
	}
	if len(kinds) == 0 {
		return inline(at, v)
	}
	n := &Node{Kind: kinds[0]}
	for key := range v {
		if key != string(n.Kind) && !slices.Contains(fields[n.Kind], key) {
			return nil, fmt.Errorf("%s: %s has no field %q, want %s", at, n.Kind, key, listed(fields[n.Kind]))
		}
	}
	at += "." + string(n.Kind)
	if d, ok := v["dependent"]; ok {
		if n.Dependent, ok = d.(bool); !ok {
			return nil, fmt.Errorf("%s: dependent: %v, want true or false", at, d)
		}
	}
	if n.Kind == Concurrent {
		return g.concurrent(at, n, v)
	}
	parts, ok := v[string(n.Kind)].([]any)
	if !ok || len(parts) == 0 {
		return nil, fmt.Errorf("%s: want a list of nodes", at)
	}
	for i, part := range parts {
		p, err := g.node(fmt.Sprintf("%s[%d]", at, i), part)
		if err != nil {
			return nil, err
		}
		n.Parts = append(n.Parts, p)
	}
	if times, ok := v["times"]; ok {
		k, isNumber := numberOf(times)
		if !isNumber || k != math.Trunc(k) || k < 1 || k > maxTimes {
			return nil, fmt.Errorf("%s: times: %v, want a whole number from 1 to %d", at, times, maxTimes)
		}
		n.Parts = slices.Repeat(n.Parts, int(k))
	}
	return n, nil
}

func (g *Graph) concurrent(at string, n *Node, v map[string]any) (*Node, error) {
	part, err := g.node(at, v[string(Concurrent)])
	if err != nil {
		return nil, err
	}
	n.Parts = []*Node{part}
	names, _ := v["messages"].([]any)
	for _, name := range names {
		s := fmt.Sprint(name)
		if _, ok := g.Messages[s]; !ok {
			return nil, fmt.Errorf("%s: messages: no message %q (have %s)", at, s, listed(slices.Sorted(maps.Keys(g.Messages))))
		}
		if slices.Contains(n.Messages, s) {
			return nil, fmt.Errorf("%s: messages: %q is named twice", at, s)
		}
		n.Messages = append(n.Messages, s)
	}
	if !slices.Contains(n.Messages, g.Message) {
		return nil, fmt.Errorf("%s: messages: want a list with %q in it, whose way this is", at, g.Message)
	}
	return n, nil
}

// inline reads {a, b}.
func inline(at string, v map[string]any) (*Node, error) {
	n := &Node{Kind: Single}
	for key, value := range v {
		to, known := map[string]*float64{"a": &n.Block.A, "b": &n.Block.B}[key]
		x, ok := numberOf(value)
		if !known || !ok {
			return nil, fmt.Errorf("%s: %s: %v, want the name of a block, {a, b} with numbers, serial, parallel or concurrent", at, key, value)
		}
		*to = x
	}
	if err := n.Block.Check(); err != nil {
		return nil, fmt.Errorf("%s: %w", at, err)
	}
	n.Name = fmt.Sprintf("{%g, %g}", n.Block.A, n.Block.B)
	return n, nil
}

func numberOf(v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, true
	case int64:
		return float64(v), true
	case uint64:
		return float64(v), true
	}
	return 0, false
}

func listed(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
