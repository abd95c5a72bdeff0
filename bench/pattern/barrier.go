package pattern

var globalOperations = []Pattern{
	{ID: 7, Operation: "globalop", Algorithm: "p4", Bytes: "of the values of one host", Source: "Stoica, Sultan, Keyes 1994, section 3.2, figure 13",
		Least: 2, Run: globalOperation},
}

var barriers = []Pattern{
	{ID: 11, Operation: "barrier", Algorithm: "dissemination", Bytes: "ignored: messages have 1 byte", Fixed: true,
		Source: "Hensgen, Finkel, Manber 1988", Least: 2, Run: disseminationBarrier},
	{ID: 12, Operation: "barrier", Algorithm: "p4", Bytes: "ignored: messages have 1 byte", Fixed: true,
		Source: "Stoica, Sultan, Keyes 1994, section 3.2: a global operation without values", Least: 2, Run: p4Barrier},
}

// globalOperation: values go up the binary tree, each rank receives its children's and sends its own to its parent;
// then the root sends the result to every rank in turn. The child whose subtree has less to do comes first.
func globalOperation(c Comm, m int, s *Scratch) error {
	i := c.Rank()
	for k := 2*i + 2; k > 2*i; k-- {
		if k >= c.Size() {
			continue
		}
		if err := c.Recv(k, s.In(m)); err != nil {
			return err
		}
	}
	if i > 0 {
		if err := c.Send((i-1)/2, s.Out(m)); err != nil {
			return err
		}
	}
	return rootToEach(c, m, s)
}

func p4Barrier(c Comm, _ int, s *Scratch) error { return globalOperation(c, 1, s) }

// disseminationBarrier: in step k every rank tells the rank 2^k on, and hears from the one 2^k before.
func disseminationBarrier(c Comm, _ int, s *Scratch) error {
	rank, size := c.Rank(), c.Size()
	for by := 1; by < size; by <<= 1 {
		if err := s.swap(c, (rank+by)%size, 1, (rank+size-by)%size, 1); err != nil {
			return err
		}
	}
	return nil
}
