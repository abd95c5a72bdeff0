package roundtrip

import (
	"testing"

	"calib/bench"
)

// pieces is a group that notes how long the pieces are that it is given.
type pieces struct {
	bench.Group
	sent []int
}

func (g *pieces) Send(_ int, b []byte) error {
	g.sent = append(g.sent, len(b))
	return nil
}

func TestInPieces(t *testing.T) {
	for _, tc := range []struct{ bytes, piece, pieces, last int }{
		{1, 1, 1, 1}, {10, 3, 4, 1}, {10, 5, 2, 5}, {10, 10, 1, 10}, {10, 11, 1, 10},
	} {
		var g pieces
		InPieces(1, make([]byte, tc.bytes), tc.piece, tc.piece).each(bench.Team{Group: &g}.Send)
		if n := len(g.sent); n != tc.pieces || g.sent[n-1] != tc.last {
			t.Errorf("%d bytes in pieces of %d: pieces of %d", tc.bytes, tc.piece, g.sent)
		}
	}
}
