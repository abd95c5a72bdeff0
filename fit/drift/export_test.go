package drift

// Visits is how many looks are kept.
func (w *Watch) Visits() int { return len(w.visits) }
