// Package transport is the measured data plane: TCP sockets as the kernel gives them. Go's net package parks a
// goroutine in the poller for every blocking read, which costs more than the loopback latency itself; so a Conn is a
// blocking descriptor, read and written through system calls on a thread that the caller has locked. The calls are
// those that tell the Go scheduler: a thread blocked in one does not hold up the collector. Send and Recv allocate
// nothing and take no lock.
//
// A Conn is one connection, a Mesh an agent's listener and its connections to the other hosts of one run, a Group one
// rank's view of a team. docs/reference/security.md has what may pass between whom. Measuring needs Linux; elsewhere
// the package has its errors only, of which ErrUnsupported says so.
package transport
