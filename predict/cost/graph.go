// Graphs of communication are read, and reduced, step by step, to one block. docs/reference/predict.md says what a file
// holds. Source: Stoica, Sultan, Keyes 1994, section 2.

package cost

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"

	"calib/internal/files"
	"calib/internal/lists"
	"calib/internal/yaml"
	"calib/params"
)

var ErrGraph = errors.New("bad communication graph")

// Graph is a communication graph, as far as one message passes it.
type Graph struct {
	Name     string                  `yaml:"name"`
	Blocks   map[string]params.Block `yaml:"blocks"`
	Messages map[string]float64      `yaml:"messages"` // B
	Message  string                  `yaml:"message"`
	Path     *node                   `yaml:"path"`
	Small    *node                   `yaml:"small"` // Small and Large stand for Path
	Large    *node                   `yaml:"large"`
}

// node is a block, or blocks that belong together: one of Serial, Parallel and Concurrent is set then.
type node struct {
	params.Block `yaml:",inline"`
	Serial       []node   `yaml:"serial"`
	Parallel     []node   `yaml:"parallel"`
	Concurrent   *node    `yaml:"concurrent"`
	Dependent    bool     `yaml:"dependent"` // of Serial and Parallel
	Times        float64  `yaml:"times"`     // of Serial: whole; 0 is 1
	Messages     []string `yaml:"messages"`  // of Concurrent

	name        string        // of a block
	first, last *params.Block // of independent blocks in series, once they are reduced
}

func (n *node) UnmarshalYAML(read func(any) error) error {
	type plain node
	if read(&n.name) == nil && n.name != "" {
		return nil
	}
	return read((*plain)(n))
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

func parseGraph(text []byte, known map[string]params.Block) (*Graph, error) {
	g := &Graph{}
	err := yaml.Decode(text, g)
	if err == nil {
		own := g.Blocks
		g.Blocks = map[string]params.Block{}
		maps.Copy(g.Blocks, known)
		maps.Copy(g.Blocks, own)
		err = g.check()
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrGraph, err)
	}
	return g, nil
}

func (g *Graph) check() error {
	for name, b := range lists.ByKey(g.Blocks) {
		if err := b.Check(); err != nil {
			return fmt.Errorf("blocks: %s: %w", name, err)
		}
	}
	for name, x := range lists.ByKey(g.Messages) {
		if !(x > 0 && x <= 1e15) {
			return fmt.Errorf("messages: %s: %g B, want above 0 and at most 1e15", name, x)
		}
	}
	if _, ok := g.Messages[g.Message]; !ok && (g.Message != "" || len(g.Messages) > 0) {
		return fmt.Errorf("message: %q, want one of messages (%s)", g.Message, keysOf(g.Messages))
	}
	switch {
	case g.Path != nil && g.Small == nil && g.Large == nil:
		return g.resolve("path", g.Path, 1)
	case g.Path == nil && g.Small != nil && g.Large != nil:
		if err := g.resolve("small", g.Small, 1); err != nil {
			return err
		}
		return g.resolve("large", g.Large, 1)
	}
	return errors.New("want path, or both small and large")
}

const maxTimes = 10_000 // bounds times, and those of nodes within each other multiplied

// resolve checks a node at a place of the file, which is there so many times, and gives its blocks their numbers.
func (g *Graph) resolve(at string, n *node, often float64) error {
	often *= max(1, n.Times)
	own, kind, parts := node{Block: n.Block, name: n.name}, "", []*node(nil)
	each := func(list []node) {
		for i := range list {
			parts = append(parts, &list[i])
		}
	}
	switch {
	case n.Serial != nil:
		own, kind = node{Serial: n.Serial, Dependent: n.Dependent, Times: n.Times}, Serial
		each(n.Serial)
	case n.Parallel != nil:
		own, kind = node{Parallel: n.Parallel, Dependent: n.Dependent}, Parallel
		each(n.Parallel)
	case n.Concurrent != nil:
		own, kind, parts = node{Concurrent: n.Concurrent, Messages: n.Messages}, Concurrent, []*node{n.Concurrent}
	}
	switch {
	case !reflect.DeepEqual(*n, own):
		return fmt.Errorf("%s: want the name of a block, {a, b}, serial with dependent and times, parallel with dependent, "+
			"or concurrent with messages", at)
	case kind == "":
		return g.block(at, n)
	case len(parts) == 0:
		return fmt.Errorf("%s.%s: want a list of nodes", at, kind)
	case n.Times != math.Trunc(n.Times) || n.Times < 0 || often > maxTimes:
		return fmt.Errorf("%s.%s: times: %g, want a whole number from 1 to %d, multiplied with those around it", at, kind,
			n.Times, maxTimes)
	}
	for i, part := range parts {
		place := fmt.Sprintf("%s.%s", at, kind)
		if kind != Concurrent {
			place += fmt.Sprintf("[%d]", i)
		}
		if err := g.resolve(place, part, often); err != nil {
			return err
		}
	}
	if n.Times > 1 {
		n.Serial = slices.Repeat(n.Serial, int(n.Times))
	}
	for i, name := range n.Messages {
		if _, ok := g.Messages[name]; !ok {
			return fmt.Errorf("%s.%s: messages: no message %q (have %s)", at, kind, name, keysOf(g.Messages))
		}
		if slices.Contains(n.Messages[:i], name) {
			return fmt.Errorf("%s.%s: messages: %q is named twice", at, kind, name)
		}
	}
	if kind == Concurrent && !slices.Contains(n.Messages, g.Message) {
		return fmt.Errorf("%s.%s: messages: want a list with %q in it, whose way this is", at, kind, g.Message)
	}
	return nil
}

// block gives a block with a name its numbers, and one without a name.
func (g *Graph) block(at string, n *node) (err error) {
	if b, ok := g.Blocks[n.name]; ok {
		n.Block = b
	} else if n.name != "" {
		return fmt.Errorf("%s: no block %q (have %s)", at, n.name, keysOf(g.Blocks))
	} else if n.name = fmt.Sprintf("{%g, %g}", n.A, n.B); n.Check() != nil {
		return fmt.Errorf("%s: %w", at, n.Check())
	}
	return nil
}

func keysOf[T any](of map[string]T) string {
	if len(of) == 0 {
		return "none"
	}
	return strings.Join(slices.Sorted(maps.Keys(of)), ", ")
}
