package cost

import (
	"fmt"
	"slices"
	"strings"

	"calib/internal/units"
	"calib/params"
)

type Step struct {
	Rule   int          `json:"rule"`   // 1 to 4
	What   string       `json:"what"`   // the blocks that it reduces
	Result string       `json:"result"` // the name of the block that stands for them from here
	Block  params.Block `json:"block"`
	A, B   string       `json:"-"` // how they came about
}

func (s Step) String() string {
	return fmt.Sprintf("rule %d: %s → %s: a = %s, b = %s", s.Rule, s.What, s.Result, s.A, s.B)
}

type Reduced struct {
	Steps []Step       `json:"steps"`
	Path  params.Block `json:"path"` // the whole way
	// First and Last are the independent blocks at its ends, where the sending and the receiving process run; nil where
	// the path is not independent blocks in series, or differs between short and long messages.
	First *params.Block `json:"first,omitempty"`
	Last  *params.Block `json:"last,omitempty"`
}

// Reduce applies rules 1 to 3 from the inside out, and rule 4 where short and long messages pass different graphs.
func (g *Graph) Reduce() Reduced {
	r := reduction{g: g, made: map[string]int{}}
	if g.Path != nil {
		n := r.reduce(*g.Path)
		return Reduced{r.steps, n.Block, n.first, n.last}
	}
	b := params.Block{A: r.reduce(*g.Small).A, B: r.reduce(*g.Large).B}
	r.steps = append(r.steps, Step{Rule: 4, What: "a of short messages, b of long ones", Result: "path", Block: b,
		A: seconds(b.A), B: perByte(b.B)})
	return Reduced{Steps: r.steps, Path: b}
}

type reduction struct {
	g     *Graph
	steps []Step
	made  map[string]int // how often a name was given
}

func (r *reduction) reduce(n node) node {
	switch {
	case n.Serial != nil:
		return r.join(Serial, n.Serial, n.Dependent)
	case n.Parallel != nil:
		return r.join(Parallel, n.Parallel, n.Dependent)
	case n.Concurrent != nil:
		return r.concurrent(r.reduce(*n.Concurrent), n.Messages)
	}
	return n
}

// How the parts of a node belong together.
const (
	Serial     = "serial"
	Parallel   = "parallel"
	Concurrent = "concurrent"
)

// rules say how parts in series and in parallel are reduced, and how that is written.
var rules = map[string]struct {
	number                    int
	a, independent, dependent string // of a; of b
	reduce                    func(dependent bool, parts ...params.Block) params.Block
}{
	Serial:   {1, "sum", "max", "sum", params.Serial},
	Parallel: {2, "min", "1/Σ(1/b)", "min", params.Parallel},
}

func (r *reduction) join(kind string, parts []node, dependent bool) node {
	if len(parts) == 1 {
		return r.reduce(parts[0])
	}
	var names, as, bs []string
	var all []params.Block
	for _, n := range parts {
		p := r.reduce(n)
		names, all = append(names, p.name), append(all, p.Block)
		as, bs = append(as, seconds(p.A)), append(bs, perByte(p.B))
	}
	rule := rules[kind]
	b, of, word := rule.reduce(dependent, all...), rule.independent, "independent"
	if dependent {
		of, word = rule.dependent, "dependent"
	}
	out := node{name: r.fresh("CB"), Block: b}
	if kind == Serial && !dependent {
		out.first, out.last = &all[0], &all[len(all)-1]
	}
	r.steps = append(r.steps, Step{
		Rule: rule.number, What: fmt.Sprintf("%s (%s, %s)", strings.Join(names, ", "), kind, word), Result: out.name,
		Block: b, A: terms(rule.a, as) + " = " + seconds(b.A), B: terms(of, bs) + " = " + perByte(b.B),
	})
	return out
}

func (r *reduction) concurrent(part node, messages []string) node {
	sizes := make([]float64, len(messages))
	total := 0.0
	for i, m := range messages {
		sizes[i] = r.g.Messages[m]
		total += sizes[i]
	}
	i := slices.Index(messages, r.g.Message)
	b, err := part.Block.Concurrent(i, sizes...)
	if err != nil {
		panic(err) // parseGraph has seen to it that the message is there and has a size
	}
	out := node{name: r.fresh(part.name + "′"), Block: b}
	r.steps = append(r.steps, Step{
		Rule: 3, What: fmt.Sprintf("%s serves %s at once", part.name, strings.Join(messages, ", ")), Result: out.name,
		Block: b, A: fmt.Sprintf("%d · %s = %s", len(messages), seconds(part.A), seconds(b.A)),
		B: fmt.Sprintf("%s · %g/%g = %s", perByte(part.B), total, sizes[i], perByte(b.B)),
	})
	return out
}

// fresh numbers names that are given more than once.
func (r *reduction) fresh(name string) string {
	r.made[name]++
	if n := r.made[name]; n > 1 {
		return fmt.Sprintf("%s%d", name, n)
	}
	return name
}

// terms writes a sum, or a function of the parts' numbers.
func terms(how string, parts []string) string {
	if how == "sum" {
		return strings.Join(parts, " + ")
	}
	return fmt.Sprintf("%s(%s)", how, strings.Join(parts, ", "))
}

func seconds(v float64) string { return units.Format(v, "s") }
func perByte(v float64) string { return units.Format(v, "s/B") }

// Times are those of a message of x bytes [s]. A preemptive primitive works while the blocks behind it do; one that is
// not is held up by the slowest of them.
// Source: Stoica, Sultan, Keyes 1994, section 2.5 and figure 8.
type Times struct {
	Bytes float64      `json:"bytes"`
	Path  params.Block `json:"path"` // the whole way of such a message
	// Communication is T_c, from the call of send to the delivery.
	Communication float64 `json:"t_c"`
	Ends          *Ends   `json:"ends,omitempty"`
}

// Ends are the times of the two processes [s].
type Ends struct {
	// Send is T_s of a preemptive send, SendBlocking the most of one that is not.
	Send         float64 `json:"t_s_preemptive"`
	SendBlocking float64 `json:"t_s_non_preemptive"`
	// Receive is T_r of a preemptive receive and the least of one that is not, ReceiveBlocking the most of that.
	Receive         float64 `json:"t_r_preemptive"`
	ReceiveBlocking float64 `json:"t_r_non_preemptive"`
}

// Times returns the times of a message of x bytes, with eq. 3 between the limits of short and long ones.
func (r Reduced) Times(x float64) Times {
	t := Times{Bytes: x, Path: r.Path, Communication: r.Path.T(x)}
	if r.First != nil && r.Last != nil {
		t.Ends = &Ends{
			Send: r.First.T(x), SendBlocking: params.ServiceTime(x, r.First.A, r.Path.B),
			Receive: r.Last.T(x), ReceiveBlocking: params.ServiceTime(x, r.Last.A, r.Path.B),
		}
	}
	return t
}
