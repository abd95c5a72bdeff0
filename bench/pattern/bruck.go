package pattern

// bruck is the alltoall in about log₂ P steps.
var bruck = []Pattern{
	{ID: 32, Operation: "alltoall", Algorithm: "bruck", Bytes: "from each host to each",
		Source: "Bruck and others 1997: step k: to rank i+2^k, all blocks of which the number has bit k", Least: 2, Run: bruckAlltoall},
}

// bruckAlltoall: block j of a rank is for the rank j on. In the step of a bit, every rank i sends to i+bit the blocks
// whose number has the bit, and receives as many from i−bit.
func bruckAlltoall(c Comm, m int, s *Scratch) error {
	rank, size := c.Rank(), c.Size()
	for bit := 1; bit < size; bit <<= 1 {
		n := 0
		for j := range size {
			if j&bit != 0 {
				n++
			}
		}
		if err := s.swap(c, (rank+bit)%size, n*m, (rank+size-bit)%size, n*m); err != nil {
			return err
		}
	}
	return nil
}
