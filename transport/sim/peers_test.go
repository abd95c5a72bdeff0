package sim

import "testing"

// Connections are found by their peer, whether they are few or many, and a new one to the same peer takes the place of
// the old.
func TestPeers(t *testing.T) {
	const ranks = 3 * mostFew
	var p peers
	at := func(id int) *conn { return &conn{dst: &proc{node: &node{}, id: id}} }
	for n := range ranks {
		id := (n*7 + 1) % ranks // in no order
		if p.to(id) != nil {
			t.Fatalf("a connection to %d before it was made", id)
		}
		c := at(id)
		p.put(c, ranks)
		if p.to(id) != c || len(p.each()) != n+1 {
			t.Fatalf("connection %d, to %d: got %v of %d", n, id, p.to(id), len(p.each()))
		}
		again := &conn{dst: c.dst}
		p.put(again, ranks)
		if p.to(id) != again || len(p.each()) != n+1 {
			t.Fatalf("connection %d, to %d, made anew: got %v of %d", n, id, p.to(id), len(p.each()))
		}
	}
	if p.to(ranks) != nil {
		t.Error("a connection to nobody")
	}
}
