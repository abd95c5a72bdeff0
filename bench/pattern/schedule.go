package pattern

import (
	"fmt"
	"slices"

	"calib/bench"
)

// Schedule is a pattern written down: what each rank does, in order.
type Schedule [][]Step

// Step is one call of a Comm. One that is no exchange has one message, in Out or in In.
type Step struct {
	Out, In []Part
}

// Part is a message of a Step: with whom, and how long [B].
type Part struct {
	Peer  int
	Bytes int
}

// Of writes down what p does with m bytes in a team.
func Of(p Pattern, size, m int) (Schedule, error) {
	out := make(Schedule, 0, size)
	err := eachRank(p, size, m, func(steps []Step) { out = append(out, steps) })
	return out, err
}

func eachRank(p Pattern, size, m int, f func([]Step)) error {
	var scratch Scratch
	for rank := range size {
		steps, err := Rank(p, rank, size, m, &scratch)
		if err != nil {
			return err
		}
		f(steps)
	}
	return nil
}

// Rank writes down what one rank does.
func Rank(p Pattern, rank, size, m int, scratch *Scratch) ([]Step, error) {
	if !p.Defined(size) {
		return nil, fmt.Errorf("%s is not defined for %d hosts", p.Name(), size)
	}
	w := writer{rank: rank, size: size}
	if err := bench.Caught(func() { p.Run(&w, m, scratch) }); err != nil {
		return nil, fmt.Errorf("%s, rank %d of %d: %w", p.Name(), rank, size, err)
	}
	return w.steps, nil
}

// Extent is how much a pattern moves.
type Extent struct {
	Largest  int // bytes of the longest message
	Busiest  int // what the rank that moves most sends or receives, whichever is more [B]
	Messages int
	Bytes    int // of all messages
}

// ExtentOf returns the extent of a pattern with m bytes in a team. It holds what one rank does at a time: a thousand
// hosts may send a million messages.
func ExtentOf(p Pattern, size, m int) (e Extent, err error) {
	err = eachRank(p, size, m, func(steps []Step) {
		out, in := 0, 0
		for _, step := range steps {
			for _, p := range step.Out {
				e.Messages++
				out += p.Bytes
				e.Largest = max(e.Largest, p.Bytes)
			}
			for _, p := range step.In {
				in += p.Bytes
			}
		}
		e.Bytes += out
		e.Busiest = max(e.Busiest, out, in)
	})
	return e, err
}

// writer is a Comm that writes down what is asked of it.
type writer struct {
	rank, size int
	steps      []Step
}

func (w *writer) Rank() int               { return w.rank }
func (w *writer) Size() int               { return w.size }
func (w *writer) Send(to int, b []byte)   { w.Exchange([]Message{{to, b}}, nil) }
func (w *writer) Recv(from int, b []byte) { w.Exchange(nil, []Message{{from, b}}) }

func (w *writer) Exchange(out, in []Message) {
	w.steps = append(w.steps, Step{w.parts(out), w.parts(in)})
}

func (w *writer) parts(of []Message) (out []Part) {
	for _, m := range of {
		if m.Peer < 0 || m.Peer >= w.size || m.Peer == w.rank || len(m.Data) < 1 {
			bench.Fail("message of %d B with rank %d", len(m.Data), m.Peer)
		}
		out = append(out, Part{m.Peer, len(m.Data)})
	}
	return out
}

// Peers lists, ascending, the ranks that one with these steps sends to or receives from.
func Peers(steps []Step) []int {
	var out []int
	for _, step := range steps {
		for _, p := range slices.Concat(step.Out, step.In) {
			out = append(out, p.Peer)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Depth is how many messages follow one another at most: those that one rank sends, and one that is sent after another
// was received. What is received waits for its sending, and else takes no time.
func (s Schedule) Depth() int {
	sent := make(map[[2]int][]int) // by sender and receiver: of each message on its way, how many came before it, plus 1
	at, began, clock := make([]int, len(s)), make([]bool, len(s)), make([]int, len(s))
	left := make([][]Part, len(s)) // to be received in the step
	for moved := true; moved; {
		moved = false
		for r, steps := range s {
			for at[r] < len(steps) {
				step := steps[at[r]]
				if !began[r] {
					for _, p := range step.Out {
						clock[r]++
						sent[[2]int{r, p.Peer}] = append(sent[[2]int{r, p.Peer}], clock[r])
					}
					began[r], left[r], moved = true, step.In, true
				}
				for len(left[r]) > 0 {
					way := [2]int{left[r][0].Peer, r}
					if len(sent[way]) == 0 {
						break
					}
					clock[r] = max(clock[r], sent[way][0])
					sent[way], left[r], moved = sent[way][1:], left[r][1:], true
				}
				if len(left[r]) > 0 {
					break
				}
				at[r], began[r] = at[r]+1, false
			}
		}
	}
	return slices.Max(clock)
}
