package roundtrip

import "testing"

func TestInPieces(t *testing.T) {
	for _, tc := range []struct{ bytes, piece, pieces, last int }{
		{1, 1, 1, 1}, {10, 3, 4, 1}, {10, 5, 2, 5}, {10, 10, 1, 10}, {10, 11, 1, 10},
	} {
		m := InPieces(1, make([]byte, tc.bytes), tc.piece)
		if n := len(m.pieces); n != tc.pieces || len(m.pieces[n-1]) != tc.last {
			t.Errorf("%d bytes in pieces of %d: %d pieces", tc.bytes, tc.piece, n)
		}
	}
}
