package pattern

import "calib/bench"

// On performs this rank's part of a pattern with m bytes in the team of g.
func (p Pattern) On(g bench.Group, m int, s *Scratch) error {
	return bench.Caught(func() { p.Run(On(g), m, s) })
}

// On is the team of g as a Comm. Its Exchange sends what the transport takes; when it takes no more, it receives what
// is there, and when nothing moves, it waits a little for room to send. When all is sent, it receives as Recv does.
func On(g bench.Group) Comm { return &team{Team: bench.Team{Group: g}} }

type team struct {
	bench.Team
	in  []Message // left to receive in an exchange
	got int       // bytes of in[0]
}

// Exchange implements Comm. It ends when all messages have passed, with a failure of the group, or when nothing has
// moved for bench.LongestWait.
func (t *team) Exchange(out, in []Message) {
	t.in, t.got = in, 0
	for _, m := range out {
		t.SendWhile(m.Peer, m.Data, t.drain)
	}
	for len(t.in) > 0 {
		t.recv(len(t.in[0].Data) - t.got)
	}
}

// drain receives what is there, in order, and returns how many bytes that were.
func (t *team) drain() (total int) {
	for len(t.in) > 0 {
		n := min(t.Pending(t.in[0].Peer), len(t.in[0].Data)-t.got)
		if n == 0 {
			break
		}
		t.recv(n)
		total += n
	}
	return total
}

// recv receives n bytes of the first message.
func (t *team) recv(n int) {
	m := t.in[0]
	t.Recv(m.Peer, m.Data[t.got:t.got+n])
	if t.got += n; t.got == len(m.Data) {
		t.in, t.got = t.in[1:], 0
	}
}
