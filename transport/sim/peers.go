package sim

// peers are the connections of a rank to others. Most patterns use few of them, whatever the size of the team.
type peers struct {
	few []*conn // in the order in which they were made
	all []*conn // by the peer's id, nil where there is none; used in place of few where those are many
}

// mostFew is up to how many connections are looked through one by one.
const mostFew = 16

// to returns the connection to a peer, or nil if it has not been used.
func (p *peers) to(id int) *conn {
	if p.all != nil {
		if id >= len(p.all) {
			return nil
		}
		return p.all[id]
	}
	for _, c := range p.few {
		if c.dst.id == id {
			return c
		}
	}
	return nil
}

// put enters a connection in place of that to the same peer. There are n ranks and lines.
func (p *peers) put(c *conn, n int) {
	for i, old := range p.few {
		if old.dst == c.dst {
			p.few[i] = c
			return
		}
	}
	if p.all == nil && len(p.few) < mostFew {
		p.few = append(p.few, c)
		return
	}
	p.all = append(p.all, make([]*conn, max(0, n-len(p.all)))...)
	for _, q := range append(p.few, c) {
		p.all[q.dst.id] = q
	}
	p.few = nil
}

// each returns all connections.
func (p *peers) each() []*conn {
	var out []*conn
	for _, c := range append(p.few[:len(p.few):len(p.few)], p.all...) {
		if c != nil {
			out = append(out, c)
		}
	}
	return out
}
