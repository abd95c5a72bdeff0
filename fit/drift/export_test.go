package drift

// Visits is how many looks are kept.
func (w *Watch) Visits() int { return len(w.visits) }

// Open are the changes that last.
func (w *Watch) Open() (out []Change) {
	for _, c := range w.changes {
		if c.open() {
			out = append(out, c)
		}
	}
	return out
}
