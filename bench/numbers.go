package bench

import "encoding/binary"

// PutNumbers writes numbers to b, eight bytes each.
func PutNumbers(b []byte, numbers ...int64) {
	for i, v := range numbers {
		binary.LittleEndian.PutUint64(b[8*i:], uint64(v))
	}
}

// GetNumbers reads what PutNumbers wrote.
func GetNumbers(b []byte, numbers []int64) {
	for i := range numbers {
		numbers[i] = GetNumber(b[8*i:])
	}
}

// GetNumber reads one number.
func GetNumber(b []byte) int64 { return int64(binary.LittleEndian.Uint64(b)) }

// SendNumbers and RecvNumbers move a few numbers between ranks. They allocate: do not call them in a timed section.
func (x Team) SendNumbers(to int, numbers ...int64) {
	b := make([]byte, 8*len(numbers))
	PutNumbers(b, numbers...)
	x.Send(to, b)
}

// RecvNumbers receives n numbers.
func (x Team) RecvNumbers(from, n int) []int64 {
	b, numbers := make([]byte, 8*n), make([]int64, n)
	x.Recv(from, b)
	GetNumbers(b, numbers)
	return numbers
}
