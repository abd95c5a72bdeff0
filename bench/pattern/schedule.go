package pattern

import "fmt"

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
	if size < p.Least || p.Fits != nil && !p.Fits(size) {
		return nil, fmt.Errorf("%s is not defined for %d hosts", p.Name(), size)
	}
	out := make(Schedule, size)
	var scratch Scratch
	for rank := range out {
		w := writer{rank: rank, size: size}
		if err := p.Run(&w, m, &scratch); err != nil {
			return nil, fmt.Errorf("%s, rank %d of %d: %w", p.Name(), rank, size, err)
		}
		out[rank] = w.steps
	}
	return out, nil
}

// writer is a Comm that writes down what is asked of it.
type writer struct {
	rank, size int
	steps      []Step
}

func (w *writer) Rank() int { return w.rank }
func (w *writer) Size() int { return w.size }

func (w *writer) Send(to int, b []byte) error {
	return w.Exchange([]Message{{to, b}}, nil)
}

func (w *writer) Recv(from int, b []byte) error {
	return w.Exchange(nil, []Message{{from, b}})
}

func (w *writer) Exchange(out, in []Message) error {
	var s Step
	for _, m := range out {
		s.Out = append(s.Out, Part{m.Peer, len(m.Data)})
	}
	for _, m := range in {
		s.In = append(s.In, Part{m.Peer, len(m.Data)})
	}
	for _, p := range append(s.Out[:len(s.Out):len(s.Out)], s.In...) {
		if p.Peer < 0 || p.Peer >= w.size || p.Peer == w.rank || p.Bytes < 1 {
			return fmt.Errorf("message of %d bytes with rank %d", p.Bytes, p.Peer)
		}
	}
	w.steps = append(w.steps, s)
	return nil
}
