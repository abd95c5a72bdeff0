package bench

import "encoding/binary"

// putWords and getWords write numbers to, and read them from, eight bytes each.
func putWords(b []byte, words []int64) {
	for i, v := range words {
		binary.LittleEndian.PutUint64(b[8*i:], uint64(v))
	}
}

func getWords(b []byte, words []int64) {
	for i := range words {
		words[i] = int64(binary.LittleEndian.Uint64(b[8*i:]))
	}
}

// sendWords and recvWords move a few numbers between ranks, outside timed sections.
func sendWords(g Group, to int, words ...int64) error {
	b := make([]byte, 8*len(words))
	putWords(b, words)
	return g.Send(to, b)
}

func recvWords(g Group, from, n int) ([]int64, error) {
	b := make([]byte, 8*n)
	if err := g.Recv(from, b); err != nil {
		return nil, err
	}
	words := make([]int64, n)
	getWords(b, words)
	return words, nil
}
